internal import Foundation
internal import Sluice
internal import SluiceLua

/// A plugin that decides the demo's conflict in the place of the handler in Swift.
struct DemoPlugin: Sendable {
    /// What the story calls it.
    let title: String
    private let handler: any ConflictHandler
    private let plugins: Plugins

    /// How many decisions are kept: a line that fails makes more than an application would look at.
    private static let keptDecisions = 20_000

    /// - Parameters:
    ///   - name: the plugin's folder, or the name of one in the folder `Plugins`.
    ///   - config: its configuration, as JSON; nil for the defaults.
    init(_ name: String, config: String?) async throws {
        let folders = [name, "Plugins/\(name)"]
        guard let folder = folders.first(where: { FileManager.default.fileExists(atPath: $0 + "/plugin.json") }) else {
            throw CommandFailure.usage("there is no plugin in \(folders.joined(separator: " or "))")
        }
        let bundle = try PluginBundle(folder: folder)
        let plan = try PluginPlan(
            bundle, config: config.map { try Self.parse($0) } ?? Self.configs[bundle.manifest.name] ?? .object,
            deployment: Deployment(id: "demo"))
        guard plan.hooks[.onConflict] != nil else {
            throw CommandFailure.usage("\(plan.name) has no hook on_conflict, so it cannot decide the demo's conflict")
        }
        plugins = try await Plugins(
            [plan],
            options: PluginOptions(
                tables: [DemoMovies.schema], decisionLogSize: Self.keptDecisions, keepsInputs: true))
        handler = plugins.conflictHandler
        title = "\(plan.name) in Lua"
    }

    /// What the plugin says to a conflict, with the entry of the decision log; nil where it was not asked.
    func answer(_ conflict: Conflict) async -> (decision: Result<ConflictDecision, any Error>, entry: PluginDecision?) {
        let before = await plugins.decisions.last?.sequence ?? 0
        let decision: Result<ConflictDecision, any Error>
        do {
            decision = .success(try await handler.decide(conflict))
        } catch {
            decision = .failure(error)
        }
        return (decision, await plugins.decisions.last { $0.sequence > before && $0.recordID == conflict.recordID })
    }

    /// Writes all that it decided into a file, with what it was given.
    func write(to path: String) async throws { try DecisionFile(await plugins.decisions).append(to: path) }

    /// Left to itself, this merge leaves a field that both changed to the next handler.
    private static let configs: [String: JSON] = ["field-merge": ["rules": ["title": "client"], "default": "server"]]

    private static func parse(_ text: String) throws -> JSON {
        do {
            return try JSON(parsing: text)
        } catch {
            throw CommandFailure.usage("--plugin-config is no JSON: \(error)")
        }
    }
}
