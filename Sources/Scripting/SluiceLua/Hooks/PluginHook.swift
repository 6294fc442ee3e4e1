internal import SluiceCore

/// One hook of one plugin, in one of the engine's chains.
struct PluginHook: Sendable {
    let caller: PluginCaller
    let hook: HookPlan

    var name: String { caller.plan.name }
    var isShadow: Bool { caller.isShadow }

    /// Asks the plugin about a record. Returns nil for a shadow, or for a failure that the policy ignores.
    func ask<Value: Sendable>(
        _ arguments: [LuaArgument], as type: Value.Type, table: String, recordID: RecordID?,
        extra: [(name: String, value: JSON)] = [], _ interpret: @escaping @Sendable (HookReturn) throws -> HookAnswer
    ) async throws -> Value? {
        let call = HookCall(
            plan: hook, arguments: arguments, table: table, recordID: recordID, extra: extra, interpret: interpret)
        do {
            let value = try await caller.ask(call, as: type)
            return isShadow ? nil : value
        } catch let failure as PluginFailure {
            try pass(failure, table: table, recordID: recordID)
            return nil
        }
    }

    /// Continues after a failure if the policy allows it, or throws the failure.
    func pass(_ failure: PluginFailure, table: String, recordID: RecordID?) throws {
        if isShadow { return }
        switch hook.onError {
        case .failOpen, .next, .server, .client: return
        case .failClosed, .hold: throw SluiceError(plugin: failure, table: table, recordID: recordID)
        }
    }
}
