internal import SluiceCore

/// The chain of filters of the set that serves, as one filter: an exchange passes one set from begin to end.
struct PluginChain: Filter {
    let current: @Sendable () -> PluginSet

    func handle(_ request: Request, next: Next) async throws -> Response {
        try await current().filters.send(request, next: next)
    }
}

/// The conflict handlers of the set that serves, as one handler.
struct PluginConflicts: ConflictHandler {
    let current: @Sendable () -> PluginSet

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        let set = current()
        for plugin in set.conflict {
            let check = set.check(conflict.table, of: plugin)
            let handler = LuaConflictHandler(caller: plugin.caller, hook: plugin.hook, check: check)
            let decision = try await handler.decide(conflict)
            if decision != .next { return decision }
        }
        return .next
    }
}
