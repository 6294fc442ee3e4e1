internal import SluiceBase

/// One operation of a push as a pure state machine: events in, effects out.
///
/// A failure of this operation alone is kept on it; a failure that would affect every operation ends the push. A
/// decided conflict, or evidence of an earlier revision, ends with ``Outcome/again``: the operation is then read and
/// sent again, and the rounds are counted.
struct OperationSession: Sendable {
    /// The input of an operation's session.
    package indirect enum Event: Sendable {
        /// The operation, as it is stored now.
        case loaded(PushItem)
        /// It cannot be sent now.
        case notLoaded(Absence)
        /// The hooks decided about the operation before it is sent.
        case reviewed(PushItem, HookVerdict<BeforePushDecision>)
        /// The hooks decided about the operation's failure.
        case consulted(HookVerdict<PushErrorDecision>)
        /// The record was edited before the operation was sealed; nothing was sent.
        case changed
        /// The server answered the operation; `item` is as last sealed.
        case answered(PushItem, PushAnswer)
        /// The operation was not answered; `item` is as last sealed. `wasSent` tells whether a request may have reached
        /// the server.
        case unanswered(PushItem, SluiceError, wasSent: Bool)
        /// The server's current record, read by its id; nil if there is none, not even a deleted one. `by` names the
        /// plugins that made or rewrote the answer. `mayLag`: the operation was first sent so
        /// short a time ago that a copy may not have what it met.
        case readBack(JSON?, by: [String] = [], mayLag: Bool = false)
        /// The server answered the repeat of an earlier revision; nil where an identical repeat is not possible.
        case asked(PushAnswer?)
        /// The handlers decided.
        /// - Parameter addsUp: whether a handler decided that is asked about equal edits.
        case decided(ConflictDecision, addsUp: Bool = false)
        /// The commit is done, or was not needed because the operation was changed or discarded since.
        case committed
        /// Nothing is committed: the answer may be older than the newest record known here.
        case doubted(newest: JSON?)
        /// A request that only reads, a handler or the store failed.
        case failed(SluiceError)
    }

    /// The reason why an operation cannot be sent now.
    enum Absence: Sendable, Hashable {
        /// It has left the queue, or has another place in it.
        case gone
        /// It is held, or waits for its time or for an operation before it, perhaps since this push began.
        case held
    }

    /// The output of an operation's session: an action for its driver.
    indirect enum Effect: Sendable {
        /// Ask the hooks whether to send the operation.
        case review(PushItem)
        /// Ask the hooks about the operation's failure.
        case consult(PushResult.Failure)
        /// Seal and send the operation.
        case send(PushItem)
        /// Read the operation's record by its id, deleted ones included.
        case readBack(PushItem)
        /// Repeat an earlier revision, to get its outcome from the server's memory.
        case ask(PushItem, SentBody)
        /// Ask the conflict handlers, then the policy.
        case decide(Conflict)
        /// Write this, in one transaction.
        case commit(PushCommit)
        /// End the session: the operation is finished for now.
        case end(Outcome)
    }

    /// The outcome of a session for its operation.
    package enum Outcome: Sendable {
        /// It has left the queue.
        case done
        /// It has to be read and sent again.
        case again
        /// The server did not process it, because another part of its batch failed. It waits.
        case skipped
        /// It stays in the queue, and its dependents have to wait.
        case kept
        /// It stays in the queue, and the push cannot go on.
        case stopped(SluiceError)
    }

    indirect enum State {
        case loading
        case reviewing(PushItem)
        case consulting(Kept)
        /// A hook's commit is tried; if the queue does not allow it, the other commit is made.
        case attempting(PushItem, or: PushCommit, then: Outcome)
        case sending(PushItem)
        case readingBack(PushItem, PushAnswer)
        /// The record, and the answer that led to it.
        case asking(PushItem, JSON, SentBody, PushAnswer)
        case deciding(PushItem, Conflict)
        case applying(PushItem, server: JSON)
        case confirming(PushItem, server: JSON, doubted: JSON?)
        case committing(then: Outcome)
        case ended
    }

