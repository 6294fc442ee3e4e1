/// A chain of links of which a plugin is one at the most, and in which hooks of Swift stand too.
public enum HookChain: String, Sendable, Hashable, CaseIterable {
    /// Requests and answers: `filter`, `request`, `response`.
    case http
    /// `before_enqueue`.
    case enqueue
    /// `before_push`.
    case push
    /// `on_conflict`. Here the narrowest match goes first.
    case conflict
    /// `on_push_error`.
    case pushError = "push-error"
    /// `after_pull`, `after_pull_page`.
    case pull
    /// `on_schedule`.
    case schedule
    /// `on_event`.
    case event

    /// The hooks of the chain.
    public var hooks: [HookKind] { HookKind.allCases.filter { $0.chain == self } }
}
