public import SluiceCore

/// What became of a damaged store: where it stands now, and what was rescued of it into the new one.
public struct StoreRecovery: Sendable, Hashable {
    /// What was found, in SQLite's words.
    public var damage: String
    /// Where the damaged file stands now; its log, where it had one, beside it with `-wal` after the name.
    public var setAside: String
    /// The operations that are in the new store's queue. One whose record or base was not readable is parked with the
    /// reason `storeCorrupt`, to be looked at.
    public var operations: [TableOperation]
    /// Whether every record of the engine's tables was readable, so that nothing of the queue is missing.
    public var isQueueWhole: Bool
}