    /// The number of conflicts that one operation may meet in one push before it is held.
    package static let maximumRounds = 5

    var state = State.loading
    private let columns: PushColumns
    var rounds = 0
    var changes = 0
    /// The last conflict's merged record, and the server's version at the time.
    private var lastMerge: (record: JSON, version: JSON?)?

    package init(columns: PushColumns) { self.columns = columns }

    /// Prepares the session for reading the operation again.
    mutating func restart() { state = .loading }

    /// Handles an event and returns the next effect.
    package mutating func handle(_ event: Event) -> Effect {
        switch (state, event) {
        case (.loading, .loaded(let item)): return begin(item)
        case (.loading, .notLoaded(.gone)): return end(.done)
        case (.loading, .notLoaded(.held)): return end(.kept)
        case (.loading, .failed(let error)): return end(.stopped(error))
        case (.reviewing, .reviewed(let item, let answer)): return take(answer, item)
        case (.reviewing(let item), .failed(let error)): return postpone(item, by: error)
        case (.consulting(let kept), .consulted(let answer)): return take(answer, kept)
        case (.consulting(let kept), .failed(let error)): return keep(kept, beside: error)
        case (.attempting(_, _, .stopped(let error)), .committed): return end(.stopped(error))
        case (.attempting, .committed): return end(.again)
        case (.attempting(let item, let commit, let outcome), .failed(let error)):
            return giveUpAttempt(item, commit, outcome, error)
        case (.sending, .answered(var item, let answer)):
            item.dropped = item.dropped(
                by: answer.status, showing: answer.record, columns.judging(item.operation.table))
            return act(
                on: .judge(item, answer, columns: columns.judging(item.operation.table)), item, answer: answer)
        case (.sending, .changed):
            changes += 1
            // The record is edited during each attempt, perhaps by a filter: the next push may succeed.
            return end(changes > Self.maximumRounds ? .kept : .again)
        case (.sending, .unanswered(let item, let error, let wasSent)): return fail(item, error, wasSent: wasSent)
        case (.sending(let item), .failed(let error)): return fail(item, error, wasSent: true)
        case (.readingBack(var item, let answer), .readBack(let record, let plugins, let mayLag)):
            item.mayMeetLag = mayLag
            item.answeredBy += plugins
            // After a success without a body the record shows what was kept.
            if answer.record == nil, let record {
                item.dropped = item.dropped(
                    by: answer.status, showing: record, columns.judging(item.operation.table))
            }
            return act(
                on: .judge(
                    item, readBack: record, columns: columns.judging(item.operation.table), status: answer.status,
                    claim: answer.record ?? answer.tag.map { JSON(members: [(columns.version, JSON($0))]) },
                    created: answer.created, remembers: answer.remembersRequests), item,
                answer: answer, isReadBack: true)
        case (.readingBack(let item, let answer), .failed(let error))
        where error.code == .notFound && answer.status >= 400:
            return keep(
                item, .pending, .init(code: "notFound", message: "the server does not know the table", status: 404))
        case (.readingBack(let item, let answer), .failed(let error)):
            let verdict = PushVerdict.judge(
                item, claim: answer.record, columns: columns.judging(item.operation.table), status: answer.status,
                remembers: answer.remembersRequests)
            guard let verdict, !error.isEndOfPush, !error.mayPass else {
                // A change may be judged by the record before it is sent for the first time.
                return fail(item, error, wasSent: item.operation.sentAsIs != nil)
            }
            return act(on: verdict, item, answer: answer)
        case (.asking(let item, _, _, _), .failed(let error)): return fail(item, error, wasSent: true)
        case (.asking(let item, let record, let sent, let first), .asked(let answer)):
            return judgeAgain(item, record, sent, first, asked: answer)
        case (.deciding(let item, var conflict), .decided(let decision, let addsUp)):
            conflict.addsUp = addsUp
            return settle(item, conflict, decision)
        case (.deciding(let item, let conflict), .failed(let error)):
            if error.code == .cancelled { return hold(item, .pending, conflict, then: .stopped(error)) }
            return hold(item, .parked, conflict, error.code, "a conflict handler failed: \(error)")
        case (.applying(let item, let server), .doubted(let newest)): return confirm(item, server, newest)
        case (.confirming(var item, let server, let doubted), .readBack(let record, let plugins, _)):
            item.answeredBy += plugins
            let current = record.flatMap { columns.isDeleted($0) ? nil : $0 }
            return apply(item, server, by: Confirmation(doubted: doubted, current: current))
        case (.confirming(let item, _, _), .failed(let error)):
            // Neither record is certainly the newest: later operations might be based on a record that does not exist.
            return fail(item, error, wasSent: true)
        case (.applying, .committed): return end(.done)
        case (.committing(let outcome), .committed): return end(outcome)
        case (.applying, .failed(let error)), (.committing, .failed(let error)): return end(.stopped(error))
        default: return end(.stopped(SluiceError(.brokenProtocol, "the push got an event that does not fit its state")))
        }
    }

