internal import CSQLite
package import SluiceCore

/// How a store's file is opened, brought to its format and checkpointed.
package struct SQLiteStoreFile: Sendable {
    /// `SLCE`: by it, tools tell what kind of database the file is.
    static let applicationID: Int64 = 0x534C_4345
    static let format: Int64 = 1
    /// A checkpoint is due when the log has so many pages (4 MB, and 16 MB of encrypted ones), or a quarter of the
    /// file's if that is more: in a large table, rows of one transaction lie all over the index, and each checkpoint
    /// would write nearly all of its pages anew.
    static let checkpointPages = 1000
    /// But it is due at the latest at so many (64 MB).
    private var mostLogPages: Int { cipher == nil ? 16_000 : 4_000 }
    /// When the log has grown so long because readers kept it, it is cut as soon as they let go.
    private var truncatePages: Int { mostLogPages + Self.checkpointPages }

    let path: String
    let options: SQLiteStore.Options
    /// What is needed to read the file; nil for one that is not encrypted.
    var cipher: StoreCipher?
    /// The file that was opened; nil before that, and for a store without a file.
    var identity: FileIdentity?

    var isInMemory: Bool { path == ":memory:" }

    /// The writing connection. A file that is not there, or empty, becomes a store; one that is something else is left
    /// as it is.
    func openWriter() throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, busyTimeout: options.busyTimeout, fileSystem: options.fileSystem, cipher: cipher,
            isNew: StoreFolder.size(of: path) == 0)
        Self.keepLogAtClose(connection)
        let isNew =
            try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
            && connection.integer("PRAGMA application_id") == 0
        if !isNew { try Self.checkFormat(of: connection) }
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
    /// - Throws: ``SluiceError`` of code `storeSchema` for what is no store, or has a newer format.
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

    /// - Throws: ``SluiceError`` of code `storeEncrypted` or `storeNotEncrypted` where the file is not what it is
    ///   opened as.
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

    /// Whether the path still leads to the file that was opened, or there never was one.
    var isInPlace: Bool { identity.map { FileIdentity(path) == $0 } ?? true }

    /// Sees that the path still leads to the file that was opened: what is written to another one, which a recovery, a
    /// conversion or somebody by hand has taken away or replaced, nobody would find again; and what is read of it is not
    /// what others read and write by now.
    ///
    /// - Throws: ``SluiceError`` of code `storeClosed`.
    func checkInPlace() throws(SluiceError) {
        guard isInPlace else {
            throw SluiceError(
                .storeClosed,
                "the file \(path) was replaced or removed since the store was opened; nothing was read or written, open it "
                    + "anew"
            )
        }
    }

    /// As ``checkInPlace()``, before something is written.
    func checkWritable() throws(SluiceError) {
        try checkInPlace()
        if identity != nil { try Self.checkSingleName(path) }
    }

    /// Sees that the file has no second name. SQLite finds a file's log and locks by the name that it is opened under:
    /// two connections under two names would not see each other's writes, and would overwrite them.
    ///
    /// - Parameter kind: what the file is, for the message.
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
            // A new file gets its first page under a rollback journal. Only so is the folder synced when that is
            // removed; else a power cut could bring it back, and with it the empty file.
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

    /// Has nothing be moved when it is closed. Before anything is read: a file that is refused stays as it is.
    static func keepLogAtClose(_ connection: SQLiteConnection) {
        connection.configure(Int32(CSQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), true)
    }

    /// How many KiB of pages the writing connection keeps: enough for the inner pages and the most of the leaves of the
    /// index of a million records.
    private static let cache = 40_000

    /// How many KiB of pages each connection to an encrypted file keeps: of a plain one the system keeps them too, of an
    /// encrypted one it can keep them encrypted only.
    private static let encryptedCache = 16_000

    /// A connection that only reads.
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

    /// Moves the log into the file where it has grown long, as far as readers let it. The lock is held.
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
            // Where a reader holds the log, trying again at each commit would gain nothing.
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
