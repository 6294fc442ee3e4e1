internal import CSQLite
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Detects damage in a store's file, and replaces the file by a new store.
///
/// The new store is complete before the damaged one is moved, so that a process that ends in between leaves either the
/// damaged store or both.
struct DamagedStore: Sendable {
    let file: SQLiteStoreFile
    /// The encryption of the new store.
    let encryption: StoreEncryption?

    /// Looks for damage and, if it finds some, puts a new store in the place of the damaged one. The store's lock and
    /// lease are held.
    ///
    /// - Returns: the recovery; nil for an undamaged store.
    static func recover(_ file: SQLiteStoreFile, _ encryption: StoreEncryption?) throws -> StoreRecovery? {
        try finishReplacement(of: file.path)
        // The log of an emptied file may have all of its content.
        if StoreFolder.size(of: file.path) > 0 { try LogOwner.setForeignLogAside(file.path) }
        let start = OpenStores.start(of: file.path)
        try SQLiteStoreFile.check(file.path, begins: start, isEncrypted: encryption != nil)
        var file = file
        file.cipher = try encryption.map { try StoreCipher($0, salt: start) }
        let damaged = DamagedStore(file: file, encryption: encryption)
        guard let damage = try damaged.damage() else { return nil }
        let rescued = try damaged.rescue()
        try damaged.build(rescued)
        return StoreRecovery(
            damage: damage, setAside: try damaged.replace(at: SystemClock.now()), operations: rescued.operations,
            isQueueWhole: rescued.isWhole)
    }

    private var path: String { file.path }
    /// The path at which the new store is built.
    private var draft: String { path + Self.draftSuffix }

    /// Returns SQLite's description of the damage. Nil for an undamaged store, for a missing file, and for a file that
    /// is no store of this format.
    func damage() throws -> String? {
        if StoreFolder.size(of: path) == 0 {
            if StoreFolder.size(of: path + "-wal") > 0 { return "the file is empty, and its log is not" }
            return try LogOwner.wasWritten(path) ? "the file is empty, and held a store before" : nil
        }
        do {
            let connection = try file.openReader()
            let application = try connection.integer("PRAGMA application_id")
            if application != SQLiteStoreFile.applicationID {
                let own = try connection.integer(
                    "SELECT count(*) FROM sqlite_schema WHERE name IN ('sluice_schema', 'sluice_operations')")
                return own == 2 ? "the file's application id is \(application)" : nil
            }
            if try connection.integer("PRAGMA user_version") > SQLiteStoreFile.format { return nil }
            if let damage = try connection.firstDamage() { return damage }
            try connection.catalog.refresh(connection)
            return try connection.unreadableRecords(most: 1).first.map { "\($0)" }
        } catch let error as SluiceError where Self.isDamage(error) {
            return error.cause.map { "\($0)" } ?? error.message
        }
    }

    private static func isDamage(_ error: SluiceError) -> Bool {
        [.storeCorrupt, .storeNotADatabase].contains(error.code)
            || (error.code == .storeSchema && (error.cause as? SQLiteFailure)?.code != nil)
    }

    // MARK: Rescuing

    /// Rescues the readable part of the queue: with the log or, if nothing is readable with it, without it.
    ///
    /// - Throws: ``SluiceError`` if the disk fails and not the file: the content may be readable later.
    func rescue() throws -> RescuedQueue {
        // SQLite removes the log of a file that is empty.
        let isEmpty = StoreFolder.size(of: path) == 0
        let hasLog = StoreFolder.size(of: path + "-wal") > 0
        /// The first result that has no operations and is not whole.
        var least: RescuedQueue?
        func settled(_ found: RescuedQueue?) -> RescuedQueue? {
            guard let found, found.operations.isEmpty, !found.isWhole else { return found }
            least = least ?? found
            return nil
        }
        if !isEmpty, let found = settled(try queue(in: file)) { return found }
        // Only the first 100 bytes may be damaged (sqlite.org/fileformat2.html, section 1.3): a copy gets a new header.
        let copy = draft + ".copy"
        defer { for suffix in Self.suffixes { unlink(copy + suffix) } }
        for withLog in hasLog ? [true, false] : [false] {
            for suffix in Self.suffixes { unlink(copy + suffix) }
            for suffix in withLog ? ["", "-wal"] : [""] { StoreFolder.makeFile(copy + suffix) }
            try FileBytes.copy(path, to: copy)
            if withLog { try FileBytes.copy(path + "-wal", to: copy + "-wal") }
            let reader = SQLiteStoreFile(path: copy, options: file.options, cipher: file.cipher)
            var found = isEmpty ? nil : settled(try queue(in: reader))
            if found == nil, file.cipher == nil {
                try FileBytes.repairHeader(of: copy)
                found = settled(try queue(in: reader))
            }
            guard var found else { continue }
            if hasLog, !withLog { found.isWhole = false }
            return found
        }
        return least ?? RescuedQueue()
    }