    mutating func end(_ outcome: Outcome) -> Effect {
        state = .ended
        return .end(outcome)
    }

    mutating func commit(_ commit: PushCommit, then outcome: Outcome) -> Effect {
        state = .committing(then: outcome)
        return .commit(commit)
    }

    private mutating func apply(_ item: PushItem, _ server: JSON, by confirmation: Confirmation? = nil) -> Effect {
        state = .applying(item, server: server)
        return .commit(
            confirmation.map { .confirmed(item, server: server, by: $0) } ?? .applied(item, server: server))
    }

    /// Reads the record, to decide whether an answer is a replay.
    private mutating func confirm(_ item: PushItem, _ server: JSON, _ newest: JSON?) -> Effect {
        rounds += 1
        if rounds > Self.maximumRounds {
            return keep(
                item, .pending, .init(code: "conflict", message: "the record moves all the time"), uncertain: true)
        }
        state = .confirming(item, server: server, doubted: newest)
        return .readBack(item)
    }

    /// Returns the reason for keeping an operation when the answer contradicts the server's record.
    private static func contradiction(_ status: Int) -> String {
        switch status {
        case ..<300: "the server answered \(status), and its record does not show the change"
        case 404, 410: "the server answered \(status), and it lists the record all the same"
        default: "the server's answer (\(status)) and its record do not fit together"
        }
    }

    private mutating func keep(
        _ item: PushItem, _ kept: TableOperation.State, _ failure: TableOperation.Failure?, uncertain: Bool = false,
        answer: PushAnswer? = nil, then outcome: Outcome = .kept
    ) -> Effect {
        let kept = Kept(item: item, state: kept, failure: failure, isUncertain: uncertain, outcome: outcome)
        guard let question = kept.question(answer) else { return commit(kept.commit, then: outcome) }
        state = .consulting(kept)
        return .consult(question)
    }

    private mutating func hold(
        _ item: PushItem, _ kept: TableOperation.State, _ conflict: Conflict, _ code: SluiceError.Code = .conflict,
        _ message: String? = nil, then outcome: Outcome = .kept
    ) -> Effect {
        let failure = TableOperation.Failure(
            code: code.description, message: item.attributed(message ?? conflict.reason), status: conflict.status,
            serverRecord: conflict.server)
        return commit(.held(item, kept, failure, conflict), then: outcome)
    }

    private mutating func begin(_ item: PushItem) -> Effect {
        if item.operation.kind == .update, !item.operation.isUncertain, let base = item.base, let local = item.local,
            Rebase.changes(from: base, to: local, system: columns.system) == .object
        {
            return commit(.unneeded(item), then: .done)
        }
        guard item.asks.contains(.beforePush) else { return send(item) }
        state = .reviewing(item)
        return .review(item)
    }

