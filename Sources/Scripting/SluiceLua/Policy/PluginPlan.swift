public import SluiceCore

/// All that is known of a plugin before it runs: its bundle, with what the deployment makes of it.
public struct PluginPlan: Sendable {
    /// The name that the deployment knows it by: that of the manifest, unless one bundle runs several times.
    public let name: String
    /// The plugin's folder, read.
    public let bundle: PluginBundle
    /// How far its answers reach.
    public var mode: PluginMode
    /// The configuration, checked and with the defaults filled in: what the script sees as `ctx.config`.
    public var config: JSON
    /// Where it runs.
    public var deployment: Deployment
    /// The most that its VM may hold, in bytes.
    public var memoryBytes: Int
    /// The hooks, in the order of ``HookKind``.
    public var hooks: [HookKind: HookPlan]
    /// What the top level of `main.lua` may cost, and after it `init`, where there is one.
    public var loadBudget: HookBudget {
        get { hooks[.initialize]?.budget ?? topLevelBudget }
        set {
            topLevelBudget = newValue
            hooks[.initialize]?.budget = newValue
        }
    }
    private var topLevelBudget = HookKind.initialize.budget
    /// What it may reach: what the manifest asks for, the hosts and secrets that the configuration names among it.
    public var permissions: PluginPermissions

    /// What the bundle says of itself.
    public var manifest: PluginManifest { bundle.manifest }
    /// The names of all secrets that the script may use: those of the manifest, and those that the configuration names.
    public var secrets: Set<String> { Set(permissions.secrets) }

    /// The most that a VM may hold, in bytes, where nothing lowers it.
    public static let defaultMemoryBytes = 8 << 20

    /// A plugin as its bundle has it, with nothing of a policy but the configuration.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where the configuration is not as the schema says.
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
            // A property in braces stands for the host of its address; without a value for none.
            host.hasPrefix("{") ? filled.hosts[String(host.dropFirst().dropLast())] : host
        }
        memoryBytes = Self.defaultMemoryBytes
        hooks = [:]
        for (kind, declaration) in bundle.manifest.hooks {
            var placement = declaration.placement
            placement.name = name
            hooks[kind] = HookPlan(
                kind: kind, placement: placement, match: declaration.match.bound(to: deployment.labels),
                onError: declaration.onError, budget: declaration.budget)
        }
    }
}

/// Where plugins run, as matches ask and as scripts see it in `ctx.deployment`.
public struct Deployment: Sendable, Hashable {
    /// The deployment's name.
    public var id: String?
    /// What it says of itself: `["ring": "canary"]`.
    public var labels: [String: String]

    /// A deployment.
    public init(id: String? = nil, labels: [String: String] = [:]) {
        self.id = id
        self.labels = labels
    }
}

extension PluginPlan {
    /// The hooks that the plugin has in a chain.
    public func hooks(in chain: HookChain) -> [HookPlan] { chain.hooks.compactMap { hooks[$0] } }

    /// What the plugin is for in a chain: what one of the matches names. In the chain `http` they are as far as they
    /// are known before the answer.
    public func matches(in chain: HookChain) -> [Match] {
        hooks(in: chain).map { chain == .http ? $0.match.beforeAnswer : $0.match }.filter(\.isPossible)
    }

    /// The plugin with its place in a chain; nil where it has no hook in it.
    public func placed(in chain: HookChain) -> Placed<PluginPlan?>? {
        guard let hook = hooks(in: chain).first else { return nil }
        return Placed(self, placement: hook.placement, match: hook.match)
    }
}
