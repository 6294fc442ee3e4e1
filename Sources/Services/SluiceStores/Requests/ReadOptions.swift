/// What a reader wants beside the records.
public struct ReadOptions: Sendable, Hashable {
    /// What is done with a read that no defining request covers; nil leaves it to the store and its mode.
    public var uncovered: UncoveredPolicy?

    /// Options; each has a default.
    public init(uncovered: UncoveredPolicy? = nil) { self.uncovered = uncovered }
}

/// What is done with a read that the local store cannot answer completely, where the service cannot be asked.
public enum UncoveredPolicy: String, Sendable, Hashable, CaseIterable {
    /// The read fails with `notCovered`, and the message says which defining request is missing.
    case fail
    /// The records that are here are given, marked as ``StoreResult/Source/localPartial``.
    case partial
}
