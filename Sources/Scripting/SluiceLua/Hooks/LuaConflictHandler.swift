internal import SluiceCore

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
