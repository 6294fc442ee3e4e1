internal import CSQLite
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

extension SQLiteStore {
    /// Checks a store and opens it. A damaged store is set aside under a name with the time in it. The readable part of
    /// its queue is rescued into a new store in its place, with tables that are empty until they are pulled.
    ///
    /// The whole file is read, about a second for 200 MB. Other connections to a damaged store can no longer write to
    /// it, and get `storeClosed`: they have to open it again.
    ///
    /// ```swift
    /// let (store, recovery) = try await SQLiteStore.openOrRecover(path: "todos.db")
    /// if let recovery {
    ///     print("the store was damaged and is now \(recovery.setAside)")
    ///     print("\(recovery.operations.count) changes were rescued, whole: \(recovery.isQueueWhole)")
    /// }
    /// ```
    ///
    /// - Returns: the store, and the recovery if it was damaged.
    /// - Throws: ``SluiceError`` as ``init(path:encryption:options:)``: a database of another program or of a newer format is not
    ///   damaged, and is left as it is. `storeBusy` if another process synchronises the store.
    public static func openOrRecover(
        path: String, encryption: StoreEncryption? = nil, options: Options = Options()
    ) async throws -> (store: SQLiteStore, recovery: StoreRecovery?) {
        func opened() throws -> SQLiteStore { try SQLiteStore(path: path, encryption: encryption, options: options) }
        let file = SQLiteStoreFile(path: resolved(path), options: options)
        guard !file.isInMemory, options.readers > 0 else { return (try opened(), nil) }
        guard let lease = try LeaseFile(path: file.path + "-lease").take() else {
            throw SluiceError(.storeBusy, "another process synchronises the store \(path); try again when it is done")
        }
        defer { lease.release() }
        // One lock for all of it: nobody writes to the store between reading and replacing it.
        let recovery = try StoreLock(path: file.path, timeout: options.busyTimeout).hold {
            try DamagedStore.recover(file, encryption)
        }
        return (try opened(), recovery)
    }
}
