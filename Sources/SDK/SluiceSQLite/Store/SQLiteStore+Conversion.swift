public import SluiceCore

extension SQLiteStore {
    /// Encrypts a plain store, takes the encryption away, or gives an encrypted one another key.
    ///
    /// The store is rewritten, which needs as much room again and takes about as long as copying it. The new file is
    /// compared with the old one before it takes the name. So at every moment one whole store stands there, also if the
    /// process is killed. Then the old file, which has no name any more, is overwritten, and so is its log. The new
    /// file has the mode, the owner and the group of the old one.
    ///
    /// Old content can survive elsewhere, out of reach: in a file that a killed process had not overwritten yet, or in
    /// the disk's own copies (an SSD writes elsewhere, a file system may copy). A file with a second name (a hard link,
    /// as in some snapshots) is left as it is. Files set aside by a recovery stay readable: look for `.damaged-` and
    /// `-rescued` after the store's name, and remove the ones you no longer need.
    ///
    /// ```swift
    /// let key = try StoreKey.random()
    /// try key.write(toFile: "todos.key")
    /// try await SQLiteStore.convert(path: "todos.db", from: nil, to: .key(key))
    /// let store = try SQLiteStore(path: "todos.db", encryption: .key(key))
    /// ```
    ///
    /// - Parameters:
    ///   - path: the store's file, which must not be open anywhere.
    ///   - source: its current encryption; nil for a plain store.
    ///   - target: its new encryption; nil for a plain store.
    ///   - environment: told before and after the new file takes the old one's place, as ``CommitPoint/key``.
    /// - Throws: ``SluiceError`` of code `storeBusy` if it is open, here or in another process; `storeKeyRefused`,
    ///   `storeEncrypted` or `storeNotEncrypted` if `source` is not its encryption; `storeCorrupt` for a damaged store;
    ///   `storeFull`; `storeLibraryMissing`; `recordMissing` if there is no file; `storeInputOutput`, also if the new
    ///   file is in place and the old one could not be overwritten.
    public static func convert(
        path: String, from source: StoreEncryption?, to target: StoreEncryption?, options: Options = Options(),
        environment: SyncEnvironment = .system
    ) async throws {
        let path = resolved(path)
        guard let lease = try LeaseFile(path: path + "-lease").take() else {
            throw SluiceError(.storeBusy, "another process synchronises the store \(path); try again when it is done")
        }
        defer { lease.release() }
        try await StoreLock(path: path, timeout: options.busyTimeout).holding {
            try DamagedStore.finishReplacement(of: path)
            try LogOwner.setForeignLogAside(path)
            let start = OpenStores.start(of: path)
            guard !start.isEmpty else { throw SluiceError(.recordMissing, "there is no store at \(path)") }
            try SQLiteStoreFile.check(path, begins: start, isEncrypted: source != nil)
            let conversion = try StoreConversion(
                path: path, from: source.map { try StoreCipher($0, salt: start) },
                to: target.map { try StoreCipher($0, salt: []) }, options: options, environment: environment)
            try await conversion.carryOut()
        }
    }
}
