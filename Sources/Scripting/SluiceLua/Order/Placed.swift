/// A member of a chain with the place that it asks for: a plugin, or a filter in Swift beside the plugins.
///
/// ```swift
/// Placed(RequestLog(), placement: Placement("log", band: .observe))
/// ```
public struct Placed<Link: Sendable>: Sendable {
    /// The place that it asks for.
    public var placement: Placement
    /// The member itself.
    public var link: Link
    /// The narrowness of its match, which decides before the priority: ``Match/specificity``. Zero in every chain but
    /// that of conflicts.
    package var specificity: Int

    /// A link with its place.
    public init(_ link: Link, placement: Placement) { self.init(link, placement: placement, specificity: 0) }

    /// A link with its place and the narrowness of its match.
    package init(_ link: Link, placement: Placement, specificity: Int) {
        self.placement = placement
        self.link = link
        self.specificity = specificity
    }
}

/// A link in its place, with the reason for it.
public struct Ordered<Link: Sendable>: Sendable {
    /// The link, with its requested place.
    public let placed: Placed<Link>
    /// The reason for its place, for a person: `band late; after tenant; priority 10`.
    public let why: String

    /// The member itself.
    public var link: Link { placed.link }
    /// The name of the link.
    public var name: String { placed.placement.name }
}
