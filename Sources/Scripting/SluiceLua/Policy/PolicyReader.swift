internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore

/// Reads a policy and its bundles.
struct PolicyReader {
    private static let maximumPlugins = 256
    private static let maximumLabels = 64

    private(set) var deployment = Deployment()
    private(set) var decisionLog: DecisionLog?
    private(set) var plans: [PluginPlan] = []
    private(set) var places: [String: String] = [:]

    /// - Parameters:
    ///   - bundles: bundles by the plugins' names; they replace the folders named in the file, none of which is read.
    ///   - device: the deployment in place of the file's own.
    init(
        _ file: ConfigurationFile, folder: String, bundles: [String: PluginBundle]? = nil, _ device: Deployment? = nil
    ) throws(SluiceError) {
        let members = try file.root().named("the policy").members(["deployment", "mode", "decisions", "plugins"])
        if let node = members["deployment"] { deployment = try Self.deployment(node) }
        if let device { deployment = device }
        decisionLog = try members["decisions"].map { node throws(SluiceError) in
            try DecisionLogReader.log(node, folder: folder)
        }
        let mode = try members["mode"].map(Self.mode) ?? .enforce
        let entries = try members["plugins"]?.entries() ?? []
        if let plugins = members["plugins"], entries.count > Self.maximumPlugins {
            throw plugins.refusal("expected at most \(Self.maximumPlugins) plugins")
        }
        var names: [String: ConfigurationNode] = [:]
        for (name, value) in entries {
            let place = value.key
            guard PluginManifest.isName(name) else {
                throw place.refusal(
                    "a plugin's name has small letters, digits and \"-\" between dots, at most 64, such as stock")
            }
            names[name] = place
            places[name] = place.location
            if let bundles, bundles[name] == nil {
                throw place.refusal("there are no files of the plugin \(name)")
            }
            var reader = try PluginEntryReader(
                name, value, folder: folder, bundle: bundles?[name], deployment: deployment)
            reader.limit(to: mode)
            plans.append(try reader.finished())
        }
        plans.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        try checkNeighbours(names)
    }

    static func mode(_ node: ConfigurationNode) throws(SluiceError) -> PluginMode {
        try node.choice(PluginMode.self)
    }

    private static func deployment(_ node: ConfigurationNode) throws(SluiceError) -> Deployment {
        let members = try node.members(["id", "labels"])
        var deployment = Deployment(id: try members["id"]?.text())
        let labels = try members["labels"]?.entries() ?? []
        if let node = members["labels"], labels.count > maximumLabels {
            throw node.refusal("expected at most \(maximumLabels) labels")
        }
        for (name, value) in labels { deployment.labels[name] = try value.text() }
        return deployment
    }

    /// Refuses plugins that declare a conflict with each other.
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

/// Reads a policy's entry of one plugin, which overrides the manifest.
struct PluginEntryReader {
    private let place: ConfigurationNode
    private var plan: PluginPlan

    init(
        _ name: String, _ node: ConfigurationNode, folder: String, bundle: PluginBundle? = nil, deployment: Deployment
    ) throws(SluiceError) {
        place = node.key
        let members = try node.members([
            "path", "mode", "config", "tables", "disabled", "order", "memory", "hooks", "withhold",
        ])
        guard let path = members["path"] else {
            throw place.refusal("the key path is missing: the plugin's folder, such as path: plugins/\(name)")
        }
        let bundle = if let bundle { bundle } else { try Self.bundle(path, in: folder) }
        let mode = try members["mode"].map(PolicyReader.mode) ?? .enforce
        plan = PluginPlan(
            bundle, name: name, filled: try Self.config(members["config"], of: bundle, place), deployment, mode)
        if let order = members["order"] {
            for kind in plan.hooks.keys where kind.chain != nil { try readOrder(order, kind) }
        }
        if let memory = members["memory"] { plan.memoryBytes = try Self.memory(memory) }
        if let hooks = members["hooks"] { try readHooks(hooks) }
        if let changes = members["withhold"] { try withhold(changes) }
        if let tables = members["tables"] { try narrow(to: tables) }
        if let disabled = members["disabled"] { try disable(disabled) }
    }

    /// Lowers the mode to at most that one.
    mutating func limit(to mode: PluginMode) {
        if mode == .off || plan.mode == .off { plan.mode = .off } else if mode == .shadow { plan.mode = .shadow }
    }

    /// Returns the plan if all hooks of each chain have one place.
    func finished() throws(SluiceError) -> PluginPlan {
        for chain in HookChain.allCases {
            let hooks = plan.hooks(in: chain)
            guard Set(hooks.map(\.placement)).count > 1 else { continue }
            let names = hooks.map(\.kind.rawValue).joined(separator: " and ")
            throw place.refusal("\(names) of \(plan.name) stand in one place: give them one order")
        }
        return plan
    }

    private static func bundle(_ node: ConfigurationNode, in folder: String) throws(SluiceError) -> PluginBundle {
        let path = try node.text()
        let absolute = path.hasPrefix("/") ? path : URL(fileURLWithPath: folder).appendingPathComponent(path).path
        do throws(SluiceError) {
            return try PluginBundle(folder: absolute)
        } catch {
            throw node.refusal(error.message)
        }
    }

