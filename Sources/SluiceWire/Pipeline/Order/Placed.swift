/// Something that stands in a chain: a filter in Swift, a plugin, a conflict handler.
public struct Placed<Link: Sendable>: Sendable {
    /// Where it wants to stand.
    public var placement: Placement
    /// What it is for.
    public var match: Match
    /// The thing itself.
    public var link: Link

    /// A link with its place.
    public init(_ link: Link, placement: Placement, match: Match = .all) {
        self.link = link
        self.placement = placement
        self.match = match
    }
}

/// A link where it stands, and why there.
public struct Ordered<Link: Sendable>: Sendable {
    /// The link, with the place that it asked for.
    public let placed: Placed<Link>
    /// Why it stands where it does, for a person: `band late; after tenant; priority 10`.
    public let why: String

    /// The thing itself.
    public var link: Link { placed.link }
    /// Its name.
    public var name: String { placed.placement.name }
}
