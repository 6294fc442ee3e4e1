internal import SluiceBase
internal import SluiceWire

/// The verdict on an answer to an operation, with the rules for counting it as applied.
enum PushVerdict: Sendable, Hashable {
    /// It is applied; the record is the server's, nil if there is none now.
    case done(JSON?)
    /// The server's record shows that an earlier send took effect: the given one, if known. Others may have changed the
    /// record since.
    case found(JSON, SentBody?)
    /// The server has an earlier revision of the operation; this one is still to be sent.
    case earlierRevisionDone(JSON, SentBody)
    /// The server's record differs from the base of the change.
    case conflict(server: JSON?, isDeleted: Bool)
    /// The verdict depends on a revision of unknown outcome: the server remembers requests, and can tell.
    case ask(JSON, about: SentBody)
    /// The answer proves nothing: the record has to be read back.
    case readBack
    /// The server no longer has the record.
    case gone
    /// The server refuses it for that reason, and would refuse a repeat as well. `uncertain`: the answer claims that a
    /// change was made.
    case refused(SluiceError.Code, uncertain: Bool = false)
    /// The server could not apply it now. `uncertain`: it may have been applied nevertheless.
    case later(SluiceError.Code, uncertain: Bool)
    /// The server did not process it, because a request that it depends on failed. `uncertain`: it may have been
    /// applied nevertheless.
    case skipped(uncertain: Bool)
    /// The server refuses the request's id: it is to be sent without one.
    case idRefused
    /// The server remembers an earlier send, and the record made by it is gone: it is to be sent under another id.
    case renew
    /// The push ends: the credentials are not valid.
    case unauthorized

    /// Judges an answer.
    package static func judge(
        _ item: PushItem, _ answer: PushAnswer, columns: PushColumns
    ) -> PushVerdict {
        let operation = item.operation
        if answer.isIDRefused { return .idRefused }
        let isTombstone = answer.record.map(columns.isDeleted) ?? false
        switch answer.status {
        case 200..<300:
            if operation.kind == .delete { return judge(deleteOf: item, answer, columns: columns) }
            guard let record = answer.record else { return .readBack }
            guard columns.id(record)?.isSame(as: item.recordID) ?? false else {
                return .refused(operation.kind == .insert ? .maybeApplied : .brokenProtocol, uncertain: true)
            }
            // The old record, or the request's own body: a proxy has answered, and nothing was applied.
            if item.isOld(record, columns) { return .readBack }
            // The record has a new key, and cannot be read under another id.
            if item.recordID != operation.recordID {
                return .done(item.completing(record, by: operation.sentAsIs, columns))
            }
            // An unknown version without any of the sent values: it may be another user's change.
            if !isTombstone, item.isUntaken(record, columns) { return .readBack }
            return isTombstone
                ? .conflict(server: record, isDeleted: true)
                : .done(item.completing(record, by: operation.sentAsIs, columns))
        // From a gateway that has not forwarded the request, for example a network's login page.
        case 300..<400: return .later(.brokenProtocol, uncertain: false)
        case 401: return .unauthorized
        case 404, 410:
            switch operation.kind {
            // The by-id route may hide a deleted row, or a live one; the list shows it.
            case .update, .delete: return .readBack
            case .insert, .undelete: return .refused(.notFound)
            }
        case 409, 412:
            guard let record = answer.record else {
                // It may echo the request, or be of a gateway: the record itself shows whether it has changed.
                return .readBack
            }
            guard columns.id(record)?.isSame(as: operation.recordID) ?? false else {
                // Another record has a value that must be unique.
                return .refused(answer.status == 409 ? .rejected : .brokenProtocol)
            }
            // A record that still has the condition's version does not show why the server refused.
            let mayBeUnmoved = operation.kind == .delete ? !isTombstone : operation.kind != .undelete
            if mayBeUnmoved, item.isUnmoved(record, columns) { return .readBack }
            // A part of the record, or one without a removed value: the record itself shows which.
            if !isTombstone, item.isPart(record, columns) { return .readBack }
            return item.completing(
                compare(item, with: record, columns: columns, isRefusal: true, remembers: answer.remembersRequests),
                columns)
        case 424: return .skipped(uncertain: answer.mayBeSent)
        case let status where AnswerStatus.showsNothingDone(status):
            return .later(.serverFailure, uncertain: false)
        case 400..<500:
            let code = SluiceError.Code(status: answer.status) ?? .rejected
            // A server may check the values before the condition: made on an older record, they may be what it refuses.
            if code == .rejected, operation.kind == .update, item.isMadeOnOlder(columns) { return .readBack }
            return .refused(code)
        case 500...:
            // Only a wire that has read the row gives it with a failure.
            guard let record = answer.record, columns.id(record)?.isSame(as: operation.recordID) ?? false else {
                return .later(.serverFailure, uncertain: true)
            }
            return judge(
                item, readBack: record, columns: columns, status: answer.status, remembers: answer.remembersRequests)
        default: return .refused(.brokenProtocol)
        }
    }

