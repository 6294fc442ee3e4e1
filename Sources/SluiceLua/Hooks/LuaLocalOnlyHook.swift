internal import SluiceCore

/// Stands right behind the ``LuaSyncHook`` and says of a record that it has changed that it stays here, where a plugin
/// has said so: a hook answers either with a record or with that.
struct LuaLocalOnlyHook: SyncHook {
    let hookName = "plugins"
    let localRecords: LocalRecords
    let current: @Sendable () -> PluginSet

    func wants(_ point: HookPoint, table: String) -> Bool {
        point == .beforeEnqueue && current().enqueue.contains { $0.hook.match.isFor(table: table) }
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        change.record.map(localRecords.take) == true ? .localOnly : .accept
    }
}
