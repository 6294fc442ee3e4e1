internal import SluiceCore
internal import SluiceSQLite
internal import Synchronization

/// Records in a SQLite file. One connection writes while others read, each on its own queue.
final class SQLiteStorage: Storage {
    private let writer: SQLiteWorker
    private let readers: [SQLiteWorker]
    /// The database's file; nil for a database in memory.
    private let file: DatabaseFile?
    /// The number of waiting reads of each reader.
    private let loads: Mutex<[Int]>
    /// The file with the last commit; nil for a database in memory, which has no backup.
    let markFile: LastCommitFile?
    private let committed = CommitAction()

    /// Sets an action to call after each later commit.
    func onCommit(_ action: @escaping @Sendable () -> Void) { committed.set(action) }

    init(path: String) {
        let file = path == ":memory:" ? nil : DatabaseFile(path)
        self.file = file
        markFile = file.map { LastCommitFile(databasePath: $0.path) }
        writer = SQLiteWorker(label: "sluice.backend.writer") {
            let connection = try file?.open() ?? SQLiteConnection(path: path)
            if file != nil {
                // A foreign file is detected before anything is written to it.
                _ = try connection.integer("PRAGMA application_id")
                guard try connection.run("PRAGMA journal_mode = WAL").first?.first == .text("wal") else {
                    throw SluiceError(
                        .storeInputOutput, "the database \(path) is on a file system without write-ahead logs")
                }
            }
            try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000")
            try connection.transaction { try SQLiteCatalog.prepare(connection, path: path) }
            return connection
        }
        // A database in memory belongs to one connection.
        readers = (file.map { Array(repeating: $0, count: 4) } ?? []).map { file in
            SQLiteWorker(label: "sluice.backend.reader") { try file.open(access: .readOnly) }
        }
        loads = Mutex(Array(repeating: 0, count: readers.count))
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        let index = loads.withLock { loads -> Int? in
            guard let index = loads.indices.min(by: { loads[$0] < loads[$1] }) else { return nil }
            loads[index] += 1
            return index
        }
        defer { if let index { loads.withLock { $0[index] -= 1 } } }
        return try await (index.map { readers[$0] } ?? writer).run { connection in
            try connection.transaction(.deferred) { try body(connection) }
        }
    }

    /// Runs a transaction; the mark is updated before the result is returned.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(frame) { try body($0) }
    }

    private var frame: TransactionFrame {
        TransactionFrame(
            begin: { [file] in
                try file?.check()
                return {}
            },
            beforeCommit: { [markFile] connection in
                let mark = try markFile.map { _ in try LastCommit(connection) }
                // The change is committed even if writing the mark fails: a mark older than the database does no harm.
                return { _ in
                    if let mark { try? markFile?.write(mark) }
                    self.committed()
                }
            })
    }

    func secret() -> String? { nil }

    /// Writes the mark, to make sure that it can be written.
    func requireMark() async throws {
        guard let markFile else { return }
        try await writer.run { connection in try markFile.write(LastCommit(connection)) }
    }

    /// Waits for the work in progress and closes the connections.
    func close() async throws {
        for reader in readers { try await reader.close() }
        try await writer.close()
    }
}

/// The file of a served SQLite database. SQLite finds a file's log and locks by its name at the opening. Writes would
/// therefore be lost if the file had a second name, or were replaced at its name.
final class DatabaseFile: Sendable {
    let path: String
    /// The file at the first opening; nil before.
    private let identity = Mutex<FileIdentity?>(nil)

    init(_ path: String) { self.path = path }

    /// Opens a connection. The first one may create the file; all later ones must open the same.
    ///
    /// - Throws: as ``check()``, and the database's errors.
    func open(access: SQLiteConnection.Access = .readWriteCreate) throws -> SQLiteConnection {
        try check()
        let connection = try SQLiteConnection(path: path, access: access)
        identity.withLock { if $0 == nil { $0 = FileIdentity(path) } }
        try check()
        return connection
    }

    /// Checks that the path still leads to the opened file, and that the file has no other name.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput`.
    func check() throws(SluiceError) {
        if let opened = identity.withLock({ $0 }), FileIdentity(path) != opened {
            throw SluiceError(
                .storeInputOutput,
                "the file \(path) was replaced or removed while it was served; nothing was written, start the server anew"
            )
        }
        try SQLiteStoreFile.checkSingleName(path, of: "database")
    }
}

/// The catalog's tables in a SQLite file, and the migrations of earlier versions.
enum SQLiteCatalog {
    private static let format: Int64 = 3
    /// `SLBE`, the mark of a backend's database.
    private static let applicationID: Int64 = 0x534C_4245

    /// Creates the catalog in a new database, and checks or migrates an existing one.
    static func prepare(_ connection: SQLiteConnection, path: String) throws {
        let application = try connection.integer("PRAGMA application_id")
        if application == 0, try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
            try connection.execute(
                """
                CREATE TABLE sluice_counter (value INTEGER NOT NULL);
                INSERT INTO sluice_counter VALUES (0);
                CREATE TABLE sluice_tables (
                    name TEXT PRIMARY KEY NOT NULL, columns TEXT NOT NULL, latest INTEGER NOT NULL);
                PRAGMA application_id = \(applicationID);
                \(secondFormat)
                \(thirdFormat)
                """)
            return
        }
        guard application == applicationID else {
            throw SluiceError(.storeSchema, "\(path) is a database of another program; it was left as it is")
        }
        let found = try connection.integer("PRAGMA user_version")
        guard found <= format else {
            throw SluiceError(
                .storeSchema, "the database \(path) has format \(found), which is newer than \(format)")
        }
        if found < 2 { try connection.execute(secondFormat) }
        if found < 3 { try connection.execute(thirdFormat) }
    }

    /// The additions of format 2: each table's latest removal, the database's identity (so that another database's
    /// tokens are recognized), and the effects of repeatable requests.
    private static let secondFormat = """
        ALTER TABLE sluice_tables ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE sluice_identity (value TEXT NOT NULL);
        INSERT INTO sluice_identity VALUES (lower(hex(randomblob(16))));
        CREATE TABLE sluice_requests (
            user TEXT NOT NULL, request TEXT NOT NULL, fingerprint INTEGER NOT NULL, expires INTEGER NOT NULL,
            answer TEXT NOT NULL, stored TEXT, PRIMARY KEY (user, request)) WITHOUT ROWID;
        CREATE INDEX sluice_requests_expires ON sluice_requests (expires);
        """

    /// The additions of format 3: the runs of the backend with their epochs, and the known properties of records.
    private static let thirdFormat = """
        CREATE TABLE sluice_runs (
            run INTEGER PRIMARY KEY NOT NULL, epoch INTEGER NOT NULL UNIQUE, began INTEGER NOT NULL);
        CREATE TABLE sluice_properties (
            name TEXT NOT NULL, property TEXT NOT NULL, PRIMARY KEY (name, property)) WITHOUT ROWID;
        PRAGMA user_version = \(format);
        """
}