    /// Judges a record read back by its id.
    ///
    /// - Parameters:
    ///   - claim: the record in the answer, or its version alone.
    ///   - created: the id of the created record by the answer.
    ///   - remembers: whether the server remembers requests.
    package static func judge(
        _ item: PushItem, readBack record: JSON?, columns: PushColumns, status: Int, claim: JSON? = nil,
        created: RecordID? = nil, remembers: Bool = false
    ) -> PushVerdict {
        if status == 409, isOtherReason(item, record, columns) { return .refused(.rejected) }
        if SluiceError.Code(status: status) == .rejected, let record, item.isUnmoved(record, columns) {
            return .refused(.rejected)
        }
        guard let record else {
            if let verdict = judge(item, claim: claim, columns: columns, status: status, remembers: remembers) {
                return verdict
            }
            switch item.operation.kind {
            // The list was answered, so the table exists.
            // Refused for the record's version, and missing: a copy that lags may not have it yet.
            case .delete where item.isYoung && (status == 412 || status == 409):
                return .later(.preconditionFailed, uncertain: true)
            case .delete: return .gone
            // Done, and hidden from the user by the change or deleted since; or in no copy yet, and a later pull brings it.
            case .update where status == 204 && columns.takesNoContent: return .gone
            case .update: return .conflict(server: nil, isDeleted: true)
            // Refused as existing, but missing: the server's answers contradict each other.
            case .insert, .undelete:
                let claimsSuccess = status < 300
                // A service may answer a repeat from memory after others have deleted the row: it is created again.
                let mayBeRemembered = item.operation.isUncertain && item.operation.sentAsIs?.isIdentified == true
                let isFromMemory = claimsSuccess && remembers || status == 204 && columns.takesNoContent
                if isFromMemory, mayBeRemembered { return .renew }
                // The server gives records ids of its own: each repeat would create another one.
                if let created, !created.isSame(as: item.recordID) { return .refused(.maybeApplied, uncertain: true) }
                if status == 412 { return .later(.preconditionFailed, uncertain: false) }
                return .later(claimsSuccess ? .brokenProtocol : .conflict, uncertain: claimsSuccess)
            }
        }
        // Refused for the record's version, and listed as deleted: it may exist again, and a copy may lag.
        if item.operation.kind == .delete, item.mayMeetLag, status == 412 || status == 409, columns.isDeleted(record),
            claim?[columns.version] != record[columns.version]
        {
            return .later(.preconditionFailed, uncertain: true)
        }
        // The answer and the row agree: the server converts the sent values, or sets a column itself.
        if status < 300, item.operation.kind != .delete, let claim, !item.isOld(claim, columns),
            claim[columns.version] == record[columns.version], !columns.isDeleted(record)
        {
            return .done(item.completing(record, by: item.operation.sentAsIs, columns))
        }
        let verdict = compare(
            item, with: record, columns: columns, isRefusal: AnswerStatus.isRefusal(status), remembers: remembers)
        // An answer without content is trusted too, although others may have changed the record since.
        if status == 201 || status == 204, case .conflict(_, isDeleted: false) = verdict,
            item.operation.kind != .delete, !item.isOld(record, columns), item.isTaken(in: record, columns)
        {
            return .found(record, item.operation.sentAsIs)
        }
        // A repeat is acknowledged too, and the server makes of the values what the record had: it may convert them.
        if status < 300, item.operation.isRepeated, case .conflict(_, isDeleted: false) = verdict,
            item.isMadeAgain(record, columns)
        {
            return .found(record, item.operation.sentAsIs)
        }
        guard item.isUnmoved(record, columns), item.operation.kind != .undelete, !columns.isDeleted(record) else {
            return verdict
        }
        // Some servers do not change the version with each change, but the values prove it.
        // The values of an edit back to the base prove nothing beside a refusal of the base's version: a copy lags.
        if case .found = verdict {
            let isShown = item.operation.sent.contains { item.mayHaveLeft(record, by: $0, columns) }
            let isRefused = item.operation.kind == .update && (status == 409 || status == 412)
            return isRefused && !isShown ? .later(.preconditionFailed, uncertain: false) : verdict
        }
        // The server says it once more, and what it writes of the change is what the record had.
        if status < 300, item.operation.isRepeated, let claim, item.isWritten(in: record, columns) {
            // A copy that lags may have answered the read.
            let isNewer = columns.id(claim) != nil && !item.isOld(claim, columns)
            return .found(isNewer ? claim : record, item.operation.sentAsIs)
        }
        // The answer claimed success, perhaps as a gateway's page, but nothing has happened yet.
        if status < 300 { return .later(.brokenProtocol, uncertain: true) }
        // Reported as gone, but listed: perhaps by a replica that has not received the delete yet.
        if status == 404 || status == 410 {
            return .later(.notFound, uncertain: item.operation.kind == .delete)
        }
        // Refused for a version that the record still has: perhaps a copy of the server's data lags.
        if status == 412, claim == nil { return .later(.preconditionFailed, uncertain: true) }
        return verdict
    }

