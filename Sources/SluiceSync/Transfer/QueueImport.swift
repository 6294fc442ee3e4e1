/// What came of an import.
public struct QueueImport: Sendable, Hashable {
    /// How many operations are in the queue now that were not before.
    public var imported = 0
    /// How many were imported before, or are in the queue already.
    public var skipped = 0
}
