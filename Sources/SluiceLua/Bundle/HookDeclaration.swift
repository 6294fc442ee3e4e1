public import SluiceCore

/// What a manifest says of one hook.
public struct HookDeclaration: Sendable, Hashable {
    /// What it is for.
    public var match: Match = .all
    /// Where it wants to stand, by the plugin's name.
    public var placement: Placement
    /// What becomes of its failure.
    public var onError: HookErrorPolicy
    /// What a call may cost.
    public var budget: HookBudget

    /// A hook of the plugin of that name, of which nothing is said.
    public init(_ kind: HookKind, of plugin: String) {
        placement = Placement(plugin)
        onError = kind.errorPolicy
        budget = kind.budget
    }
}