    /// Judges a refusal by the record in it, where nothing else shows that record.
    ///
    /// - Returns: nil if the refusal has no record, or none that is newer than the change.
    static func judge(
        _ item: PushItem, claim: JSON?, columns: PushColumns, status: Int, remembers: Bool
    ) -> PushVerdict? {
        guard let claim, status == 409 || status == 412, !columns.isDeleted(claim), !item.isOld(claim, columns),
            columns.id(claim)?.isSame(as: item.operation.recordID) ?? false
        else { return nil }
        let verdict = compare(item, with: claim, columns: columns, isRefusal: true, remembers: remembers)
        return item.completing(verdict, columns)
    }

    /// Whether a reported conflict has another reason than the record, because the record is missing or unchanged. The
    /// reason may be another property that must be unique. After a send of unknown outcome this proves nothing, because
    /// the list may be older than the change.
    private static func isOtherReason(_ item: PushItem, _ record: JSON?, _ columns: PushColumns) -> Bool {
        guard !item.operation.isUncertain else { return false }
        guard let record else { return item.operation.kind == .insert }
        return item.operation.kind != .insert && item.isUnmoved(record, columns)
            && columns.isDeleted(record) == (item.operation.kind == .undelete)
    }

    /// Judges a successful answer to a delete. Most servers answer 204, some with the record marked as deleted. Any
    /// other answer, such as a web page, an error under a success status or a lost body, proves nothing about the
    /// record.
    private static func judge(
        deleteOf item: PushItem, _ answer: PushAnswer, columns: PushColumns
    ) -> PushVerdict {
        if answer.isEmpty, answer.status == 204 { return .done(nil) }
        guard let record = answer.record, columns.isDeleted(record),
            columns.id(record)?.isSame(as: item.operation.recordID) ?? false
        else { return .readBack }
        return .done(nil)
    }

