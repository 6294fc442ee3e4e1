internal import Logging
internal import SluiceCore

extension PluginHost {
    /// Calls a plugin. The script runs until it has answered, waits, or fails.
    package func begin(_ call: HookCall, of id: PluginInstance.ID) -> CallStep {
        let kind = call.plan.kind
        guard let instance = instances[id] else {
            return .failed(
                PluginFailure(
                    plugin: "", hook: kind.rawValue, ScriptFailure(.cancelled, "the plugin was unloaded")))
        }
        return begin(call, of: instance)
    }

    func begin(_ call: HookCall, of instance: PluginInstance) -> CallStep {
        let kind = call.plan.kind
        if let breaker = instance.breakers[kind], breaker.isOpen(at: steady) {
            let failure = ScriptFailure(.breakerOpen, "the hook failed too often and is not asked for a while")
            return refused(failure, call, instance)
        }
        guard instance.functions.calls.count < PluginInstance.maximumCalls else {
            return refused(ScriptFailure(.runtime, "too many calls of the plugin are under way"), call, instance)
        }
        let state = CallState(id: nextCall(), call, settings.environment, seed: seed(of: instance))
        instance.functions.current = state
        let step = instance.vm.call(
            kind.rawValue, call.arguments + [instance.context(of: call)],
            budget: call.plan.budget.sandbox(
                isDeterministic: instance.plan.manifest.isDeterministic, mayWait: kind.mayWait, fuel: call.fuel),
            id: state.id)
        return take(step, state, instance)
    }

    /// Returns the seed of the random numbers, for calls that must be repeatable.
    func seed(of instance: PluginInstance) -> (HookCall) -> UInt64 {
        { [given = settings.seed] call in
            given ?? FNV1a.hash("\(instance.plan.name) \(instance.inputHash(of: call))".utf8)
        }
    }

    /// Resumes a call that waited.
    package func resume(_ id: UInt64, with result: WaitResult) -> CallStep {
        guard let owner = calls[id], let instance = instances[owner], let state = instance.functions.calls[id],
            let lua = state.lua
        else {
            return .failed(
                PluginFailure(
                    plugin: "", hook: "", ScriptFailure(.cancelled, "the plugin was replaced while it waited")))
        }
        let reply: HostReply
        state.nextError = nil
        switch result {
        case .ended(let kind): return end(id, kind)
        case .reply(let given): reply = given.redacted(instance.functions.redact)
        case .response(let response, let pause):
            state.deadline = state.deadline?.advanced(by: pause)
            let slot = state.bodies.count
            state.bodies.append(response.body)
            state.end(.response(response))
            let editor = state.call.editor
            let given = GivenResponse(response, body: slot, elapsed: pause) { editor?.isHidden($0) ?? true }
            state.responses[slot] = given
            reply = .value(given.document)
        case .rows(let document, let pause):
            state.deadline = state.deadline?.advanced(by: pause)
            reply = .value(document)
        case .nextFailed(let message, let pause):
            state.deadline = state.deadline?.advanced(by: pause)
            let message = instance.functions.redact(message)
            state.nextError = message
            state.end(.failed(message))
            reply = .failure(message)
        }
        instance.functions.current = state
        return take(instance.vm.resume(lua, with: reply), state, instance)
    }

    /// Ends a waiting call.
    func end(_ id: UInt64, _ kind: PluginFailure.Kind) -> CallStep {
        guard let owner = calls[id], let instance = instances[owner], let state = instance.functions.calls[id] else {
            return .failed(PluginFailure(plugin: "", hook: "", ScriptFailure(kind, "the call is over")))
        }
        let message = kind == .deadline ? "the call took longer than it may, waits included" : "the call was cancelled"
        return failed(ScriptFailure(kind, message), state, instance)
    }

    func take(_ step: LuaCall.Step, _ state: CallState, _ instance: PluginInstance) -> CallStep {
        instance.functions.current = nil
        switch step {
        case .waits(let lua, let wait):
            state.lua = lua
            if !state.isListed {
                state.isListed = true
                instance.functions.calls[state.id] = state
                calls[state.id] = instance.id
            }
            state.waits += 1
            switch wait {
            case .next, .table: return .waits(state.id, wait, within: nil)
            default: break
            }
            return .waits(state.id, wait, within: state.deadline.map { steady.duration(to: $0) })
        case .failed(let failure, let lua):
            state.lua = lua
            if failure.kind == .runtime, let error = state.nextError, failure.message.contains(error) {
                close(state, instance, .passedOn)
                return .passedOn
            }
            return failed(state.plan.isCodec ? failure.withoutValues : failure, state, instance)
        case .done(let lua):
            state.lua = lua
            do {
                return succeeded(try interpreted(lua, state, instance), state, instance)
            } catch {
                return failed(ScriptFailure(of: error), state, instance)
            }
        }
    }

