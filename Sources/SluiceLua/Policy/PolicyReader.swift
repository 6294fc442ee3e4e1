internal import SluiceConfiguration
internal import SluiceCore

/// Reads a policy, and the bundles that it names.
struct PolicyReader {
    private static let maximumPlugins = 256
    private static let maximumLabels = 64

    private(set) var deployment = Deployment()
    private(set) var decisionLog: DecisionLog?
    private(set) var plans: [PluginPlan] = []
    private(set) var places: [String: String] = [:]

    /// - Parameter bundles: bundles by the plugins' names, in the place of the folders that the file names.
    init(
        _ file: ConfigurationFile, folder: String, bundles: [String: PluginBundle] = [:]
    ) throws(SluiceError) {
        let members = try file.root().named("the policy").members(["deployment", "mode", "decisions", "plugins"])
        if let node = members["deployment"] { deployment = try Self.deployment(node) }
        decisionLog = try members["decisions"].map { node throws(SluiceError) in
            try DecisionLogReader.log(node, folder: folder)
        }
        let mode = try members["mode"].map(Self.mode) ?? .enforce
        let entries = try members["plugins"]?.entries() ?? []
        if let plugins = members["plugins"], entries.count > Self.maximumPlugins {
            throw plugins.refusal("expected at most \(Self.maximumPlugins) plugins")
        }
        var names: [String: ConfigurationNode] = [:]
        for (name, place, value) in entries {
            guard PluginManifest.isName(name) else {
                throw place.refusal(
                    "a plugin's name has small letters, digits and \"-\" between dots, at most 64, such as stock")
            }
            names[name] = place
            places[name] = place.place
            var reader = try PluginEntryReader(
                name, value, place, folder: folder, bundle: bundles[name], deployment: deployment)
            reader.limit(to: mode)
            plans.append(try reader.finished())
        }
        plans.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        try checkNeighbours(names)
    }

    static func mode(_ node: ConfigurationNode) throws(SluiceError) -> PluginMode {
        PluginMode(rawValue: try node.choice(of: PluginMode.allCases.map(\.rawValue))) ?? .off
    }

    private static func deployment(_ node: ConfigurationNode) throws(SluiceError) -> Deployment {
        let members = try node.members(["id", "labels"])
        var deployment = Deployment(id: try members["id"]?.text())
        let labels = try members["labels"]?.entries() ?? []
        if let node = members["labels"], labels.count > maximumLabels {
            throw node.refusal("expected at most \(maximumLabels) labels")
        }
        for (name, _, value) in labels { deployment.labels[name] = try value.text() }
        return deployment
    }

    /// Refuses plugins that say they cannot run beside each other.
    private func checkNeighbours(_ names: [String: ConfigurationNode]) throws(SluiceError) {
        let running = plans.filter { $0.mode != .off }
        for plan in running {
            for other in running where other.name != plan.name {
                let isReplaced = plan.manifest.replaces.contains(other.manifest.name)
                guard isReplaced || plan.manifest.conflicts.contains(other.manifest.name) else { continue }
                let reason =
                    isReplaced
                    ? "\(plan.name) stands in the place of \(other.name)"
                    : "\(plan.name) cannot run beside \(other.name)"
                throw names[plan.name]?.refusal("\(reason); set mode: off for one of them")
                    ?? SluiceError(.invalidArgument, reason)
            }
        }
    }
}
