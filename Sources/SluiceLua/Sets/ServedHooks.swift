internal import SluiceCore

// What an application is given once, and stays: each asks the plugins that serve at that moment, from begin to end.

/// The chain of filters, as one filter: an exchange passes one set.
struct ServedFilter: Filter {
    let plugins: Plugins

    func handle(_ request: Request, next: Next) async throws -> Response {
        try await plugins.serving { try await $0.filters.send(request, next: next) }
    }
}

/// The conflict handlers, as one.
struct ServedConflictHandler: ConflictHandler {
    let plugins: Plugins

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        try await plugins.serving { set in
            for plugin in set.conflict {
                let handler = LuaConflictHandler(
                    caller: plugin.caller, hook: plugin.hook, check: set.check(conflict.table))
                let decision = try await handler.decide(conflict)
                if decision != .next { return decision }
            }
            return .next
        }
    }
}

/// What takes part in writes, pushes and pulls, as one hook.
struct ServedSyncHook: SyncHook {
    let plugins: Plugins
    let hookName = LuaSyncHook.name

    func wants(_ point: HookPoint, table: String) -> Bool {
        LuaSyncHook(set: plugins.current).wants(point, table: table)
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).beforeEnqueue(change) }
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).beforePush(operation, record: record) }
    }

    func onPushError(_ failure: PushFailure) async throws -> PushErrorDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).onPushError(failure) }
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision] {
        try await plugins.serving { try await LuaSyncHook(set: $0).afterPull(page) }
    }
}

/// What has a say in when to synchronise, as one hook.
struct ServedScheduleHook: ScheduleHook {
    let plugins: Plugins
    let hookName = LuaSyncHook.name

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        try await plugins.serving { try await LuaScheduleHook(set: $0).onSchedule(question) }
    }
}
