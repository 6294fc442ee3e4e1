public import SluiceCore

/// A plugin before it is loaded: its bundle with the deployment's settings.
public struct PluginPlan: Sendable {
    /// The name in the deployment: the manifest's name, unless one bundle runs several times.
    public let name: String
    /// The content of the plugin's folder.
    public let bundle: PluginBundle
    /// The effect of its answers.
    public var mode: PluginMode
    /// The configuration, checked and with the defaults filled in: the script's `ctx.config`.
    public var config: JSON
    /// The deployment that it runs in.
    public var deployment: Deployment
    /// The memory limit of its VM, in bytes.
    public var memoryBytes: Int
    /// The hooks, in the order of ``HookKind``.
    public var hooks: [HookKind: HookPlan]
    /// The limits of the top level of `main.lua`, and of `init` after it.
    public var loadBudget: HookBudget {
        get { hooks[.initialize]?.budget ?? topLevelBudget }
        set {
            topLevelBudget = newValue
            hooks[.initialize]?.budget = newValue
        }
    }
    private var topLevelBudget = HookKind.initialize.budget
    /// Its permissions: those of the manifest, with the hosts and secrets that the configuration names.
    public var permissions: PluginPermissions

    /// The version of the release that it came with; nil for an installed policy.
    package var release: Int?

    /// The bundle's manifest.
    public var manifest: PluginManifest { bundle.manifest }
    /// The names of all secrets that the script may use: those of the manifest and of the configuration.
    public var secrets: Set<String> { Set(permissions.secrets) }

    /// The memory limit of a VM in bytes, unless a policy lowers it.
    public static let defaultMemoryBytes = 8 << 20

    /// Creates a plan from a bundle and a configuration, without a policy.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the configuration violates the schema.
    public init(
        _ bundle: PluginBundle, config: JSON = .object, deployment: Deployment = Deployment(),
        mode: PluginMode = .enforce
    ) throws(SluiceError) {
        do throws(ConfigFault) {
            self.init(
                bundle, name: bundle.manifest.name, filled: try bundle.manifest.configSchema.fill(config), deployment,
                mode)
        } catch {
            throw SluiceError(.invalidArgument, error.message(in: "config of \(bundle.manifest.name)"))
        }
    }

    fileprivate init(_ plan: PluginPlan, named name: String) {
        (self.name, bundle, mode, config, deployment) = (name, plan.bundle, plan.mode, plan.config, plan.deployment)
        (memoryBytes, hooks, permissions) = (plan.memoryBytes, plan.hooks, plan.permissions)
        (topLevelBudget, release) = (plan.topLevelBudget, plan.release)
    }

    init(
        _ bundle: PluginBundle, name: String, filled: ConfigSchema.Filled, _ deployment: Deployment,
        _ mode: PluginMode
    ) {
        self.bundle = bundle
        self.name = name
        self.mode = mode
        self.deployment = deployment
        config = filled.json
        permissions = bundle.manifest.permissions
        permissions.secrets = filled.secrets.union(permissions.secrets).sorted()
        permissions.http = permissions.http.compactMap { host in
            // A property in braces stands for the host of its address; without a value it adds no host.
            host.hasPrefix("{") ? filled.hosts[String(host.dropFirst().dropLast())] : host
        }
        memoryBytes = Self.defaultMemoryBytes
        hooks = [:]
        for (kind, declaration) in bundle.manifest.hooks {
            var placement = declaration.placement
            placement.name = name
            hooks[kind] = HookPlan(
                kind: kind, placement: placement, match: declaration.match.bound(to: deployment.labels),
                onError: declaration.onError, budget: declaration.budget,
                takesEqualEdits: declaration.takesEqualEdits)
        }
    }
}

/// The deployment of plugins, for matches and for `ctx.deployment` in scripts.
public struct Deployment: Sendable, Hashable {
    /// The deployment's name.
    public var id: String?
    /// Labels that describe it: `["ring": "canary"]`.
    public var labels: [String: String]

