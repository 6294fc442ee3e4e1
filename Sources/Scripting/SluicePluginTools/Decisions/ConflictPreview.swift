public import SluiceCore
public import SluiceLua

/// A plugin's likely decision about a waiting conflict. The plugin runs in a separate world with an empty store, an
/// empty `kv` and no other servers. The decision has no effect.
public struct ConflictPreview: Sendable {
    /// The plugin.
    public let plugin: String
    /// The name of the decision: `next` if the plugin leaves the conflict to the next handler, `failed` if it fails.
    public private(set) var decision = "next"
    /// The plugin's reason.
    public private(set) var reason: String?
    /// The fields of a merge by rules: `{"qty": {"rule": "max", "side": "client"}}`, or with `value`.
    public private(set) var fields = JSON.object
    /// The record that results from a merge.
    public private(set) var record: JSON?
    /// The failure; nil for success.
    public private(set) var failure: PluginFailure?

    /// Asks the plugin.
    ///
    /// - Returns: nil if the plugin has no hook for such a conflict.
    /// - Throws: ``SluiceError`` if no machine can be created.
    public static func preview(
        of conflict: Conflict, by plan: PluginPlan, dialect: Dialect = .azureV2, tables: [TableSchema] = [],
        now: Timestamp
    ) async throws -> ConflictPreview? {
        let schema = tables.first { $0.name == conflict.table }
        let check = RecordCheck(dialect: dialect, schema: schema).of(plan, table: conflict.table)
        let document = ConflictDocument(conflict: conflict, check: check)
        guard let hook = plan.hooks[.onConflict],
            [hook.match, hook.only].allSatisfy({
                $0.matches(
                    MatchSubject(
                        conflict.operation, status: conflict.status, fieldsChanged: document.bothChanged.map(\.text)))
            })
        else { return nil }
        var preview = ConflictPreview(plugin: plan.name)
        var world = FixtureWorld.Script()
        world.clock = now
        do {
            let rig = try await PluginRig(plan.tried(in: plan.deployment), FixtureWorld(world))
            let call = HookCall(
                plan: hook, arguments: [LuaArgument("conflict", document.json)], table: conflict.table,
                recordID: conflict.recordID
            ) { result in
                let read = try document.decision(result)
                var asked = Asked(raw: result.value)
                if let record = (read.value as? ConflictDecision)?.given { asked.record = record }
                return HookAnswer(asked, read.name, reason: read.reason)
            }
            let run = await rig.run(call)
            preview.failure = run.failure
            preview.decision = run.failure == nil ? run.answer?.name ?? "next" : "failed"
            preview.reason = run.answer?.reason
            let asked = run.answer?.value as? Asked
            preview.record = asked?.record
            preview.fields = asked?.raw?["fields"] ?? .object
        } catch let failure as PluginFailure {
            (preview.failure, preview.decision) = (failure, "failed")
        }
        return preview
    }

    private init(plugin: String) { self.plugin = plugin }

    private struct Asked: Sendable {
        var raw: JSON?
        var record: JSON?
    }
}
