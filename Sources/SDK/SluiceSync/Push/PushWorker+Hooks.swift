internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

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
