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

/// A plugin's `on_conflict`, as a conflict handler.
struct LuaConflictHandler: ConflictHandler {
    let caller: PluginCaller
    let hook: HookPlan
    let check: RecordCheck

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        let document = ConflictDocument(conflict: conflict, check: check)
        let subject = MatchSubject(
            conflict.operation, status: conflict.status, fieldsChanged: document.bothChanged.map(\.text))
        guard hook.matches(subject) else { return .next }
        let call = HookCall(
            plan: hook, arguments: [LuaArgument("conflict", document.json)], table: conflict.table,
            recordID: conflict.recordID, interpret: { try document.decision($0) })
        do {
            let decision = try await caller.ask(call, as: ConflictDecision.self)
            return caller.isShadow ? .next : decision
        } catch let failure as PluginFailure {
            switch caller.isShadow ? .next : hook.onError {
            case .next, .failOpen: return .next
            case .server: return .server
            case .client: return .client
            case .hold, .failClosed:
                throw SluiceError(plugin: failure, table: conflict.table, recordID: conflict.recordID)
            }
        }
    }
}

extension SluiceError {
    /// Wraps a plugin's failure for the caller of the engine.
    init(
        plugin failure: PluginFailure, _ code: Code = .hookFailed, table: String? = nil, recordID: RecordID? = nil,
        operationID: String? = nil
    ) {
        self.init(
            code, "plugin \(failure)", table: table, recordID: recordID,
            operationID: operationID, cause: failure)
    }

    /// Wraps a plugin's failure for the sender of the request.
    init(plugin failure: PluginFailure, about request: SyncRequest) {
        let context = request.context
        self.init(
            plugin: failure, .filter, table: context.table, recordID: context.recordID,
            operationID: context.operationID)
    }
}

extension PluginCaller {
    /// Whether the plugin's decisions are only logged.
    var isShadow: Bool { plan.mode == .shadow }
}
