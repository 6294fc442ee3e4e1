internal import Foundation
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// The plugins that take part in the demo with all their hooks: those of a policy, or a single one.
struct DemoPlugins: Sendable {
    /// What one hook of one plugin was asked on both devices.
    struct Line: Sendable {
        var plugin: String
        var hook: HookKind
        /// How many calls came to an end, by outcome: `ok`, or why they failed.
        var calls: [String: Int]
        /// How many decisions of each name there were.
        var decisions: [String: Int]

        var asked: Int { calls.values.reduce(0, +) }
    }

    /// What the story calls them.
    let title: String
    /// The plugins that run.
    let plans: [PluginPlan]

    /// How many decisions are kept: a line that fails makes more than an application would look at.
    private static let keptDecisions = 20_000
    /// Left to itself, this merge leaves a field that both changed to the next handler.
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

    /// Refuses plugins that do not load, before anything is told.
    private init(_ plans: [PluginPlan], title: String) async throws {
        self.title = title
        self.plans = plans
        _ = try await loaded(over: nil)
    }

    /// The plugins, loaded for one device. A secret has a value that is good for nothing.
    func loaded(over store: (any LocalStore)?) async throws -> Plugins {
        try await Plugins(
            plans,
            options: PluginOptions(
                store: store, secret: { "the demo's \($0)" }, tables: [DemoMovies.schema],
                decisionLogSize: Self.keptDecisions, keepsInputs: true))
    }

    /// Whether one of them has the hook.
    func has(_ hook: HookKind) -> Bool { plans.contains { $0.mode != .off && $0.hooks[hook] != nil } }

    /// What each hook of each plugin was asked, those that nobody asked with the others.
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

    /// Writes all that was decided on the devices into a file, with what it was decided on, in the order of time.
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

/// Where plugins are found by their names: those that come with Sluice from wherever the program is called.
enum BundledPlugins {
    /// The folder of a plugin: one of that path, or of that name in a folder `Plugins`.
    ///
    /// - Throws: ``CommandFailure`` that names the places and the plugins that come with Sluice.
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

    /// The folder `Plugins` of the working directory, the one beside the program, and that of the sources that the
    /// program was built in.
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
