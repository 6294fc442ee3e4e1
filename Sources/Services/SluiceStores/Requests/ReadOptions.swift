/// Options of a read.
public struct ReadOptions: Sendable, Hashable {
    /// The policy for a read that no defining request covers; nil for the store's and its mode's.
    public var uncovered: UncoveredPolicy?

    /// Creates options; each has a default.
    public init(uncovered: UncoveredPolicy? = nil) { self.uncovered = uncovered }
}

/// The policy for a read that the local store cannot answer completely when the service cannot be asked.
public enum UncoveredPolicy: String, Sendable, Hashable, CaseIterable {
    /// The read fails with `notCovered`, and the message names the missing defining request.
    case fail
    /// The local records are returned, marked as ``StoreResult/Source/localPartial``.
    case partial
}
