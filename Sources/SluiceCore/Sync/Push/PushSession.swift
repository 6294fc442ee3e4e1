/// A push as a pure state machine: events in, effects out. It does no I/O and knows no clock; the driver in
/// ``SyncContext`` carries the effects out and reports back.
///
/// Operations go one after the other. What fails for one operation alone is kept on that operation and the push goes
/// on; it ends early without network, without credentials, when the store fails, when it is cancelled, and when a
/// handler says so.
package struct PushSession: Sendable {
    private enum State {
        case idle
        case loading
        case sending(PushItem)
        case readingBack(PushItem, status: Int)
        case probing(PushItem)
        case deciding(PushItem, Conflict)
        /// Behind the commit: go on, send the same record again, or end.
        case committing(then: Continuation)
        case finished
    }
    private enum Continuation {
        case next(after: Int64)
        case again(before: Int64)
        case finish(SluiceError)
    }

    /// How often one operation may meet a conflict in one push before it is held.
    package static let maximumRounds = 5

    private var state = State.idle
    private let columns: PushColumns
    private var rounds: [String: Int] = [:]
    private var changes: [String: Int] = [:]

    package init(columns: PushColumns) { self.columns = columns }

    /// Takes an event and says what to do next.
    package mutating func handle(_ event: PushEvent) -> PushEffect {
        switch (state, event) {
        case (.idle, .began): return load(after: 0)
        case (.loading, .loaded(nil)): return finish(.completed)
        case (.loading, .loaded(let item?)): return send(item)
        case (.loading, .failed(let error)): return finish(.stopped(error))
        case (.sending, .answered(let item, let answer)):
            return act(on: .judge(item, answer, columns: columns), item, status: answer.status, message: answer.message)
        case (.sending(let item), .changed):
            // Someone edits the record with each attempt, a filter perhaps: the next push may have more luck.
            return Self.count(item, in: &changes) > Self.maximumRounds
                ? load(after: item.operation.sequence) : load(after: item.operation.sequence - 1)
        case (.sending, .unanswered(let item, let error, let wasSent)): return fail(item, error, wasSent: wasSent)
        case (.sending(let item), .failed(let error)): return fail(item, error, wasSent: true)
        case (.readingBack(let item, let status), .readBack(let record)):
            return act(
                on: .judge(item, readBack: record, columns: columns, status: status), item, status: status,
                message: "the server's answer (\(status)) and its record do not fit together")
        case (.readingBack(let item, _), .failed(let error)), (.probing(let item), .failed(let error)):
            return fail(item, error, wasSent: true)
        case (.probing(let item), .probed(let answers)):
            if answers { return commit(.applied(item, server: nil), then: .next(after: item.operation.sequence)) }
            return keep(
                item, .pending, .init(code: "notFound", message: "the server does not know the table", status: 404))
        case (.deciding(let item, let conflict), .decided(let decision)): return settle(item, conflict, decision)
        case (.deciding(let item, let conflict), .failed(let error)):
            if error.code == .cancelled { return hold(item, .pending, conflict, then: .finish(error)) }
            return hold(item, .parked, conflict, error.code, "a conflict handler failed: \(error)")
        case (.committing(.next(let sequence)), .committed): return load(after: sequence)
        case (.committing(.again(let sequence)), .committed): return load(after: sequence - 1)
        case (.committing(.finish(let error)), .committed): return finish(.stopped(error))
        case (.committing, .failed(let error)): return finish(.stopped(error))
        default:
            return finish(.stopped(SluiceError(.brokenProtocol, "the push was told something out of turn")))
        }
    }

    private mutating func load(after sequence: Int64) -> PushEffect {
        state = .loading
        return .load(after: sequence)
    }

    private mutating func finish(_ end: PushEnd) -> PushEffect {
        state = .finished
        return .finish(end)
    }

    private mutating func commit(_ commit: PushCommit, then continuation: Continuation) -> PushEffect {
        state = .committing(then: continuation)
        return .commit(commit)
    }

    private mutating func keep(
        _ item: PushItem, _ kept: TableOperation.State, _ failure: TableOperation.Failure?, uncertain: Bool = false,
        then continuation: Continuation? = nil
    ) -> PushEffect {
        commit(
            .kept(item, kept, failure, uncertain: uncertain),
            then: continuation ?? .next(after: item.operation.sequence))
    }

    private mutating func hold(
        _ item: PushItem, _ kept: TableOperation.State, _ conflict: Conflict, _ code: SluiceError.Code = .conflict,
        _ message: String = "the record was changed on the server too", then continuation: Continuation? = nil
    ) -> PushEffect {
        let failure = TableOperation.Failure(
            code: code.description, message: message, status: conflict.status, serverRecord: conflict.server)
        return commit(
            .held(item, kept, failure, conflict), then: continuation ?? .next(after: item.operation.sequence))
    }

    private mutating func send(_ item: PushItem) -> PushEffect {
        if item.operation.kind == .update, !item.operation.isUncertain, let base = item.base, let local = item.local,
            Rebase.changes(from: base, to: local, system: columns.system) == .object
        {
            return commit(.unneeded(item), then: .next(after: item.operation.sequence))
        }
        state = .sending(item)
        return .send(item)
    }

    private mutating func fail(_ item: PushItem, _ error: SluiceError, wasSent: Bool) -> PushEffect {
        let failure = TableOperation.Failure(error)
        return keep(
            item, .pending, failure, uncertain: wasSent, then: error.isEndOfPush ? .finish(error) : nil)
    }

    private mutating func act(
        on verdict: PushVerdict, _ item: PushItem, status: Int, message: String
    ) -> PushEffect {
        let operation = item.operation
        func failure(_ code: SluiceError.Code) -> TableOperation.Failure {
            .init(code: code.description, message: message, status: status)
        }
        switch verdict {
        case .done(let record):
            return commit(.applied(item, server: record), then: .next(after: operation.sequence))
        case .earlierRevisionDone(let record, let sent):
            return Self.count(item, in: &rounds) > Self.maximumRounds
                ? keep(item, .parked, failure(.conflict))
                : commit(.rebased(item, server: record, sent: sent), then: .again(before: operation.sequence))
        case .conflict(let server, let isDeleted):
            let conflict = Conflict(
                operation: operation, client: item.local, server: server, base: item.base,
                maybeApplied: operation.isUncertain || status < 300, status: status, isDeletedOnServer: isDeleted)
            if Self.count(item, in: &rounds) > Self.maximumRounds {
                let text = "the conflict came back \(Self.maximumRounds) times in one push"
                return hold(item, .parked, conflict, .conflict, text)
            }
            if operation.kind == .insert, isDeleted, !conflict.maybeApplied {
                // Deleted before it was made here, by this device perhaps: nobody has touched this record since.
                return settle(item, conflict, .client)
            }
            state = .deciding(item, conflict)
            return .decide(conflict)
        case .readBack:
            state = .readingBack(item, status: status)
            return .readBack(table: operation.table, recordID: operation.recordID)
        case .goneIfTableAnswers:
            state = .probing(item)
            return .probe(table: operation.table)
        case .refused(let code, let uncertain): return keep(item, .parked, failure(code), uncertain: uncertain)
        case .later(let code, let uncertain): return keep(item, .pending, failure(code), uncertain: uncertain)
        case .unauthorized:
            let error = SluiceError(
                .unauthorized, message, table: operation.table, recordID: operation.recordID,
                operationID: operation.id, status: status)
            return keep(item, .pending, failure(.unauthorized), then: .finish(error))
        }
    }

    /// Counts a round of the operation.
    private static func count(_ item: PushItem, in rounds: inout [String: Int]) -> Int {
        rounds[item.operation.id, default: 0] += 1
        return rounds[item.operation.id, default: 0]
    }

    private mutating func settle(
        _ item: PushItem, _ conflict: Conflict, _ decision: ConflictDecision
    ) -> PushEffect {
        switch decision {
        case .defer: return hold(item, .pending, conflict)
        case .ask, .next: return hold(item, .parked, conflict)
        case .abort:
            let error = SluiceError(
                .aborted, "a conflict handler ended the push", table: conflict.table, recordID: conflict.recordID,
                operationID: item.operation.id, status: conflict.status)
            return hold(item, .parked, conflict, then: .finish(error))
        case .server, .discard, .client, .merge, .delete:
            // Where the decision leaves something to be said, it keeps the operation's place.
            return commit(.decided(item, conflict, decision), then: .again(before: item.operation.sequence))
        }
    }
}

extension SluiceError {
    /// Whether a push that meets this error cannot go on with other operations either.
    fileprivate var isEndOfPush: Bool { code.isNetwork || code.isStore || code == .cancelled || code == .unauthorized }
}