    private func interpreted(
        _ lua: LuaCall, _ state: CallState, _ instance: PluginInstance
    ) throws -> HookAnswer {
        let result = lua.result
        var changed: [Int: JSON] = [:]
        let context = state.call.arguments.count
        for index in 0...context { if let value = lua.changedArgument(index) { changed[index] = value } }
        let bag = changed.removeValue(forKey: context)
        if let bag, bag.bytes().count > HostFunctions.maximumBytes {
            throw ScriptFailure(.badResult, "ctx.scratch and ctx.shared hold too much")
        }
        var answer = try state.call.interpret(
            HookReturn(
                value: result?.value, type: result?.type, changed: changed, bodies: state.bodies,
                changedBodies: state.changedBodies,
                responses: state.responses, editor: state.call.editor, holdsObject: lua.returnedObject))
        answer.scratch = bag?["scratch"]
        answer.shared = bag?["shared"]
        return answer
    }

    private func succeeded(_ answer: HookAnswer, _ state: CallState, _ instance: PluginInstance) -> CallStep {
        var saves: [String: JSON?] = [:]
        if !state.changes.isEmpty, instance.plan.mode == .enforce {
            saves = instance.functions.values.values.apply(state.changes, at: now)
        }
        instance.breakers[state.plan]?.succeeded()
        close(state, instance, .answered(answer))
        return .done(answer, saves: saves)
    }

    func failed(_ failure: ScriptFailure, _ state: CallState, _ instance: PluginInstance) -> CallStep {
        var failure = failure
        failure.message = instance.functions.redact(failure.message)
        let named = PluginFailure(plugin: instance.plan.name, hook: state.plan.rawValue, failure)
        // A value that cannot be translated must not keep others from it, and lets nothing pass anyway.
        if failure.kind != .cancelled, !state.plan.isCodec {
            instance.breakers[state.plan, default: CircuitBreaker()].failed(at: steady)
        }
        close(state, instance, .failed(named))
        if instance.isWorn { renew(instance) }
        return .failed(named)
    }

    /// Replaces a machine that was stopped several times. If that fails, the old one continues.
    private func renew(_ instance: PluginInstance) {
        do {
            try instance.rebuild()
            try initialize(instance.id)
        } catch {
            settings.logger.error("plugin \(instance.plan.name) could not be made anew: \(error)")
        }
    }

    private func refused(_ failure: ScriptFailure, _ call: HookCall, _ instance: PluginInstance) -> CallStep {
        let named = PluginFailure(plugin: instance.plan.name, hook: call.plan.kind.rawValue, failure)
        instance.figures[call.plan.kind, default: .init()].calls[failure.kind.rawValue, default: 0] += 1
        instance.meters?.refuse(call.plan.kind, failure.kind.rawValue)
        settings.observer?.counted(1, errors: 1, of: instance.plan)
        return .failed(named)
    }
}

extension ScriptFailure {
    /// The failure without the script's own message, which may hold the value that it was called with.
    fileprivate var withoutValues: ScriptFailure {
        guard kind == .runtime || kind == .badResult else { return self }
        var failure = self
        failure.message = "the script failed; its message is left out, because it may hold the value"
        return failure
    }

    /// Describes an error in reading a hook's answer.
    init(of error: any Error) {
        self =
            (error as? ScriptFailure) ?? (error as? Denied).map { ScriptFailure(.permission, $0.message) }
            ?? ScriptFailure(.badResult, "\(error)")
    }
}

extension HostReply {
    /// Returns the reply with the values of secrets removed from its messages.
    fileprivate func redacted(_ redact: Redactor) -> HostReply {
        switch self {
        case .failure(let message): .failure(redact(message))
        case .denied(let message): .denied(redact(message))
        case .value, .wait: self
        }
    }
}
