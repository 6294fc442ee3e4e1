public import SluiceCore

/// The outcome of recovering a damaged store: its new path, and the operations rescued into the new store.
public struct StoreRecovery: Sendable, Hashable {
    /// The damage, as SQLite describes it.
    public var damage: String
    /// The path of the damaged file; its log, if it had one, is beside it with `-wal` after the name.
    public var setAside: String
    /// The operations in the new store's queue. An operation whose record or base was not readable is parked with the
    /// reason `storeCorrupt`, to be looked at.
    public var operations: [TableOperation]
    /// Whether every record of the engine's tables was readable, so that no operation of the queue is missing.
    public var isQueueWhole: Bool
}
