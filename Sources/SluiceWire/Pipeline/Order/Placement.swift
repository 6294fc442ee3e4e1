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
