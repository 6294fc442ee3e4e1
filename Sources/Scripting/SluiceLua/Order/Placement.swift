/// The requested place of a link in a chain of plugins: its band, then its `before` and `after`, then its priority,
/// then its name. The request passes the links in that order, the answer in the reverse one.
///
/// ```swift
/// Placement("trace", band: .late, after: ["tenant"])
/// ```
public struct Placement: Sendable, Hashable {
    /// The maximum number of names in ``before`` and in ``after``.
    public static let maximumNames = 64

    /// The name by which other links refer to this one. It is unique in a chain.
    public var name: String
    /// The band. Default ``FilterBand/default``.
    public var band: FilterBand
    /// The links that come after this one, of the same band or a later one.
    public var before: [String]
    /// The links that come before this one, of the same band or an earlier one.
    public var after: [String]
    /// The priority between two links that nothing else orders: the higher number goes first.
    public var priority: Int

    /// A placement.
    public init(
        _ name: String, band: FilterBand = .default, before: [String] = [], after: [String] = [], priority: Int = 0
    ) {
        self.name = name
        self.band = band
        self.before = before
        self.after = after
        self.priority = priority
    }
}

/// A section of the chain of filters. All filters of one band are outside of all filters of the next.
public enum FilterBand: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Filters for the identity of the caller: tokens, signatures, tenants.
    case auth
    /// Filters that have to see the request before the others change it.
    case early
    /// Filters without a declared place.
    case `default`
    /// Filters that have to see the request after the others have changed it.
    case late
    /// Filters that only observe: counters, traces, logs.
    case observe

    /// Whether the band is outside of the other.
    public static func < (left: FilterBand, right: FilterBand) -> Bool { left.index < right.index }

    private var index: Int {
        switch self {
        case .auth: 0
        case .early: 1
        case .default: 2
        case .late: 3
        case .observe: 4
        }
    }
}

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
