internal import SluiceCore

/// The chain of filters of the set that serves, as one filter: an exchange passes one set from begin to end.
struct PluginChain: Filter {
    let current: @Sendable () -> PluginSet

    func handle(_ request: Request, next: Next) async throws -> Response {
        try await Self.send(request, through: current().filters[...], next)
    }

    private static func send(_ request: Request, through filters: ArraySlice<PlacedFilter>, _ next: Next) async throws
        -> Response
    {
        guard !filters.isEmpty else { return try await next(request) }
        let subject = MatchSubject(request)
        guard let index = filters.firstIndex(where: { $0.isFor(subject) }) else { return try await next(request) }
        return try await filters[index].filter.handle(request) {
            try await send($0, through: filters[(index + 1)...], next)
        }
    }
}

/// The conflict handlers of the set that serves, as one handler.
struct PluginConflicts: ConflictHandler {
    let current: @Sendable () -> PluginSet

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        let set = current()
        for plugin in set.conflict {
            let handler = LuaConflictHandler(caller: plugin.caller, hook: plugin.hook, check: set.check(conflict.table))
            let decision = try await handler.decide(conflict)
            if decision != .next { return decision }
        }
        return .next
    }
}
