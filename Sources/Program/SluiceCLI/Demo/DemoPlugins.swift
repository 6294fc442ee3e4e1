internal import Foundation
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// The plugins that take part in the demo with all their hooks: those of a policy, or a single one.
struct DemoPlugins: Sendable {
    /// The calls of one plugin's hook on both devices.
    struct Line: Sendable, Encodable {
        var plugin: String
        var hook: HookKind
        /// The number of finished calls by outcome: `ok`, or the reason of the failure.
        var calls: [String: Int]
        /// The number of decisions by name.
        var decisions: [String: Int]

        var asked: Int { calls.values.reduce(0, +) }
    }

    /// The plugins' name in the story.
    let title: String
    /// The running plugins.
    let plans: [PluginPlan]

    /// The number of decisions kept: a line that fails makes more than an application would read.
    private static let keptDecisions = 20_000
    /// By default this merge leaves a field that both changed to the next handler.
    private static let configs: [String: JSON] = ["field-merge": ["rules": ["title": "client"], "default": "server"]]

    /// - Parameters:
    ///   - name: the plugin's folder, or the name of one in a folder `Plugins`.
    ///   - config: its configuration, as JSON; nil for the defaults.
    init(plugin name: String, config: String?) async throws {
        let bundle = try PluginBundle(folder: try BundledPlugins.folder(name))
        let plan = try PluginPlan(
            bundle, config: config.map { try Self.parse($0) } ?? Self.configs[bundle.manifest.name] ?? .object,
            deployment: Deployment(id: "demo"))
        try await self.init([plan], title: "\(plan.name) in Lua")
    }

    /// - Parameter path: a deployment's policy.
    init(policy path: String) async throws {
        let policy = try PluginPolicy(file: path)
        try policy.check()
        guard !policy.running.isEmpty else { throw CommandFailure.usage("\(path): no plugin runs") }
        try await self.init(policy.plans, title: "the plugins of \(URL(fileURLWithPath: path).lastPathComponent)")
    }

    /// Refuses plugins that do not load, before the story begins.
    private init(_ plans: [PluginPlan], title: String) async throws {
        self.title = title
        self.plans = plans
        _ = try await loaded(over: nil)
    }

    /// Returns the plugins, loaded for one device. Their secrets have a worthless value.
    func loaded(over store: (any LocalStore)?) async throws -> Plugins {
        try await Plugins(
            plans,
            options: PluginOptions(
                store: store, secret: { "the demo's \($0)" }, tables: [DemoMovies.schema],
                decisionLogSize: Self.keptDecisions, keepsInputs: true))
    }

    /// Whether one of the plugins has the hook.
    func has(_ hook: HookKind) -> Bool { plans.contains { $0.mode != .off && $0.hooks[hook] != nil } }

    /// Returns the calls of each plugin's hooks, including hooks that were never called.
    func summary(of devices: [DemoDevice]) async -> [Line] {
        var figures: [PluginMetrics] = []
        for device in devices { if let plugins = device.plugins { figures.append(await plugins.metrics) } }
        return plans.filter { $0.mode != .off }.flatMap { plan in
            HookKind.allCases.filter { plan.hooks[$0] != nil }.map { hook in
                var line = Line(plugin: plan.name, hook: hook, calls: [:], decisions: [:])
                for found in figures.compactMap({ $0.hooks[plan.name]?[hook.rawValue] }) {
                    line.calls.merge(found.calls, uniquingKeysWith: +)
                    line.decisions.merge(found.decisions, uniquingKeysWith: +)
                }
                return line
            }
        }
    }

    /// Writes all decisions of the devices into a file, with their inputs, in the order of time.
    func write(_ devices: [DemoDevice], to path: String) async throws {
        var decisions: [PluginDecision] = []
        for device in devices { if let plugins = device.plugins { decisions += await plugins.decisions } }
        decisions.sort { ($0.at, $0.sequence) < ($1.at, $1.sequence) }
        for index in decisions.indices { decisions[index].sequence = index + 1 }
        try DecisionFile(decisions).append(to: path)
    }

    private static func parse(_ text: String) throws -> JSON {
        do {
            return try JSON(parsing: text)
        } catch {
            throw CommandFailure.usage("--plugin-config is no JSON: \(error)")
        }
    }
}

/// Finds plugins by their names: those of Sluice from any working directory.
enum BundledPlugins {
    /// Returns the folder of a plugin: one of that path, or of that name in a folder `Plugins`.
    ///
    /// - Throws: ``CommandFailure`` that names the searched places and Sluice's plugins.
    static func folder(_ name: String) throws -> String {
        let places = [name] + homes.map { "\($0)/\(name)" }
        if let found = places.first(where: { FileManager.default.fileExists(atPath: "\($0)/plugin.json") }) {
            return found
        }
        let known = homes.lazy.compactMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }.first ?? []
        let names = known.filter { !$0.contains(".") }.sorted().joined(separator: ", ")
        throw CommandFailure.usage(
            "there is no plugin in \(name) or Plugins/\(name)"
                + (names.isEmpty ? "" : "; in Plugins there are \(names)"))
    }

    /// The folder `Plugins` of the working directory, the one beside the program, and that of the program's sources.
    private static var homes: [String] {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return ["Plugins"] }
        var folder = program.deletingLastPathComponent()
        var homes = ["Plugins", folder.appendingPathComponent("Plugins").path]
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                homes.append(folder.appendingPathComponent("Plugins").path)
                break
            }
        }
        return homes
    }
}
