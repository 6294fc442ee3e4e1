/// Bounds of pulls, and when they reconcile.
public struct PullOptions: Sendable, Hashable {
    /// How many pages a pull brings at the most, and how many may bring nothing new; then it ends with an error of code
    /// `limitReached`, and the next goes on from there. Default 100,000.
    public var maximumPages = 100_000
    /// How many rows a pull brings at the most, likewise. Default 10,000,000.
    public var maximumRows = 10_000_000
    /// A pull or reconcile that would remove more rows than this, and more than ``maximumRemovedPercent``, ends with an
    /// error of code `removalsHeld` and removes none of those at hand, until it is allowed. Default 100.
    public var maximumRemovedRows = 100
    /// The share of a table's rows, in percent, that a pull or reconcile may remove unasked. Default 50.
    public var maximumRemovedPercent = 50
    /// After how many pulls under one name a pull ends with a reconcile; nil reconciles only where it has to be (after
    /// a change of the query, and after a token that the server no longer knew) and on demand. Default nil.
    public var reconcileEvery: Int?

    /// The defaults.
    public init() {}
}
