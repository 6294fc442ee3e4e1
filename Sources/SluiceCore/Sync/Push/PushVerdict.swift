/// What an answer to an operation means: the rules of what counts as done.
package enum PushVerdict: Sendable, Hashable {
    /// It is done; the record is the server's, nil where there is none now.
    case done(JSON?)
    /// The server's record shows that a send before has done it, that one where it can be told; others may have changed
    /// the record since.
    case found(JSON, SentBody?)
    /// An earlier revision of the operation is what the server has; this one is still to be sent.
    case earlierRevisionDone(JSON, SentBody)
    /// The server's record is another than the one the change was made on.
    case conflict(server: JSON?, isDeleted: Bool)
    /// The answer proves nothing: the record has to be read back.
    case readBack
    /// The record is gone, if the table itself answers.
    case goneIfTableAnswers
    /// The server refuses it for that reason; it will not do so less the next time. `uncertain`: it says that it has
    /// done something.
    case refused(SluiceError.Code, uncertain: Bool = false)
    /// The server could not do it now. `uncertain`: it may have done it all the same.
    case later(SluiceError.Code, uncertain: Bool)
    /// The server did not look at it, because another request failed on which it depends.
    case skipped
    /// The server does not take the request's id: it is to be sent without.
    case idRefused
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
            if operation.kind == .delete {
                // A web page says nothing of the record, whatever its status.
                return answer.isUnreadable ? .later(.brokenProtocol, uncertain: true) : .done(nil)
            }
            guard let record = answer.record else {
                return planted(.answerWithoutRecordIsDone) ? .done(item.local) : .readBack
            }
            guard columns.id(record) == operation.recordID else {
                return .refused(.brokenProtocol, uncertain: true)
            }
            return isTombstone ? .conflict(server: record, isDeleted: true) : .done(record)
        // From something in between, which has not passed it on: a login page of a network, say.
        case 300..<400: return .later(.brokenProtocol, uncertain: false)
        case 401: return .unauthorized
        case 404, 410:
            switch operation.kind {
            case .delete: return .goneIfTableAnswers
            // The by-id route may hide a deleted row: the list tells.
            case .update: return planted(.notFoundIsDone) ? .done(nil) : .readBack
            case .insert, .undelete: return .refused(.notFound)
            }
        case 409, 412:
            guard let record = answer.record else {
                // A 409 may echo what was sent, so it is no evidence. A 412 without a record stays an error; a request
                // with a condition that something on the way doubled is refused so when it was done already.
                let mayBeDone = operation.kind != .insert
                return answer.status == 409 ? .readBack : .later(.preconditionFailed, uncertain: mayBeDone)
            }
            guard columns.id(record) == operation.recordID else { return .refused(.brokenProtocol) }
            return compare(item, with: record, columns: columns)
        case 424: return .skipped
        case 408, 429, 503: return .later(.serverFailure, uncertain: false)
        case 400..<500 where planted(.refusalIsDone): return .done(item.local)
        case 400..<500: return .refused(SluiceError.Code(status: answer.status) ?? .rejected)
        case 500... where planted(.failureIsDone): return .done(item.local)
        case 500...: return .later(.serverFailure, uncertain: true)
        default: return .refused(.brokenProtocol)
        }
    }

    /// Judges a record that was read back by its id.
    package static func judge(
        _ item: PushItem, readBack record: JSON?, columns: PushColumns, status: Int
    ) -> PushVerdict {
        guard let record else {
            switch item.operation.kind {
            case .delete: return .goneIfTableAnswers
            case .update: return .conflict(server: nil, isDeleted: true)
            // Refused as existing, and not there: what the server says does not fit together.
            case .insert, .undelete:
                let claimsSuccess = status < 300
                return .later(claimsSuccess ? .brokenProtocol : .conflict, uncertain: claimsSuccess)
            }
        }
        if status < 300, item.operation.kind != .undelete, let version = item.base?[columns.version],
            record[columns.version] == version
        {
            // Success was claimed, by a page of something in between perhaps, and nothing has happened yet.
            return .later(.brokenProtocol, uncertain: true)
        }
        return compare(item, with: record, columns: columns)
    }

    /// Holds the server's record against what was sent, newest revision first.
    private static func compare(_ item: PushItem, with record: JSON, columns: PushColumns) -> PushVerdict {
        let operation = item.operation
        if columns.isDeleted(record) {
            if planted(.tombstoneIsDone) { return .done(nil) }
            if operation.kind == .undelete, let version = item.base?[columns.version],
                record[columns.version] == version
            {
                // It is the tombstone that was to be restored: nothing has happened yet.
                return .later(.preconditionFailed, uncertain: false)
            }
            return operation.kind == .delete ? .done(nil) : .conflict(server: record, isDeleted: true)
        }
        if operation.kind == .undelete { return .found(record, nil) }
        guard let sent = Evidence(item, columns: columns).newestSend(shownBy: record) else {
            return .conflict(server: record, isDeleted: false)
        }
        if says(operation, nothingBeyond: sent) { return .found(record, sent) }
        let foreign = ForeignChanges(of: record, since: item.made(by: sent, columns), columns: columns)
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

/// The names of the columns that the wire gives a meaning.
package struct PushColumns: Sendable, Hashable {
    package var id: String
    package var version: String
    package var deleted: String
    /// All names that only the server sets, the id not among them.
    package var system: Set<String>
    /// Whether an update replaces the record: a property that its body does not name is gone then.
    package var replaces: Bool

    package init(id: String, version: String, deleted: String, system: Set<String>, replaces: Bool = false) {
        self.id = id
        self.version = version
        self.deleted = deleted
        self.system = system
        self.replaces = replaces
    }

    func id(_ record: JSON) -> String? { record[id]?.string }
    func isDeleted(_ record: JSON) -> Bool { record[deleted]?.bool == true }

    /// Whether the record has every value that was sent. Null and absent are the same here: servers differ in which
    /// of the two they write.
    func holds(_ record: JSON, _ sent: JSON) -> Bool {
        (sent.members ?? []).allSatisfy { name, value in
            name == id || system.contains(name) || (record[name] ?? .null) == value
        }
    }
}