    /// Compares the server's record with the sent revisions, newest first.
    ///
    /// - Parameters:
    ///   - isRefusal: whether the server reports that the last send was not applied.
    ///   - remembers: whether the server remembers requests.
    static func compare(
        _ item: PushItem, with record: JSON, columns: PushColumns, isRefusal: Bool, remembers: Bool
    ) -> PushVerdict {
        let operation = item.operation
        if columns.isDeleted(record) {
            if operation.kind == .undelete, let version = item.base?[columns.version],
                record[columns.version] == version
            {
                // It is the tombstone to restore: nothing has happened yet.
                return .later(.preconditionFailed, uncertain: false)
            }
            return operation.kind == .delete ? .done(nil) : .conflict(server: record, isDeleted: true)
        }
        if operation.kind == .undelete { return .found(record, nil) }
        guard let sent = SentRevisionEvidence(item, columns: columns).newestSend(shownBy: record) else {
            return .conflict(server: record, isDeleted: false)
        }
        if says(operation, nothingBeyond: sent) { return .found(record, sent) }
        // A record that an earlier revision has made is made by no later one.
        let isInsert = operation.kind == .insert
        // If a later revision was applied too, the record has been set back since: the values alone do not show their
        // author.
        let mayBePast = operation.sent.contains { later in
            later.revision > sent.revision
                && (later.mayBeDone || (later.revision == operation.revision && !isRefusal && !isInsert))
        }
        if mayBePast {
            guard remembers, isRefusal, let later = operation.sent.last(where: \.mayBeDone), item.mayAsk(later, columns)
            else { return .conflict(server: record, isDeleted: false) }
            return .ask(record, about: later)
        }
        let foreign = ForeignChanges(
            of: record, since: item.made(by: sent, columns), base: item.base, isNew: operation.kind == .insert,
            in: operation.table,
            columns: columns)
        if operation.kind != .delete, foreign.collide(withEditFrom: sent.local, to: item.local) {
            return .conflict(server: record, isDeleted: false)
        }
        return .earlierRevisionDone(record, sent)
    }

    /// Whether the operation's last revision is the same edit as that send: it was sealed again only because a filter
    /// made another body of it.
    private static func says(_ operation: TableOperation, nothingBeyond sent: SentBody) -> Bool {
        guard sent.revision != operation.revision else { return true }
        let last = operation.sent.last { $0.revision == operation.revision }
        return last?.request == sent.request && last?.local == sent.local
    }
}

/// Decides whether the server's record shows the effect of a send whose answer is unknown.
struct SentRevisionEvidence {
    private let item: PushItem
    private let columns: PushColumns

    package init(_ item: PushItem, columns: PushColumns) {
        self.item = item
        self.columns = columns
    }

    /// Returns the newest send whose effect the record shows, or nil. An earlier revision that the server certainly refused
    /// has none.
    func newestSend(shownBy record: JSON) -> SentBody? {
        let possible = item.operation.sent.filter { $0.mayBeDone || $0.revision == item.operation.revision }
        return possible.last { shows(record, $0) }
    }

    private func shows(_ record: JSON, _ sent: SentBody) -> Bool {
        // A body that a filter dropped or encoded has no properties to look for.
        guard sent.final.kind == .object, columns.holds(record, changes(by: sent, shownBy: record), item.forms) else {
            return false
        }
        let others: Set<PropertyName>
        if item.operation.kind == .delete {
            // A delete may only follow if the record is exactly the one sent by an earlier edit, without other users'
            // changes.
            guard sent.revision < item.operation.revision else { return false }
            others = Set(record.names).union(item.base?.names ?? [])
        } else {
            // A property that only an earlier body has was taken back by this one.
            others = Set(
                item.operation.sent.filter { $0.revision < sent.revision }.flatMap { $0.final.names })
        }
        return others.allSatisfy { name in
            name == columns.id || columns.system.contains(name) || sent.final[name] != nil
                || (record[name] ?? .null) == (item.base?[name] ?? .null)
                || columns.replaces && (record[name] ?? .null) == .null
        }
    }

    /// Returns the intended changes of the send. If a record is sent whole, the rest of it is only repeated, and a
    /// server may set some of that itself, such as the last author. A removed property may also have been set again by
    /// the server, to another value than before.
    private func changes(by sent: SentBody, shownBy record: JSON) -> JSON {
        guard item.operation.kind == .update, let base = item.base else { return sent.final }
        let own = columns.system.union([columns.id])
        let changes = columns.replaces ? Rebase.changes(from: base, to: sent.final, system: own) : sent.final
        if changes == .object { return sent.final }
        func isWritten(_ name: PropertyName) -> Bool { !(sent.final[name] ?? .null).isNull && !own.contains(name) }
        let shown = (changes.members ?? []).filter { name, _ in
            isWritten(name) || (record[name] ?? .null) == (base[name] ?? .null)
        }
        return shown.contains { isWritten($0.name) } ? JSON(members: shown.map { ($0.name, $0.value) }) : changes
    }
}
