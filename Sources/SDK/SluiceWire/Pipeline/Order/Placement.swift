/// Where a link of a chain wants to stand: its band, then what it stands before and after, then its priority, then its
/// name. The request passes the links in that order, the answer in the reverse one.
///
/// ```swift
/// Placement("trace", band: .late, after: ["tenant"])
/// ```
public struct Placement: Sendable, Hashable {
    /// How many names ``before`` and ``after`` may each have.
    public static let maximumNames = 64

    /// The name by which other links name their place. No two links of one chain have the same.
    public var name: String
    /// The band. Default ``FilterBand/default``.
    public var band: FilterBand
    /// The links of the same band that stand after this one, or of a later band.
    public var before: [String]
    /// The links of the same band that stand in front of this one, or of an earlier band.
    public var after: [String]
    /// Which of two links goes first that nothing else puts in an order: the one with the higher number.
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

/// A stretch of the chain of filters. All that stands in one band is outside of all that stands in the next.
public enum FilterBand: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Who asks: tokens, signatures, tenants.
    case auth
    /// What has to see the request before the others change it.
    case early
    /// Everything that declares no place.
    case `default`
    /// What has to see the request as the others have left it.
    case late
    /// What only looks: counters, traces, logs.
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
