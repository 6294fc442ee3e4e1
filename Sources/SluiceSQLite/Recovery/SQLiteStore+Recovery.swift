internal import CSQLite
internal import SluiceCore

extension SQLiteStore {
    /// Opens a store after it was checked. A damaged one is set aside under a name with the time in it, what can be
    /// read of its queue is rescued into a new store in its place, and the tables are empty until they are pulled.
    ///
    /// The whole file is read, about a second for 200 MB. No other process may have the store open when it is damaged.
    ///
    /// ```swift
    /// let (store, recovery) = try await SQLiteStore.openOrRecover(path: "todos.db")
    /// if let recovery {
    ///     print("the store was damaged and is now \(recovery.setAside)")
    ///     print("\(recovery.operations.count) changes were rescued, whole: \(recovery.isQueueWhole)")
    /// }
    /// ```
    ///
    /// - Returns: the store, and what was done if it was damaged.
    /// - Throws: ``SluiceError`` as ``init(path:options:)``: a database of another program or of a newer format is not
    ///   damaged, and is left as it is. `storeBusy` if another process synchronises the store.
    public static func openOrRecover(
        path: String, options: Options = Options()
    ) async throws -> (store: SQLiteStore, recovery: StoreRecovery?) {
        let file = SQLiteStoreFile(path: resolved(path), options: options)
        guard !file.isInMemory, options.readers > 0 else { return (try SQLiteStore(path: path, options: options), nil) }
        guard let lease = try LeaseFile(path: file.path + "-lease").take() else {
            throw SluiceError(.storeBusy, "another process synchronises the store \(path); try again when it is done")
        }
        defer { lease.release() }
        let lock = StoreLock(path: file.path, timeout: options.busyTimeout)
        let damaged = DamagedStore(file: file)
        try damaged.finishReplacement()
        guard let damage = try lock.hold({ try damaged.damage() }) else {
            return (try SQLiteStore(path: path, options: options), nil)
        }
        let rescued = try lock.hold { try damaged.rescue() }
        try await damaged.build(rescued)
        let setAside = try lock.hold { try damaged.replace(at: SystemClock.now()) }
        let recovery = StoreRecovery(
            damage: damage, setAside: setAside, operations: rescued.operations, isQueueWhole: rescued.isWhole)
        return (try SQLiteStore(path: path, options: options), recovery)
    }
}
