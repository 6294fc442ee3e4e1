internal import SluiceCore

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

    /// Whether the hook is for the request or record.
    func matches(_ subject: MatchSubject) -> Bool { match.matches(subject) && only.matches(subject) }

    /// Whether the hook may be for a request or record of that table.
    func isFor(table: String) -> Bool { match.isFor(table: table) && only.isFor(table: table) }
}