    /// Creates a deployment.
    public init(id: String? = nil, labels: [String: String] = [:]) {
        self.id = id
        self.labels = labels
    }
}

extension PluginPlan {
    /// Returns the plugin as a shadow beside the one of its name: it is asked first, so that it gets the same input, and
    /// has no effect.
    ///
    /// - Parameter others: the names of the plugins that serve. Order among others is lost.
    package func shadow(named shadow: String, beside others: Set<String>) -> PluginPlan {
        var copy = PluginPlan(self, named: shadow)
        copy.mode = .shadow
        for kind in copy.hooks.keys {
            copy.hooks[kind]?.placement.name = shadow
            let before = copy.hooks[kind]?.placement.before.filter { $0 != name && others.contains($0) } ?? []
            copy.hooks[kind]?.placement.before = others.contains(name) ? before + [name] : before
            copy.hooks[kind]?.placement.after.removeAll { !others.contains($0) || $0 == name }
        }
        return copy
    }

    /// The name, the content and the settings in one text: plugins of equal identity do the same.
    package var identity: String { "\(name) \(release ?? 0) \(bundle.digest) \(mode.rawValue) \(config)" }

    /// The content, the settings and the deployment's labels in one text, which decide the shape of records; nil for a
    /// plugin without effect.
    var shape: String? {
        guard mode == .enforce else { return nil }
        return "\(name) \(bundle.digest) \(config) \(deployment.labels.sorted { $0.key < $1.key })"
    }

    /// Returns the plugin's hooks in a chain.
    public func hooks(in chain: HookChain) -> [HookPlan] { chain.hooks.compactMap { hooks[$0] } }

    /// Whether the plugin handles requests to that table of a server, or conflicts in it.
    package func isAround(table: String) -> Bool {
        mode != .off
            && (hooks(in: .table) + hooks(in: .conflict)).contains { $0.match.isPossible && $0.isFor(table: table) }
    }

    /// Returns the plugin's matches in a chain. In the chain `http` they are reduced to the conditions known before the
    /// answer.
    public func matches(in chain: HookChain) -> [Match] {
        hooks(in: chain).map { chain == .http ? $0.match.beforeAnswer : $0.match }.filter(\.isPossible)
    }

    /// Returns the plugin with its place in a chain; nil if it has no hook there.
    public func placed(in chain: HookChain) -> Placed<PluginPlan?>? {
        guard let hook = hooks(in: chain).first else { return nil }
        return Placed(
            self, placement: hook.placement, specificity: chain == .conflict ? hook.match.specificity : 0)
    }
}

/// The effect of a plugin's answers.
public enum PluginMode: String, Sendable, Hashable, CaseIterable {
    /// Answers take effect.
    case enforce
    /// The plugin runs and its decisions are logged, but they have no effect.
    case shadow
    /// The plugin does not run.
    case off
}

/// One hook of a plugin as it runs: the manifest's declaration, overridden by the policy.
public struct HookPlan: Sendable, Hashable {
    /// The hook.
    public let kind: HookKind
    /// Its place in the chain.
    public var placement: Placement
    /// The requests or records that the hook is for, with the deployment's labels applied.
    public var match: Match
    /// The tables to which the policy restricts it; all by default.
    public var only: Match = .all
    /// The effect of a failure.
    public var onError: HookErrorPolicy
    /// The limits of a call.
    public var budget: HookBudget
    /// Whether `on_conflict` is asked about a change that the server has from another already.
    var takesEqualEdits = false

    /// Whether the hook is for the request or record.
    func matches(_ subject: MatchSubject) -> Bool { match.matches(subject) && only.matches(subject) }

    /// Whether the hook may be for a request or record of that table.
    func isFor(table: String) -> Bool { match.isFor(table: table) && only.isFor(table: table) }
}
