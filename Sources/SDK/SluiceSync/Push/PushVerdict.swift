internal import SluiceBase
internal import SluiceWire

/// What an answer to an operation means: the rules of what counts as done.
enum PushVerdict: Sendable, Hashable {
    /// It is done; the record is the server's, nil where there is none now.
    case done(JSON?)
    /// The server's record shows that an earlier send took effect: the one that is named, if that is known. Others
    /// may have changed the record since.
    case found(JSON, SentBody?)
    /// An earlier revision of the operation is what the server has; this one is still to be sent.
    case earlierRevisionDone(JSON, SentBody)
    /// The server's record is another than the one the change was made on.
    case conflict(server: JSON?, isDeleted: Bool)
    /// That depends on whether this revision, of unknown outcome, was done: the server remembers requests, and can tell.
    case ask(JSON, about: SentBody)
    /// The answer proves nothing: the record has to be read back.
    case readBack
    /// The server has no such record any more.
    case gone
    /// The server refuses it for that reason, and would refuse a repeat as well. `uncertain`: the answer claims that
    /// something was done.
    case refused(SluiceError.Code, uncertain: Bool = false)
    /// The server could not do it now. `uncertain`: it may have done it all the same.
    case later(SluiceError.Code, uncertain: Bool)
    /// The server did not look at it, because another request failed on which it depends.
    case skipped
    /// The server does not take the request's id: it is to be sent without.
    case idRefused
    /// The server remembers an earlier send, and what that has made is gone: it is to be sent under another id.
    case renew
    /// The push ends: the credentials are not good.
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
                return .refused(.brokenProtocol, uncertain: true)
            }
            // The record as it was, or the request's own body: something on the way has answered, and done nothing.
            if item.isOld(record, columns) { return .readBack }
            // The key in it is new, and can be read by no other id.
            if item.recordID != operation.recordID {
                return .done(item.completing(record, by: operation.sentAsIs, columns))
            }
            // Under a version that nobody has seen, and with nothing of what was sent: it may be another's.
            if !isTombstone, item.isUntaken(record, columns) { return .readBack }
            return isTombstone
                ? .conflict(server: record, isDeleted: true)
                : .done(item.completing(record, by: operation.sentAsIs, columns))
        // From something in between, which has not passed it on: a login page of a network, say.
        case 300..<400: return .later(.brokenProtocol, uncertain: false)
        case 401: return .unauthorized
        case 404, 410:
            switch operation.kind {
            // The by-id route may hide a deleted row, or a live one: the list shows it.
            case .update, .delete: return .readBack
            case .insert, .undelete: return .refused(.notFound)
            }
        case 409, 412:
            guard let record = answer.record else {
                // A 409 may echo what was sent, so it is no evidence. A 412 without a record stays an error: where a
                // proxy has sent a request with a condition twice, the second is refused although the first took
                // effect.
                let mayBeDone = operation.kind != .insert
                return answer.status == 409 ? .readBack : .later(.preconditionFailed, uncertain: mayBeDone)
            }
            guard columns.id(record)?.isSame(as: operation.recordID) ?? false else { return .refused(.brokenProtocol) }
            // A record that still has the condition's version does not show why the server refused.
            let mayBeUnmoved = operation.kind == .delete ? !isTombstone : operation.kind != .undelete
            if mayBeUnmoved, item.isUnmoved(record, columns) { return .readBack }
            return item.completing(
                compare(item, with: record, columns: columns, isRefusal: true, remembers: answer.remembersRequests),
                columns)
        case 424: return .skipped
        case let status where AnswerStatus.showsNothingDone(status):
            return .later(.serverFailure, uncertain: false)
        case 400..<500: return .refused(SluiceError.Code(status: answer.status) ?? .rejected)
        case 500...: return .later(.serverFailure, uncertain: true)
        default: return .refused(.brokenProtocol)
        }
    }

    /// Judges a record that was read back by its id.
    ///
    /// - Parameters:
    ///   - claim: the record that the answer had.
    ///   - remembers: whether the server remembers requests.
    package static func judge(
        _ item: PushItem, readBack record: JSON?, columns: PushColumns, status: Int, claim: JSON? = nil,
        remembers: Bool = false
    ) -> PushVerdict {
        if status == 409, isOtherReason(item, record, columns) { return .refused(.rejected) }
        guard let record else {
            switch item.operation.kind {
            // The list was answered, so the table is there.
            case .delete: return .gone
            case .update: return .conflict(server: nil, isDeleted: true)
            // Refused as existing, and not there: the server's answers contradict each other.
            case .insert, .undelete:
                let claimsSuccess = status < 300
                // A service may answer a repeat from memory, and others have deleted the row since: it is made anew.
                let mayBeRemembered = item.operation.isUncertain && item.operation.sentAsIs?.isIdentified == true
                let isFromMemory = claimsSuccess && remembers || status == 204 && columns.takesNoContent
                if isFromMemory, mayBeRemembered { return .renew }
                return .later(claimsSuccess ? .brokenProtocol : .conflict, uncertain: claimsSuccess)
            }
        }
        // The answer and the row agree: the server makes another value of all that it is sent, or of a column of its own.
        if status < 300, item.operation.kind != .delete, let claim, !item.isOld(claim, columns),
            claim[columns.version] == record[columns.version], !columns.isDeleted(record)
        {
            return .done(item.completing(record, by: item.operation.sentAsIs, columns))
        }
        let verdict = compare(
            item, with: record, columns: columns, isRefusal: status >= 300, remembers: remembers)
        // A service that answers with nothing has its word taken as well, though others may have changed the record since.
        if status == 204, columns.takesNoContent, case .conflict(_, isDeleted: false) = verdict,
            item.operation.kind != .delete, !item.isOld(record, columns), !item.isUntaken(record, columns)
        {
            return .found(record, item.operation.sentAsIs)
        }
        guard item.isUnmoved(record, columns), item.operation.kind != .undelete, !columns.isDeleted(record) else {
            return verdict
        }
        // A server whose versions do not move with each change has the values all the same.
        if case .found = verdict { return verdict }
        // Success was claimed, by a page of something in between perhaps, and nothing has happened yet.
        if status < 300 { return .later(.brokenProtocol, uncertain: true) }
        // Said to be gone, and listed.
        if item.operation.kind == .delete, status == 404 || status == 410 {
            return .later(.notFound, uncertain: false)
        }
        return verdict
    }

    /// Whether a conflict that the server reports is none with the record: it is not there, or as the change found it.
    /// The reason is another then, such as another property that has to be unique. After a send of unknown outcome the
    /// list may be older than the change.
    private static func isOtherReason(_ item: PushItem, _ record: JSON?, _ columns: PushColumns) -> Bool {
        guard !item.operation.isUncertain else { return false }
        guard let record else { return item.operation.kind == .insert }
        return item.operation.kind != .insert && item.isUnmoved(record, columns)
            && columns.isDeleted(record) == (item.operation.kind == .undelete)
    }

    /// Judges a good answer to a delete. Most servers answer 204, some with the record, marked as deleted; anything else, a
    /// web page, an error under a good status or a body that was lost on the way, shows nothing of the record.
    private static func judge(
        deleteOf item: PushItem, _ answer: PushAnswer, columns: PushColumns
    ) -> PushVerdict {
        if answer.isEmpty, answer.status == 204 { return .done(nil) }
        guard let record = answer.record, columns.isDeleted(record),
            columns.id(record)?.isSame(as: item.operation.recordID) ?? false
        else { return .readBack }
        return .done(nil)
    }

    /// Holds the server's record against what was sent, newest revision first.
    ///
    /// - Parameters:
    ///   - isRefusal: whether the server reports that it has not done what was sent last.
    ///   - remembers: whether the server remembers requests.
    static func compare(
        _ item: PushItem, with record: JSON, columns: PushColumns, isRefusal: Bool, remembers: Bool
    ) -> PushVerdict {
        let operation = item.operation
        if columns.isDeleted(record) {
            if operation.kind == .undelete, let version = item.base?[columns.version],
                record[columns.version] == version
            {
                // It is the tombstone that was to be restored: nothing has happened yet.
                return .later(.preconditionFailed, uncertain: false)
            }
            return operation.kind == .delete ? .done(nil) : .conflict(server: record, isDeleted: true)
        }
        if operation.kind == .undelete { return .found(record, nil) }
        guard let sent = SentRevisionEvidence(item, columns: columns).newestSend(shownBy: record) else {
            return .conflict(server: record, isDeleted: false)
        }
        if says(operation, nothingBeyond: sent) { return .found(record, sent) }
        // If a later revision has been there too, somebody has set the record back since: the values alone do not show
        // whether they are ours.
        let mayBePast = operation.sent.contains { later in
            later.revision > sent.revision
                && (later.mayBeDone || (later.revision == operation.revision && !isRefusal))
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

    /// Whether the operation's last revision is no later edit than that one: it was sealed anew only because a filter
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

    /// The newest send whose effect the record shows, or nil.
    func newestSend(shownBy record: JSON) -> SentBody? {
        item.operation.sent.reversed().first { shows(record, $0) }
    }

    private func shows(_ record: JSON, _ sent: SentBody) -> Bool {
        // A body that a filter dropped or encoded names nothing that could be found again.
        guard sent.final.kind == .object, columns.holds(record, changes(by: sent, shownBy: record), item.forms) else {
            return false
        }
        let others: Set<PropertyName>
        if item.operation.kind == .delete {
            // A delete may only follow on a record that is exactly what an edit before it sent, and no one else's.
            guard sent.revision < item.operation.revision else { return false }
            others = Set(record.names).union(item.base?.names ?? [])
        } else {
            // What only an earlier body named was taken back by this one, which then names it no more.
            others = Set(
                item.operation.sent.filter { $0.revision < sent.revision }.flatMap { $0.final.names })
        }
        return others.allSatisfy { name in
            name == columns.id || columns.system.contains(name) || sent.final[name] != nil
                || (record[name] ?? .null) == (item.base?[name] ?? .null)
                || columns.replaces && (record[name] ?? .null) == .null
        }
    }

    /// What the send was to change: where a record goes out whole, the rest of it is only repeated, and a server may keep
    /// some of that itself, such as who was the last to write. What was taken out it may have set again by itself, to
    /// another value than before.
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
