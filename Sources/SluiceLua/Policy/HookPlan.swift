public import SluiceCore

/// One hook of a plugin as it runs: what the manifest says, with the policy's word over it.
public struct HookPlan: Sendable, Hashable {
    /// The hook.
    public let kind: HookKind
    /// Where it stands in its chain.
    public var placement: Placement
    /// What it is for, bound to the deployment.
    public var match: Match
    /// What becomes of its failure.
    public var onError: HookErrorPolicy
    /// What a call may cost.
    public var budget: HookBudget
}
