public import SluiceCore
public import SluiceLua

/// What a plugin would decide about a conflict that waits: the plugin is asked in a world of its own, in which the store
/// and `kv` are empty and no other server answers. Nothing comes of it.
public struct ConflictPreview: Sendable {
    /// The plugin.
    public let plugin: String
    /// The name of the decision: `next` where it leaves the conflict to the one after it, `failed` where it fails.
    public private(set) var decision = "next"
    /// Why, in the plugin's words.
    public private(set) var reason: String?
    /// The fields that it speaks of in a merge by rules: `{"qty": {"rule": "max", "side": "client"}}`, or with `value`.
    public private(set) var fields = JSON.object
    /// The record that a merge comes to.
    public private(set) var record: JSON?
    /// What went wrong; nil if nothing did.
    public private(set) var failure: PluginFailure?

    /// Asks.
    ///
    /// - Returns: nil where the plugin has no hook for such a conflict.
    /// - Throws: ``SluiceError`` where there is no machine to run it in.
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
