internal import SluiceCore

/// Calls one plugin of a set from any task, and carries out the script's waits.
struct PluginCaller: Sendable {
    let host: PluginHost
    let services: HostServices
    let id: PluginInstance.ID
    let plan: PluginPlan
    let secrets: SecretBook

    /// Returns the editor that applies the script's changes to the request.
    func editor(of request: SyncRequest) -> RequestEditor {
        RequestEditor(
            request: request, of: plan.name, permissions: plan.permissions, secrets: secrets)
    }

    /// Calls a hook, and carries out the script's waits.
    ///
    /// - Parameter next: the action of `next` in a filter.
    /// - Throws: ``PluginFailure``; the error of `next` if the script did not catch it; `CancellationError`.
    func ask<Value: Sendable>(_ call: HookCall, as type: Value.Type, next: RequestFilter.Next) async throws -> Reply<
        Value
    > {
        var step = await host.begin(call, of: id)
        var nextError: (any Error)?
        while true {
            switch step {
            case .done(let answer, let saves):
                if !saves.isEmpty { try await save(saves, call.plan.kind) }
                return try reply(answer, call.plan.kind)
            case .failed(let failure):
                if failure.kind == .cancelled, Task.isCancelled { throw nextError ?? CancellationError() }
                throw failure
            case .passedOn: throw nextError ?? CancellationError()
            case .waits(let id, let wait, let time):
                if case .next(let request) = wait {
                    let start = services.environment.steady()
                    let result: WaitResult
                    do {
                        let response = try await next(request)
                        result = .response(response, after: start.duration(to: services.environment.steady()))
                    } catch {
                        nextError = error
                        if error is CancellationError || Task.isCancelled {
                            result = .ended(.cancelled)
                        } else {
                            let text = (error as? SluiceError).map { "\($0.code): \($0.message)" } ?? "\(error)"
                            result = .nextFailed(text, after: start.duration(to: services.environment.steady()))
                        }
                    }
                    step = await host.resume(id, with: result)
                } else {
                    step = await host.resume(id, with: await services.perform(wait, within: time))
                }
            }
        }
    }

    /// Calls a hook that has no `next`.
    func ask<Value: Sendable>(_ call: HookCall, as type: Value.Type) async throws -> Value {
        try await ask(call, as: type, next: { _ in throw CancellationError() }).value
    }

    /// Calls a hook for all rows of a page in one step.
    ///
    /// - Returns: the decisions, and the failures with the rows' indexes.
    func ask(
        _ rows: PulledRows, fuel: Int64
    ) async throws -> (decisions: [PulledRow.Decision], failures: [(index: Int, failure: PluginFailure)]) {
        let steps = await host.begin(rows, of: id, fuel: fuel)
        var decisions = steps.decisions
        var failures: [(index: Int, failure: PluginFailure)] = []
        for (index, step) in steps.others {
            switch step {
            case .done(let answer, let saves):
                if !saves.isEmpty { try await save(saves, rows.plan.kind) }
                decisions[index] = try reply(answer, rows.plan.kind).value
            case .failed(let failure): failures.append((index, failure))
            case .passedOn: throw CancellationError()
            case .waits(let waiting, _, _):
                guard case .failed(let failure) = await host.end(waiting, .yield) else { throw CancellationError() }
                failures.append((index, failure))
            }
        }
        return (decisions, failures)
    }

    /// Saves the call's changes of `kv`, and returns its decision.
    func finished<Value: Sendable>(
        _ answer: HookAnswer, _ saves: [String: JSON?], _ hook: HookKind
    ) async throws -> Value {
        if !saves.isEmpty { try await save(saves, hook) }
        return try reply(answer, hook).value
    }

    private func reply<Value: Sendable>(_ answer: HookAnswer, _ hook: HookKind) throws -> Reply<Value> {
        guard let value = answer.value as? Value else {
            throw failure(.badResult, "the answer is of another kind", hook)
        }
        return Reply(value: value, scratch: answer.scratch, shared: answer.shared)
    }

    /// Saves the call's changes of `kv`. If that fails, the call fails too, because its decision may depend on them.
    func save(_ values: [String: JSON?], _ hook: HookKind) async throws {
        do {
            try await services.storage.save(values, of: plan.name)
        } catch {
            throw failure(.runtime, "kv could not be saved: \(error)", hook)
        }
    }

    func failure(_ kind: PluginFailure.Kind, _ message: String, _ hook: HookKind) -> PluginFailure {
        PluginFailure(plugin: plan.name, hook: hook.rawValue, ScriptFailure(kind, message))
    }

    /// The answer of a plugin.
    struct Reply<Value: Sendable>: Sendable {
        var value: Value
        var scratch: JSON?
        var shared: JSON?
    }
}

/// The progress of a hook around a server's table.
enum TableStop<Value: Sendable>: Sendable {
    /// The script waits in `next`, with its changes of the request.
    case next(UInt64, TableRequestEdit)
    /// The script has answered.
    case done(Value)
}

extension PluginCaller {
    /// Calls a hook, and carries out the script's waits up to its `next`.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`.
    func askToNext<Value: Sendable>(_ call: HookCall, as type: Value.Type) async throws -> TableStop<Value> {
        try await run(await host.begin(call, of: id), call)
    }

    /// Resumes a script that waited in its `next`.
    ///
    /// - Throws: ``PluginFailure``; `CancellationError`, also if the script did not catch the error of `next`.
    func goOn<Value: Sendable>(
        _ waiting: UInt64, _ result: WaitResult, _ call: HookCall, as type: Value.Type
    ) async throws -> Value {
        switch try await run(await host.resume(waiting, with: result), call) as TableStop<Value> {
        case .done(let value): return value
        // The host refuses a second `next`.
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
