internal import SluiceCore

/// How far a hook around a server's table has come.
enum TableStop<Value: Sendable>: Sendable {
    /// The script waits in `next`, with the request as it has made it.
    case next(UInt64, TableRequestEdit)
    /// It has answered.
    case done(Value)
}

extension PluginCaller {
    /// Asks, and does what the script waits for until it waits for its `next`.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`.
    func askToNext<Value: Sendable>(_ call: HookCall, as type: Value.Type) async throws -> TableStop<Value> {
        try await run(await host.begin(call, of: id), call)
    }

    /// Goes on with a script that waited in its `next`.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`, also where the script has let the error of `next` through.
    func goOn<Value: Sendable>(
        _ waiting: UInt64, _ result: WaitResult, _ call: HookCall, as type: Value.Type
    ) async throws -> Value {
        switch try await run(await host.resume(waiting, with: result), call) as TableStop<Value> {
        case .done(let value): return value
        // The host refuses a second one.
        case .next(let id, _):
            _ = await host.end(id, .yield)
            throw failure(.yield, "next was called twice", call.plan.kind)
        }
    }

    private func run<Value: Sendable>(_ begun: CallStep, _ call: HookCall) async throws -> TableStop<Value> {
        var step = begun
        while true {
            switch step {
            case .done(let answer, let saves): return .done(try await finished(answer, saves, call.plan.kind))
            case .failed(let failure):
                if failure.kind == .cancelled, Task.isCancelled { throw CancellationError() }
                throw failure
            case .passedOn: throw CancellationError()
            case .waits(let id, .table(let edit), _): return .next(id, edit)
            case .waits(let id, let wait, let time):
                step = await host.resume(id, with: await services.perform(wait, within: time))
            }
        }
    }
}