    /// Returns the file's part of the queue; nil if the file cannot be opened.
    private func queue(in file: SQLiteStoreFile) throws -> RescuedQueue? {
        do {
            return try RescueReader(file.openReader()).queue()
        } catch let error as SluiceError where !error.isOfStorage {
            return nil
        }
    }

    // MARK: Replacing

    /// Builds the new store beside the damaged one, whole and synced.
    func build(_ queue: RescuedQueue) throws {
        let temporary = draft + ".tmp"
        for suffix in Self.suffixes { unlink(temporary + suffix) }
        StoreFolder.makeFile(temporary)
        // A failure is ignored: the rescued queue is worth more than its file's owner.
        try? StoreFiles.giveOwner(of: path, to: temporary)
        try fill(
            SQLiteStoreFile(
                path: temporary, options: file.options, cipher: try encryption.map { try StoreCipher($0, salt: []) }),
            with: queue)
        // The log has everything until it is in the file: nothing is unlinked before.
        guard StoreFolder.size(of: temporary + "-wal") == 0 else {
            throw SluiceError(.storeInputOutput, "the rescued queue cannot be moved into the file \(temporary)")
        }
        for suffix in ["-wal", "-shm"] { unlink(temporary + suffix) }
        try StoreFiles.sync(temporary)
        try StoreFiles.move(temporary, to: draft)
        try StoreFiles.syncFolder(of: path)
    }

    private func fill(_ file: SQLiteStoreFile, with queue: RescuedQueue) throws {
        let connection = try file.openWriter()
        try connection.transaction {
            try connection.catalog.refresh(connection)
            for schema in queue.schemas { try connection.catalog.define(schema, connection) }
            try SQLiteStoreTransaction.run(on: connection) { writer in
                for (table, record) in queue.records { try writer.put(record, in: table) }
            }
        }
        guard connection.checkpoint(Int32(CSQLITE_CHECKPOINT_TRUNCATE)) == (0, 0) else {
            throw SluiceError(.storeInputOutput, "the rescued queue cannot be moved into the file \(file.path)")
        }
    }

    /// Moves the damaged store aside and the new one into its place, and returns the path of the damaged one.
    func replace(at time: Timestamp) throws -> String {
        let aside = Self.asideName(path, time)
        for suffix in Self.suffixes where access(path + suffix, F_OK) == 0 {
            try StoreFiles.move(path + suffix, to: aside + suffix)
        }
        try StoreFiles.move(draft, to: path)
        try StoreFiles.syncFolder(of: path)
        return aside
    }

    /// Completes a replacement that a process left after it moved the damaged store and before it moved the new one.
    /// The store's lock is held.
    static func finishReplacement(of path: String) throws {
        let draft = path + draftSuffix
        guard access(path, F_OK) != 0, access(draft, F_OK) == 0 else { return }
        // A log that still has the old name belongs to the store that was moved last.
        let name = StoreFolder.name(of: path) + asideMark
        let latest = StoreFolder.names(beside: path).filter { other in
            other.hasPrefix(name) && !suffixes.dropFirst().contains { other.hasSuffix($0) }
        }.max().map { "\(StoreFolder.folder(of: path))/\($0)" }
        for suffix in suffixes.dropFirst() where access(path + suffix, F_OK) == 0 {
            var aside = latest ?? asideName(path, SystemClock.now())
            if access(aside + suffix, F_OK) == 0 { aside = asideName(path, SystemClock.now()) }
            try StoreFiles.move(path + suffix, to: aside + suffix)
        }
        try StoreFiles.move(draft, to: path)
        try StoreFiles.syncFolder(of: path)
    }

    private static func asideName(_ path: String, _ time: Timestamp) -> String {
        StoreFolder.aside(path, asideMark, time)
    }

    private static let suffixes = ["", "-wal", "-shm"]
    private static let asideMark = ".damaged-"
    private static let draftSuffix = "-rescued"
}