    mutating func send(_ item: PushItem) -> Effect {
        state = .sending(item)
        return .send(item)
    }

    private mutating func fail(_ item: PushItem, _ error: SluiceError, wasSent: Bool) -> Effect {
        // Sent again it might be applied twice, so a person has to decide.
        keep(
            item, error.code == .maybeApplied ? .parked : .pending, TableOperation.Failure(error),
            uncertain: wasSent || error.code == .maybeApplied,
            then: error.isEndOfPush ? .stopped(error) : .kept)
    }

    /// Judges the record by the server's answer about an earlier revision. If a server that remembers requests refuses
    /// the repeat, that revision was never applied.
    private mutating func judgeAgain(
        _ item: PushItem, _ record: JSON, _ sent: SentBody, _ first: PushAnswer, asked: PushAnswer?
    ) -> Effect {
        let columns = columns.judging(item.operation.table)
        guard let asked, asked.remembersRequests, asked.status == 409 || asked.status == 412 else {
            return act(on: .conflict(server: record, isDeleted: false), item, answer: first)
        }
        var item = item
        for index in item.operation.sent.indices where item.operation.sent[index].revision == sent.revision {
            item.operation.sent[index].mayBeDone = false
        }
        let verdict = PushVerdict.compare(item, with: record, columns: columns, isRefusal: true, remembers: true)
        return act(on: item.completing(verdict, columns), item, answer: first)
    }

    /// - Parameter isReadBack: whether the verdict is about the record that was read back because the answer proved
    ///   nothing.
    private mutating func act(
        on verdict: PushVerdict, _ item: PushItem, answer: PushAnswer, isReadBack: Bool = false
    ) -> Effect {
        let (operation, status) = (item.operation, answer.status)
        func failure(_ code: SluiceError.Code) -> TableOperation.Failure {
            var message = answer.message
            // A refusal for another reason than the record keeps the server's own message.
            if isReadBack, code != .rejected {
                message =
                    Self.contradiction(status) + (status < 300 && !answer.isWebPage ? "" : ": \(answer.message)")
            }
            return .init(code: code.description, message: item.attributed(message), status: status)
        }
        switch verdict {
        case .done(let record):
            return record.map { apply(item, $0) } ?? commit(.applied(item, server: nil), then: .done)
        case .found(let record, let sent):
            guard !isReadBack, let conflict = item.equalEdit(record, answer, columns), rounds < Self.maximumRounds
            else {
                return commit(.found(item, server: record, sent: sent), then: .done)
            }
            rounds += 1
            state = .deciding(item, conflict)
            return .decide(conflict)
        case .earlierRevisionDone(let record, let sent):
            rounds += 1
            return rounds > Self.maximumRounds
                ? commit(.kept(item, .parked, failure(.conflict), uncertain: false), then: .kept)
                : commit(.rebased(item, server: record, sent: sent), then: .again)
        case .ask(let record, let sent):
            state = .asking(item, record, sent, answer)
            return .ask(item, sent)
        case .conflict(let server, let isDeleted):
            // An update that was judged by the record before it was sent.
            if let server, !isDeleted, operation.sent.isEmpty, item.isMade(in: server, columns.judging(operation.table))
            {
                return act(on: .found(server, nil), item, answer: answer)
            }
            // The record was missing for the delete and now exists again: the delete itself may have removed it first, if
            // it was sent.
            let wasGone = operation.kind == .delete && [404, 410].contains(status) && operation.sentAsIs != nil
            // A proxy may have sent the request twice, and other users may have changed the record before it was read.
            let columns = columns.judging(operation.table)
            let mayBeOwn = !isDeleted && server.map { item.mayHaveLeft($0, columns) } ?? false
            let conflict = Conflict(
                operation: operation, client: item.local, server: server, base: item.base,
                maybeApplied: operation.isUncertain || status < 300 || wasGone || mayBeOwn, status: status,
                isDeletedOnServer: isDeleted)
            rounds += 1
            if rounds > Self.maximumRounds {
                let text = "the conflict came back \(Self.maximumRounds) times in one push"
                return hold(item, .parked, conflict, .conflict, text)
            }
            if operation.kind == .insert, isDeleted, !conflict.maybeApplied {
                // The record was deleted before this insert, perhaps by this device, and has not changed since.
                return settle(item, conflict, .client)
            }
            state = .deciding(item, conflict)
            return .decide(conflict)
        case .readBack:
            state = .readingBack(item, answer)
            return .readBack(item)
        case .gone: return commit(.gone(item), then: .done)
        case .idRefused:
            rounds += 1
            return rounds > Self.maximumRounds
                ? keep(item, .parked, failure(.rejected), answer: answer) : commit(.unidentified(item), then: .again)
        case .renew:
            rounds += 1
            return rounds > Self.maximumRounds
                ? keep(item, .pending, failure(.brokenProtocol), uncertain: true, answer: answer)
                : commit(.renewed(item), then: .again)
        case .skipped(let uncertain): return keep(item, .pending, nil, uncertain: uncertain, then: .skipped)
        case .refused(let code, let uncertain):
            var failure = failure(code)
            let other = isReadBack ? answer.created : answer.record.flatMap(columns.id)
            if let other, other != operation.recordID {
                failure.message = item.attributed("the server answered \(status) with another record, \(other)")
            }
            return keep(item, .parked, failure, uncertain: uncertain, answer: answer)
        case .later(let code, let uncertain):
            return keep(item, .pending, failure(code), uncertain: uncertain, answer: answer)
        case .unauthorized:
            let error = SluiceError(
                .unauthorized, answer.message, table: operation.table, recordID: operation.recordID,
                operationID: operation.id, status: status)
            return keep(item, .pending, failure(.unauthorized), answer: answer, then: .stopped(error))
        }
    }

