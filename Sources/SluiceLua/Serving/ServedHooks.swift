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
                let check = set.check(conflict.table, of: plugin)
                let handler = LuaConflictHandler(caller: plugin.caller, hook: plugin.hook, check: check)
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

    private func hook(_ set: PluginSet) -> LuaSyncHook { LuaSyncHook(set: set, localRecords: plugins.localRecords) }

    func wants(_ point: HookPoint, table: String) -> Bool {
        hook(plugins.current).wants(point, table: table)
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        try await plugins.serving { try await hook($0).beforeEnqueue(change) }
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        try await plugins.serving { try await hook($0).beforePush(operation, record: record) }
    }

    func onPushError(_ failure: PushFailure) async throws -> PushErrorDecision {
        try await plugins.serving { try await hook($0).onPushError(failure) }
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision] {
        try await plugins.serving { try await hook($0).afterPull(page) }
    }
}

/// Stands right after the ``ServedSyncHook``, and says of a record that it has changed that it stays here, where a
/// plugin has said so: a hook answers either with a record or with that.
struct ServedLocalOnlyHook: SyncHook {
    let plugins: Plugins
    let hookName = LuaSyncHook.name

    func wants(_ point: HookPoint, table: String) -> Bool {
        point == .beforeEnqueue && plugins.current.enqueue.contains { $0.hook.isFor(table: table) }
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        change.record.map(plugins.localRecords.take) == true ? .localOnly : .accept
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

/// All plugins that have a say in when to synchronise: the first that answers decides.
struct LuaScheduleHook: ScheduleHook {
    let hookName = LuaSyncHook.name
    let set: PluginSet

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        var document = JSON(members: [
            ("reason", JSON(question.reason.rawValue)), ("now", TimeFunctions.seconds(question.now)),
            ("next", TimeFunctions.seconds(question.next)), ("pulls", JSON(question.pulls)),
            ("pending", JSON(question.pending)), ("failures", JSON(question.failures)),
        ])
        if let time = question.notBefore { document["not_before"] = TimeFunctions.seconds(time) }
        for plugin in set.schedule {
            let decision = try await plugin.ask(
                [], as: ScheduleDecision?.self, table: "", recordID: nil, extra: [("question", document)]
            ) { try ScheduleVerdict.read($0, now: question.now) }
            if let decision = decision ?? nil { return decision }
        }
        return nil
    }
}
