internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// A commit of a push that carries out a hook's decision.
enum HookedCommit: Sendable {
    /// The operation was not sent and stays pending, for that reason; with a delay, at least that long.
    case postponed(TableOperation.Failure, Duration? = nil)
    /// The operation has failed, and is retried after that time.
    case retried(TableOperation.Failure, uncertain: Bool, Duration)
    /// The operation becomes one of that kind, with the given record or its own; after a failure, if there was one.
    case changed(TableOperation.Kind, JSON?, TableOperation.Failure? = nil, uncertain: Bool = false)
    /// The operation has failed and is given up; the record becomes the given one, or the server's last known one.
    case cancelled(TableOperation.Failure, uncertain: Bool, JSON? = nil)
}

extension PushCommitter {
    /// Writes the commit.
    ///
    /// - Throws: ``SluiceError`` of code `operationRefused` and `invalidRecord` where the queue does not allow it.
    func write(
        _ commit: HookedCommit, _ operation: TableOperation, _ item: PushItem, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws {
        var operation = operation
        switch commit {
        case .postponed(let failure, let delay):
            (operation.state, operation.failure) = (.pending, failure)
            operation.wait(for: delay, from: environment.now())
            try queue.put(operation)
        case .retried(let failure, let uncertain, let delay):
            fail(&operation, failure, uncertain)
            operation.wait(for: delay, from: environment.now())
            try queue.put(operation)
        case .changed(let kind, let record, let failure, let uncertain):
            if failure != nil || operation.state == .inFlight { fail(&operation, failure, uncertain) }
            try queue.put(operation)
            try change(operation, to: kind, record, store, queue)
        case .cancelled(let failure, let uncertain, let record):
            fail(&operation, failure, uncertain)
            try cancel(operation, record, store, queue)
        }
    }

    private func fail(_ operation: inout TableOperation, _ failure: TableOperation.Failure?, _ uncertain: Bool) {
        operation.fail(failure, .pending, reachedServer: uncertain, maximum: maximumAttempts)
        if uncertain { operation.doubt() }
    }

    /// Changes the operation. A change counts as an attempt, so that an operation changed again and again ends as dead.
    private func change(
        _ failed: TableOperation, to kind: TableOperation.Kind, _ record: JSON?, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws {
        if kind == failed.kind, let record {
            try OperationEdit(columns: columns, environment: environment, store: store, queue: queue)
                .carryOut(failed, record)
        } else {
            try KindChange(columns: columns, environment: environment, store: store, queue: queue)
                .carryOut(failed, to: kind, record: record)
        }
        guard failed.failedAttempts > 0, var changed = try queue.reader.operation(failed.id) else { return }
        changed.failedAttempts = failed.failedAttempts
        if failed.state == .dead { (changed.state, changed.failure) = (.dead, failed.failure) }
        try queue.put(changed)
    }

    private func cancel(
        _ operation: TableOperation, _ record: JSON?, _ store: any StoreWriter, _ queue: QueueWriter
    ) throws {
        let (table, id) = (operation.table, operation.recordID)
        func refuse(_ code: SluiceError.Code, _ reason: String) -> SluiceError {
            SluiceError(code, reason, table: table, recordID: id, operationID: operation.id)
        }
        if let record {
            let known = [try store.record(id, in: table), try queue.reader.state(of: id, in: table)?.mirror]
            try RecordRules.validate(whole: record, besides: known, id: id, table: table)
            guard try queue.reader.all(on: id, in: table).count == 1 else {
                throw refuse(.operationRefused, "other changes of the record wait too")
            }
        }
        try queue.put(operation)
        try Discard(columns: columns, environment: environment, store: store, queue: queue).carryOut(operation)
        guard let record else { return }
        let server = try store.record(id, in: table)
        try queue.setLocal(
            RecordRules.record(
                RecordRules.withoutSystemColumns(record, columns.system), withSystemColumns: columns.system,
                of: server, id: id), id, in: table)
        if server == nil {
            // The server is not known to have the record, so the first shared change is sent as an insert.
            try queue.put(RecordState(table: table, recordID: id, base: nil, mirror: nil))
        }
    }
}

extension PushWorker {
    /// The number of bytes of an answer's body that hooks see.
    private static let mostBodyBytes = 65_536

    /// Returns the event with the hook points that apply to its operation.
    func asking(_ event: OperationSession.Event) -> OperationSession.Event {
        guard !options.hooks.isEmpty, case .loaded(var item) = event else { return event }
        for point in [HookPoint.beforePush, .onPushError]
        where AskedHooks(options.hooks, point, table: item.operation.table) != nil {
            item.asks.insert(point)
        }
        return .loaded(item)
    }

    /// Asks the hooks whether to send an operation: the first decision other than `send` counts.
    func review(_ item: PushItem) async -> OperationSession.Event {
        do {
            let chain = AskedHooks(options.hooks, .beforePush, table: item.operation.table)
            for hook in chain?.hooks ?? [] {
                try Task.checkCancellation()
                let (operation, record) = (item.operation, item.local)
                let decision = try await chain?.ask(
                    hook, recordID: operation.recordID, operationID: operation.id
                ) { try await $0.beforePush(operation, record: record) }
                if let decision, decision != .send {
                    return .reviewed(item, HookVerdict(decision, by: hook.hookName))
                }
            }
            return .reviewed(item, HookVerdict(.send))
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    /// Asks the hooks about a failed operation: the first decision other than `next` counts.
    func consult(_ failure: PushResult.Failure) async throws -> HookVerdict<PushErrorDecision> {
        let operation = failure.operation
        let chain = AskedHooks(options.hooks, .onPushError, table: operation.table)
        for hook in chain?.hooks ?? [] {
            let decision = try await chain?.ask(
                hook, recordID: operation.recordID, operationID: operation.id
            ) { try await $0.onPushError(failure) }
            if let decision, decision != .next { return HookVerdict(decision, by: hook.hookName) }
        }
        return HookVerdict(.next)
    }

    /// Returns the answer, with a failure's body and delay for hooks.
    func answer(_ response: SyncResponse, for item: PushItem) -> PushAnswer {
        var answer = client.dialect.pushAnswer(response)
        answer.record = answer.record?.without(options.localOnly.columns[item.operation.table])
        guard item.asks.contains(.onPushError), response.status >= 400 else { return answer }
        // A refusal's record is shown to hooks as to people.
        let shown = answer.record.map { client.credentials.hiding($0, besides: client.dialect.judged).description.utf8 }
        answer.body = Array((shown.map(Array.init) ?? response.body.bytes).prefix(Self.mostBodyBytes))
        answer.retryAfter = RetryAfter.duration(response.head.headerFields, now: options.environment.now())
        return answer
    }
}
