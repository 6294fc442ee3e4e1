public import SluiceCore

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
