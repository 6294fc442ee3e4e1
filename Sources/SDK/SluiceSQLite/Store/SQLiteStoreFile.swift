internal import CSQLite
package import SluiceCore

/// Opens a store's file, brings it to its format and checkpoints it.
package struct SQLiteStoreFile: Sendable {
    /// `SLCE`: identifies the kind of database for other tools.
    static let applicationID: Int64 = 0x534C_4345
    static let format: Int64 = 1
    /// A checkpoint is due when the log has so many pages (4 MB, and 16 MB of encrypted ones), or a quarter of the
    /// file's if that is more. In a large table, rows of one transaction lie all over the index, and each checkpoint
    /// would rewrite nearly all of its pages.
    static let checkpointPages = 1000
    /// The log's length at which a checkpoint is due at the latest (64 MB).
    private var mostLogPages: Int { cipher == nil ? 16_000 : 4_000 }
    /// The log's length at which it is cut: it has grown because of readers, and is cut as soon as they are done.
    private var truncatePages: Int { mostLogPages + Self.checkpointPages }

    let path: String
    let options: SQLiteStore.Options
    /// The library and key for reading the file; nil for an unencrypted one.
    var cipher: StoreCipher?
    /// The opened file and its log; nil before that, and for a store without a file.
    var place: FilePlace?

    var isInMemory: Bool { path == ":memory:" }

    /// Opens the writing connection. A missing or empty file becomes a store; a file of another kind is left as it is.
    func openWriter() throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, busyTimeout: options.busyTimeout, fileSystem: options.fileSystem, cipher: cipher,
            isNew: StoreFolder.size(of: path) == 0)
        Self.keepLogAtClose(connection)
        let isNew =
            try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
            && connection.integer("PRAGMA application_id") == 0
        if !isNew { try Self.checkFormat(of: connection) }
        try checkInPlace()
        try configure(connection)
        if isNew {
            try connection.transaction {
                try connection.execute(RecordCatalog.createSQL)
                try connection.execute(
                    "PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(Self.format)")
            }
        }
        return connection
    }

    /// - Returns: the number of the format of a store.
    /// - Throws: ``SluiceError`` of code `storeSchema` for a file that is no store, or has a newer format.
    @discardableResult
    static func checkFormat(of connection: SQLiteConnection) throws -> Int64 {
        guard try connection.integer("PRAGMA application_id") == applicationID else {
            throw SluiceError(
                .storeSchema, "\(connection.path) is a database of another program; it was left as it is")
        }
        let found = try connection.integer("PRAGMA user_version")
        guard found <= format else {
            throw SluiceError(
                .storeSchema,
                "the store \(connection.path) has format \(found), which is newer than \(format); "
                    + "open it with a newer version of Sluice")
        }
        return found
    }

    /// Returns the cipher for a file that exists or will be made; nil for a plain one.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` for a folder or a second name, `storeEncrypted` or
    ///   `storeNotEncrypted` for a file of the other kind, `storeLibraryMissing`.
    static func cipher(of path: String, _ encryption: StoreEncryption?) throws -> StoreCipher? {
        try checkSingleName(path)
        let start = OpenStores.start(of: path)
        try check(path, begins: start, isEncrypted: encryption != nil)
        return try encryption.map { try StoreCipher($0, salt: start) }
    }

    /// - Throws: ``SluiceError`` of code `storeEncrypted` or `storeNotEncrypted` if the file is not of the expected
    ///   kind.
    static func check(_ path: String, begins start: [UInt8], isEncrypted: Bool) throws(SluiceError) {
        let isOther = !start.isEmpty && start != FileBytes.magic
        if !isEncrypted, isOther, OpenStores.contains(path) || FileBytes.looksEncrypted(path) {
            throw SluiceError(
                .storeEncrypted,
                "the store \(path) is encrypted, or no store at all; open it with its key. It was left as it is")
        }
        if isEncrypted, start == FileBytes.magic {
            throw SluiceError(
                .storeNotEncrypted,
                "the store \(path) is not encrypted; open it without a key, or encrypt it first. It was left as it is")
        }
    }

    /// Whether the path still leads to the file and the log that were opened, or there never was a file.
    var isInPlace: Bool { place.map { $0.hasFile && $0.hasLog } ?? true }

    /// Checks that the path still leads to the file that was opened. A recovery, a conversion or a user may have
    /// removed or replaced that file. Writes to it would be lost, and reads would miss those of others.
    ///
    /// - Throws: ``SluiceError`` of code `storeClosed`.
    func checkInPlace() throws(SluiceError) {
        guard place?.hasFile ?? true else { throw replaced() }
    }

    /// Checks as ``checkInPlace()``, and the log too, before a write.
    func checkWritable() throws(SluiceError) {
        guard let place else { return }
        guard place.hasFile, place.hasLog else { throw replaced() }
        try Self.checkSingleName(path)
    }

    private func replaced() -> SluiceError {
        SluiceError(
            .storeClosed,
            "the file \(path) was replaced or removed since the store was opened; nothing was read or written, open it "
                + "anew")
    }

    /// Checks that the file has no second name. SQLite finds a file's log and locks by the name that it is opened
    /// under: two connections under two names would not see each other's writes, and would overwrite them.
    ///
    /// - Parameter kind: the kind of the file, for the message.
    /// - Throws: ``SluiceError`` of code `storeInputOutput`.
    package static func checkSingleName(_ path: String, of kind: String = "store") throws(SluiceError) {
        guard StoreFolder.links(to: path) > 1 else { return }
        guard !StoreFolder.isFolder(path) else {
            throw SluiceError(.storeInputOutput, "\(path) is a folder, and a \(kind) is a file; name a file in it")
        }
        throw SluiceError(
            .storeInputOutput,
            "the \(kind) \(path) has a second name (a hard link), through which other writes would be lost; nothing was "
                + "written. Remove all names but one; a symbolic link does no harm")
    }

    private func configure(_ connection: SQLiteConnection) throws {
        if !isInMemory {
            // A new file gets its first page under a rollback journal. Only then SQLite syncs the folder after removing
            // the journal; else a power cut could restore the journal, and with it the empty file.
            try connection.execute("PRAGMA synchronous = EXTRA")
            let mode = try connection.run("PRAGMA journal_mode = WAL").first?.first
            guard mode == .text("wal") else {
                throw SluiceError(.storeInputOutput, "the store \(path) is on a file system without write-ahead logs")
            }
        }
        try connection.execute(
            "PRAGMA synchronous = \(options.durability == .full ? "FULL" : "NORMAL");"
                + "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -\(cipher == nil ? Self.cache : Self.encryptedCache)"
        )
        if let size = options.maximumSize {
            let page = max(1, try connection.integer("PRAGMA page_size"))
            try connection.execute("PRAGMA max_page_count = \(max(1, Int64(size) / page))")
        }
        connection.nextCheckpoint = Self.checkpointPages
        connection.watchLog()
    }

    /// Keeps the log at closing. Must be called before anything is read: a file that is refused stays as it is.
    static func keepLogAtClose(_ connection: SQLiteConnection) {
        connection.configure(Int32(CSQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), true)
    }

    /// The writing connection's page cache in KiB: enough for the inner pages and most of the leaves of the index of a
    /// million records.
    private static let cache = 40_000

    /// The page cache of each connection to an encrypted file in KiB. The system caches a plain file's pages too; an
    /// encrypted file's it can cache only encrypted.
    private static let encryptedCache = 16_000

    /// Opens a connection that only reads.
    func openReader() throws -> SQLiteConnection {
        try checkInPlace()
        let connection = try SQLiteConnection(
            path: path, access: .readWrite, busyTimeout: options.busyTimeout, fileSystem: options.fileSystem,
            cipher: cipher)
        Self.keepLogAtClose(connection)
        try connection.execute("PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0")
        if cipher != nil { try connection.execute("PRAGMA cache_size = -\(Self.encryptedCache)") }
        try checkInPlace()
        return connection
    }

    /// Moves the log into the file if it has grown long, as far as readers allow. The lock is held.
    func checkpointIfDue(_ connection: SQLiteConnection) {
        let pages = connection.logPages
        if pages >= connection.nextCheckpoint {
            let quarter = ((try? connection.integer("PRAGMA page_count")) ?? 0) / 4
            let due = min(max(Self.checkpointPages, Int(quarter)), mostLogPages)
            if pages < due {
                connection.nextCheckpoint = due
                return
            }
            let (length, moved) = connection.checkpoint(Int32(CSQLITE_CHECKPOINT_PASSIVE))
            let isDone = moved >= length
            if pages >= truncatePages {
                connection.setBusyTimeout(.zero)
                _ = connection.checkpoint(Int32(CSQLITE_CHECKPOINT_TRUNCATE))
                connection.setBusyTimeout(options.busyTimeout)
            }
            // While a reader holds the log, trying again at each commit would gain nothing.
            connection.nextCheckpoint = isDone ? Self.checkpointPages : pages + Self.checkpointPages
        } else if pages < Self.checkpointPages {
            connection.nextCheckpoint = Self.checkpointPages
        }
    }

    /// Moves the whole log into the file and cuts it, if no reader of another process is in the way. The lock is held.
    func checkpointAtClose(_ connection: SQLiteConnection) throws {
        try checkWritable()
        connection.setBusyTimeout(.milliseconds(100))
        _ = connection.checkpoint(Int32(CSQLITE_CHECKPOINT_TRUNCATE))
    }
}