    private mutating func settle(
        _ item: PushItem, _ conflict: Conflict, _ decision: ConflictDecision
    ) -> Effect {
        if let record = decision.given {
            do {
                try RecordRules.validate(
                    whole: record, besides: [conflict.client, conflict.server], id: conflict.recordID,
                    table: conflict.table)
            } catch {
                return hold(
                    item, .parked, conflict, .conflict, "the conflict's merge is refused: \(error.message)")
            }
        } else {
            lastMerge = nil
        }
        if conflict.isEqualEdit, let server = conflict.server, [.next, .server, .discard].contains(decision) {
            return commit(.found(item, server: server, sent: item.operation.sentAsIs), then: .done)
        }
        switch decision {
        case .defer: return hold(item, .pending, conflict)
        case .ask, .next: return hold(item, .parked, conflict)
        case .abort:
            let error = SluiceError(
                .aborted, "a conflict handler ended the push", table: conflict.table, recordID: conflict.recordID,
                operationID: item.operation.id, status: conflict.status)
            return hold(item, .parked, conflict, then: .stopped(error))
        case .merge(let record) where !converges(record, conflict),
            .replace(let record) where !converges(record, conflict):
            return hold(
                item, .parked, conflict, .conflict,
                "the conflict is not converging: the same merge again, and the server's record has moved")
        case .server, .discard, .client, .merge, .replace, .delete:
            // A remaining change keeps the operation's place.
            return commit(.decided(item, conflict, decision), then: .again)
        }
    }

    /// Whether the merge differs from the previous one, or the server's record has not changed since.
    private mutating func converges(_ record: JSON, _ conflict: Conflict) -> Bool {
        let plain = RecordRules.withoutSystemColumns(record, columns.system)
        let version = conflict.server?[columns.version]
        defer { lastMerge = (plain, version) }
        guard let lastMerge else { return true }
        return lastMerge.record != plain || lastMerge.version == version
    }
}

extension SluiceError {
    /// Whether a push that meets this error cannot go on with other operations either.
    var isEndOfPush: Bool { code.isNetwork || code.isStore || code == .cancelled || code == .unauthorized }
}