    private static func config(
        _ node: ConfigurationNode?, of bundle: PluginBundle, _ place: ConfigurationNode
    ) throws(SluiceError) -> ConfigSchema.Filled {
        let isGiven = node.map { !$0.isNull } ?? false
        let json = isGiven ? try node?.json() ?? .object : .object
        do throws(ConfigFault) {
            return try bundle.manifest.configSchema.fill(json)
        } catch {
            throw (node?.nearest(to: error.path) ?? place).refusal(error.message(in: "config"))
        }
    }

    /// Reads the memory limit: a size in bytes, or one with `KiB` or `MiB` after it.
    private static func memory(_ node: ConfigurationNode) throws(SluiceError) -> Int {
        let text = try node.text()
        let range = (256 << 10)...PluginPlan.defaultMemoryBytes
        guard let bytes = ByteSize.bytes(text), range.contains(bytes)
        else { throw node.refusal("memory must be a size from 256KiB to 8MiB: limits are lowered only") }
        return bytes
    }

    /// Restricts the plugin to those of its manifest's tables.
    private mutating func narrow(to node: ConfigurationNode) throws(SluiceError) {
        let kinds = plan.hooks.keys.filter { $0.conditions.contains(.tables) }
        var tables: [String] = []
        for item in try node.items() {
            let table = try item.text()
            let isName = !table.contains("*") && !table.contains("?")
            if isName, !kinds.contains(where: { plan.hooks[$0]?.match.isFor(table: table) == true }) {
                throw item.refusal(
                    "\(plan.name) is not for \(table): its manifest names other tables, and a policy adds none")
            }
            tables.append(table)
        }
        guard !tables.isEmpty else { throw node.refusal("expected a table; mode: off leaves the plugin out") }
        do throws(SluiceError) {
            let match = try Match(tables: tables)
            for kind in kinds { plan.hooks[kind]?.only = match }
        } catch {
            throw node.refusal(error.message)
        }
    }

    /// Withdraws permissions to change something that the manifest asks for.
    private mutating func withhold(_ node: ConfigurationNode) throws(SluiceError) {
        for item in try node.items() {
            let change = try item.choice(of: ChangePermission.allCases.map(\.rawValue))
            guard plan.permissions.change.contains(change) else {
                throw item.refusal("\(plan.name) does not ask for the permission change: \(change)")
            }
            plan.permissions.change.removeAll { $0 == change }
        }
    }

    private mutating func disable(_ node: ConfigurationNode) throws(SluiceError) {
        var tables: [String] = []
        for item in try node.items() { tables.append(try item.text()) }
        for kind in plan.hooks.keys {
            do throws(SluiceError) {
                if let match = try plan.hooks[kind]?.match.excluding(tables: tables) { plan.hooks[kind]?.match = match }
            } catch {
                throw node.refusal(error.message)
            }
        }
    }

    private mutating func readHooks(_ node: ConfigurationNode) throws(SluiceError) {
        for (name, value) in try node.entries() {
            // The limits of init also apply to the top level of main.lua, which every plugin has.
            guard let kind = HookKind(rawValue: name), kind == .initialize || plan.hooks[kind] != nil else {
                let names = HookKind.allCases.filter { plan.hooks[$0] != nil }.map(\.rawValue)
                let hint =
                    NearestKey.suggestion(for: name, among: names) ?? "; it has \(names.joined(separator: ", "))"
                throw value.key.refusal("\(plan.name) has no hook \(name)\(hint)")
            }
            let members = try value.members(kind.chain == nil ? ["limits"] : ["order", "on_error", "limits"])
            if let order = members["order"] { try readOrder(order, kind) }
            if let node = members["on_error"] {
                let name = try node.choice(of: kind.errorPolicies.map(\.rawValue))
                if let policy = HookErrorPolicy(rawValue: name) { plan.hooks[kind]?.onError = policy }
            }
            if let limits = members["limits"] { try readLimits(limits, kind) }
        }
    }

    private mutating func readLimits(_ node: ConfigurationNode, _ kind: HookKind) throws(SluiceError) {
        guard var budget = kind == .initialize ? plan.loadBudget : plan.hooks[kind]?.budget else { return }
        let members = try node.members(HookLimit.names(of: kind))
        for limit in HookLimit.allCases {
            guard let node = members[limit.rawValue] else { continue }
            if let reason = limit.lower(&budget, to: try node.json()) {
                throw node.refusal("\(limit.rawValue) of \(kind.rawValue) must be \(reason)")
            }
        }
        if kind == .initialize { plan.loadBudget = budget } else { plan.hooks[kind]?.budget = budget }
    }

    private mutating func readOrder(_ node: ConfigurationNode, _ kind: HookKind) throws(SluiceError) {
        guard var placement = plan.hooks[kind]?.placement else { return }
        let members = try node.members(["band", "before", "after", "priority"])
        if let band = members["band"] {
            placement.band = try band.choice(FilterBand.self)
        }
        if let before = members["before"] { placement.before = try Self.names(before) }
        if let after = members["after"] { placement.after = try Self.names(after) }
        if let priority = members["priority"] {
            placement.priority = try priority.integer(in: -1_000_000...1_000_000)
        }
        plan.hooks[kind]?.placement = placement
    }

    private static func names(_ node: ConfigurationNode) throws(SluiceError) -> [String] {
        let items = try node.items()
        guard items.count <= Placement.maximumNames else {
            throw node.refusal("\(node.name) has at most \(Placement.maximumNames) names")
        }
        var names: [String] = []
        for item in items { names.append(try item.text()) }
        return names
    }
}
