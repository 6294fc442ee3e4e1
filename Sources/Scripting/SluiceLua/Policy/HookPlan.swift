public import SluiceCore

/// One hook of a plugin as it runs: what the manifest says, with the policy's word over it.
public struct HookPlan: Sendable, Hashable {
    /// The hook.
    public let kind: HookKind
    /// Where it stands in its chain.
    public var placement: Placement
    /// What it is for, bound to the deployment.
    public var match: Match
    /// The tables that the policy leaves of those; all where it says nothing.
    public var only: Match = .all
    /// What becomes of its failure.
    public var onError: HookErrorPolicy
    /// What a call may cost.
    public var budget: HookBudget

    /// Whether the hook is for it.
    func matches(_ subject: MatchSubject) -> Bool { match.matches(subject) && only.matches(subject) }

    /// Whether the hook can be for something of that table.
    func isFor(table: String) -> Bool { match.isFor(table: table) && only.isFor(table: table) }
}
