internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// Tries a changed script before it is switched on: runs its fixtures and repeats the plugin's earlier decisions. A
/// trial does not affect the serving plugins, the store or a server.
struct PluginTrial: Sendable {
    private let plugins: PluginsView

    init(_ endpoint: InspectedEndpoint) { plugins = PluginsView(endpoint) }

    /// Runs `plugin` with `text` in the place of the source at `path`.
    ///
    /// - Returns: `isGood`, `check` and `fixtures` as lines, and `replay` with `asked`, `passedOver` and `changes`.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a plugin or path that is not there.
    func run(_ body: JSON) async throws -> JSON {
        let plan = try plugins.plan(try body.text("plugin"))
        let path = try body.text("path")
        guard plan.bundle.files[path] != nil else {
            throw SluiceError(.invalidArgument, "the plugin \(plan.name) has no file \(path)")
        }
        var files = plan.bundle.files
        files[path] = Array(try body.text("text").utf8)
        let bundle = try PluginBundle(files: files, location: plan.bundle.location)
        let check = await PluginCheck.run(bundle)
        var result: JSON = [
            "plugin": JSON(plan.name), "path": JSON(path), "check": JSON(check.lines.map { JSON($0) }),
        ]
        guard check.isGood else {
            result["isGood"] = false
            return result
        }
        var runner = FixtureRunner(bundle)
        runner.plan = plan
        let fixtures = await runner.run()
        result["fixtures"] = JSON(fixtures.lines.map { JSON($0) })
        result["isGood"] = JSON(fixtures.isGood)
        let decisions = try await plugins.decisions().filter { $0.plugin == plan.name && $0.input != nil }
        guard !decisions.isEmpty else {
            result["replay"] = ["asked": 0, "passedOver": 0, "changes": .array]
            return result
        }
        let replay = try await DecisionReplay(
            DecisionFile(decisions), with: bundle, as: plan.name, config: plan.config)
        result["replay"] = [
            "asked": JSON(replay.asked), "passedOver": JSON(replay.passedOver),
            "changes": JSON(
                replay.changes.map { change -> JSON in
                    var json: JSON = [
                        "sequence": JSON(change.before.sequence), "hook": JSON(change.before.hook.rawValue),
                        "was": JSON(change.before.decision), "is": JSON(change.decision),
                        "differences": JSON(change.differences.map { JSON($0) }),
                    ]
                    json["record"] = change.before.recordID.map { JSON($0) }
                    return json
                }),
        ]
        return result
    }
}
