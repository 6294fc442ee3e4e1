internal import SluiceBase

extension OperationSession {
    /// The state of a failed operation, if no hook decides otherwise.
    struct Kept: Sendable {
        var item: PushItem
        var state: TableOperation.State
        var failure: TableOperation.Failure?
        var isUncertain: Bool
        var outcome: Outcome

        var commit: PushCommit { .kept(item, state, failure, uncertain: isUncertain) }

        /// Returns the failure for the hooks; nil where they are not asked.
        func question(_ answer: PushAnswer?) -> PushResult.Failure? {
            guard item.asks.contains(.onPushError), let failure, let code = SluiceError.Code(failure.code),
                code != .cancelled, !code.isStore
            else { return nil }
            return PushResult.Failure(
                operation: item.operation, record: item.local, code: code, message: failure.message,
                status: failure.status, retryAfter: answer?.retryAfter, body: answer?.body ?? [],
                mayBeApplied: isUncertain || item.operation.isUncertain, state: state)
        }
    }

    // MARK: Before an operation is sent

    mutating func take(_ answer: HookVerdict<BeforePushDecision>, _ item: PushItem) -> Effect {
        switch answer.decision {
        case .send: return send(item)
        case .skip(let reason): return postpone(item, answer.hook, reason)
        case .defer(let delay, let reason): return postpone(item, answer.hook, reason, for: delay)
        case .changeKind(let kind, let record):
            if kind == item.operation.kind, record == nil { return send(item) }
            let failure = { (reason: String) in
                TableOperation.Failure(
                    code: SluiceError.Code.hookFailed.description, message: "the hook \(answer.hook) \(reason)")
            }
            changes += 1
            guard changes <= Self.maximumRounds else {
                return commit(.hooked(item, .postponed(failure("changes the operation again and again"))), then: .kept)
            }
            state = .attempting(
                item, or: .hooked(item, .postponed(failure("wants to change the operation"))), then: .kept)
            return .commit(.hooked(item, .changed(kind, record)))
        }
    }

    private mutating func postpone(
        _ item: PushItem, _ hook: String, _ reason: String, for delay: Duration? = nil
    ) -> Effect {
        let failure = TableOperation.Failure(
            code: SluiceError.Code.postponed.description, message: "\(hook): \(reason)")
        return commit(.hooked(item, .postponed(failure, delay)), then: .kept)
    }

    /// Postpones an operation because a hook failed or was cancelled: nothing was sent.
    mutating func postpone(_ item: PushItem, by error: SluiceError) -> Effect {
        if error.code == .cancelled { return end(.stopped(error)) }
        return commit(.hooked(item, .postponed(Self.failure(of: error))), then: .kept)
    }

    private static func failure(of error: SluiceError) -> TableOperation.Failure {
        TableOperation.Failure(
            code: error.code.description, message: error.message + (error.cause.map { ": \($0)" } ?? ""))
    }

    // MARK: After an operation has failed

    mutating func take(_ answer: HookVerdict<PushErrorDecision>, _ kept: Kept) -> Effect {
        let item = kept.item
        guard let failure = kept.failure else { return commit(kept.commit, then: kept.outcome) }
        // An error that ends the push ends it whatever a hook decides about one operation.
        let isStopped = if case .stopped = kept.outcome { true } else { false }
        switch answer.decision {
        case .next: return commit(kept.commit, then: kept.outcome)
        case .retry(let delay):
            let isNow = delay <= .zero && !isStopped
            if isNow {
                rounds += 1
                guard rounds <= Self.maximumRounds else { return commit(kept.commit, then: kept.outcome) }
            }
            return commit(
                .hooked(item, .retried(failure, uncertain: kept.isUncertain, delay)),
                then: isNow ? .again : kept.outcome)
        case .park(let reason):
            var reasoned = failure
            reasoned.message = "\(answer.hook): \(reason) (\(failure.message))"
            return commit(.kept(item, .parked, reasoned, uncertain: kept.isUncertain), then: kept.outcome)
        case .abort:
            let error = SluiceError(
                .aborted, "the hook \(answer.hook) ended the push", table: item.operation.table,
                recordID: item.operation.recordID, operationID: item.operation.id, status: failure.status)
            return commit(kept.commit, then: isStopped ? kept.outcome : .stopped(error))
        case .cancelAndDiscard: return attempt(.cancelled(failure, uncertain: kept.isUncertain), kept, answer.hook)
        case .cancelAndUpdate(let record):
            return attempt(.cancelled(failure, uncertain: kept.isUncertain, record), kept, answer.hook)
        case .changeKind(let kind, let record):
            rounds += 1
            guard rounds <= Self.maximumRounds, record != nil || kind != item.operation.kind else {
                return commit(kept.commit, then: kept.outcome)
            }
            return attempt(.changed(kind, record, failure, uncertain: kept.isUncertain), kept, answer.hook)
        }
    }

    /// Keeps an operation as without hooks, because a hook failed, and adds the reason.
    mutating func keep(_ kept: Kept, beside error: SluiceError) -> Effect {
        var kept = kept
        let problem = Self.failure(of: error).message
        kept.failure?.message += "; \(problem)"
        return commit(kept.commit, then: error.code == .cancelled ? .stopped(error) : kept.outcome)
    }

    private mutating func attempt(_ wanted: HookedCommit, _ kept: Kept, _ hook: String) -> Effect {
        var other = kept
        other.failure?.message += "; the hook \(hook) wants to change the operation"
        state = .attempting(kept.item, or: other.commit, then: kept.outcome)
        return .commit(.hooked(kept.item, wanted))
    }

    /// Gives up a hook's commit that failed. If the queue does not allow it, the other commit is made.
    mutating func giveUpAttempt(
        _ item: PushItem, _ other: PushCommit, _ outcome: Outcome, _ error: SluiceError
    ) -> Effect {
        guard error.code == .operationRefused || error.code == .invalidRecord else { return end(.stopped(error)) }
        return commit(other.adding(": \(error.message)"), then: outcome)
    }
}

extension PushCommit {
    /// Returns the commit with text added to its reason.
    fileprivate func adding(_ text: String) -> PushCommit {
        switch self {
        case .kept(let item, let state, var failure, let uncertain):
            failure?.message += text
            return .kept(item, state, failure, uncertain: uncertain)
        case .hooked(let item, .postponed(var failure, let delay)):
            failure.message += text
            return .hooked(item, .postponed(failure, delay))
        default: return self
        }
    }
}
