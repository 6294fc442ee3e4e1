package import CSQLite
internal import SluiceBase
package import SluiceCore

/// One connection to a database file, for one thread at a time.
///
/// Every failure is thrown as a ``SluiceError`` of a store code, with the ``SQLiteFailure`` as its cause.
package final class SQLiteConnection {
    /// The access with which the file is opened.
    package enum Access: Sendable {
        /// Reading and writing; a missing file is created.
        case readWriteCreate
        /// Reading and writing an existing file.
        case readWrite
        /// Reading only.
        case readOnly
    }

    /// The file, or `:memory:`.
    package var path: String { database.path }
    package var api: UnsafePointer<csqlite_api> { database.api }
    package var handle: OpaquePointer { database.pointer }
    /// Whether the file is encrypted.
    package var isEncrypted: Bool { database.isEncrypted }
    let database: SQLiteHandle
    /// The tables in the file, as this connection last read them.
    var catalog = RecordCatalog()
    /// The length of the write-ahead log, noted by SQLite's hook.
    let logLength: UnsafeMutablePointer<Int32>
    /// The length of the log, in pages, at which a checkpoint is tried next.
    var nextCheckpoint = 0
    private var statements: [StatementText: SQLiteStatement] = [:]

    /// Opens the file, in the file system that SQLite knows by that name, or its default one. Reads nothing yet: a file
    /// that is no database is refused by the first statement.
    package init(
        path: String, access: Access = .readWriteCreate, busyTimeout: Duration = .seconds(5),
        fileSystem: String? = nil, library: SQLiteLibrary = .system
    ) throws(SluiceError) {
        let flags =
            switch access {
            case .readOnly: CSQLITE_OPEN_READONLY
            case .readWrite: CSQLITE_OPEN_READWRITE
            case .readWriteCreate: CSQLITE_OPEN_READWRITE | CSQLITE_OPEN_CREATE
            }
        database = try SQLiteHandle(path: path, flags: Int32(flags), fileSystem: fileSystem, library: library)
        logLength = .allocate(capacity: 1)
        logLength.initialize(to: 0)
        setBusyTimeout(busyTimeout)
        // A misspelt column is an error and not a text; a hostile file cannot call unsafe functions.
        for (option, flag) in [
            (CSQLITE_DBCONFIG_DQS_DML, 0), (CSQLITE_DBCONFIG_DQS_DDL, 0), (CSQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (CSQLITE_DBCONFIG_DEFENSIVE, 1),
        ] {
            configure(Int32(option), flag == 1)
        }
        for function in QueryFunctions.sqlFunctions { try database.register(function) }
    }

    /// Opens a file that may be encrypted. The key is not checked against the file yet.
    convenience init(
        path: String, access: Access = .readWriteCreate, busyTimeout: Duration = .seconds(5),
        fileSystem: String? = nil, cipher: StoreCipher?, library: SQLiteLibrary? = nil, isNew: Bool = false
    ) throws {
        try self.init(
            path: path, access: access, busyTimeout: busyTimeout, fileSystem: fileSystem,
            library: library ?? cipher?.library ?? .system)
        guard let cipher else { return }
        // Some libraries are built to move pages at each commit. That is settled with the first page, and with a key
        // the page format is fixed.
        if isNew { try execute("PRAGMA auto_vacuum = NONE") }
        try cipher.key.withBytes { try database.setKey($0) }
        try execute(StoreCipher.form(of: "main"))
        // Else SQLCipher writes failures to standard error, which the typed errors already report.
        _ = try? run("PRAGMA cipher_log_level = NONE")
    }

    deinit {
        // A statement that is still held may keep the handle open after the hook's memory is freed.
        _ = api.pointee.wal_hook(handle, nil, nil)
        logLength.deallocate()
    }

    /// Sets the time that a statement waits for another connection's lock.
    func setBusyTimeout(_ timeout: Duration) {
        _ = api.pointee.busy_timeout(handle, Int32(clamping: timeout.milliseconds))
    }

    func configure(_ option: Int32, _ flag: Bool) { _ = api.pointee.db_config(handle, option, flag ? 1 : 0) }

    // MARK: Statements

    /// Returns the statement of that text, ready for use: prepared once, then cached.
    package func statement(_ sql: String) throws(SluiceError) -> SQLiteStatement {
        let key = StatementText(sql: sql)
        if let kept = statements[key] {
            kept.reset()
            return kept
        }
        let prepared = try prepare(sql)
        // Users' queries are unlimited in number, so the cache is emptied rather than growing without end.
        if statements.count >= 256 { statements = [:] }
        statements[key] = prepared
        return prepared
    }

    private func prepare(_ sql: String) throws(SluiceError) -> SQLiteStatement {
        var prepared: OpaquePointer?
        var text = sql
        let code = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map {
                    api.pointee.prepare_v3(
                        handle, $0, Int32(clamping: text.count), UInt32(CSQLITE_PREPARE_PERSISTENT), &prepared, nil)
                }
            }
        }
        guard code == Int32(CSQLITE_OK) else { throw database.failure() }
        guard let prepared else { throw SluiceError(.storeSchema, "an empty statement") }
        return SQLiteStatement(handle: prepared, database: database)
    }

    /// Runs one or more statements without parameters, and ignores their rows.
    package func execute(_ sql: String) throws(SluiceError) {
        guard api.pointee.exec(handle, sql, nil, nil, nil) == Int32(CSQLITE_OK) else { throw database.failure() }
    }

    /// Runs one statement with those values for its parameters, and returns its rows.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(SluiceError) -> [[SQLValue]] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }

    /// Returns the integer of a statement with one row and column, or 0. SQLCipher returns the numbers of some pragmas
    /// as text.
    package func integer(_ sql: String, _ values: [SQLValue] = []) throws(SluiceError) -> Int64 {
        switch try run(sql, values).first?.first {
        case .integer(let value): value
        case .text(let text): Int64(text) ?? 0
        default: 0
        }
    }

    /// The number of rows that the latest INSERT, UPDATE or DELETE changed.
    package var changes: Int { Int(api.pointee.changes(handle)) }

    // MARK: Transactions

    /// Whether a transaction is open.
    var isInTransaction: Bool { api.pointee.get_autocommit(handle) == 0 }

    /// The statement with which a transaction begins.
    package enum TransactionKind: String, Sendable {
        /// Reads first; a read transaction sees one unchanging state from its first statement on.
        case deferred = "BEGIN DEFERRED"
        /// Takes the write lock at once.
        case immediate = "BEGIN IMMEDIATE"
    }

    /// Runs `body` in a transaction: committed if it returns, rolled back if it throws or the commit fails.
    package func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        try execute(kind.rawValue)
        do {
            let result = try body()
            try commit(kind)
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Commits the open transaction, and rolls it back if the commit fails.
    func commit(_ kind: TransactionKind = .immediate) throws(SluiceError) {
        do {
            try execute("COMMIT")
        } catch {
            rollBack()
            if kind == .immediate { coverRefusedCommit() }
            throw error
        }
    }

    /// Runs `body` in a savepoint of the open transaction. If it throws, only its own writes are rolled back.
    func part<Result>(_ body: () throws -> Result) throws -> Result {
        try run("SAVEPOINT part")
        do {
            let result = try body()
            try run("RELEASE part")
            return result
        } catch {
            // Some failures end the whole transaction; then there is no savepoint left to roll back.
            if isInTransaction { try execute("ROLLBACK TO part; RELEASE part") }
            throw error
        }
    }

    /// Rolls back the open transaction, if there still is one.
    func rollBack() {
        // SQLite has rolled back by itself after some failures (a full disk, say).
        if isInTransaction { try? execute("ROLLBACK") }
    }

    /// Overwrites a refused commit in the log. If only its sync failed, the log's file holds the whole commit, and the
    /// next opening after a kill would find it. So a commit that changes nothing is written over its beginning, even if
    /// its own sync fails too.
    private func coverRefusedCommit() {
        guard let version = try? integer("PRAGMA user_version") else { return }
        try? execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); COMMIT")
        rollBack()
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
    }
}

/// A statement's text, compared by its bytes. Swift's `String` takes the composed and the decomposed form of a letter
/// for equal. In SQL they are two names, so their statements must not stand for each other.
struct StatementText: Hashable {
    let sql: String

    static func == (left: StatementText, right: StatementText) -> Bool { left.sql.hasSameBytes(as: right.sql) }

    func hash(into hasher: inout Hasher) { sql.hashBytes(into: &hasher) }
}

extension SQLiteConnection {
    /// Notes the length of the write-ahead log after each commit. Automatic checkpoints must be turned off first,
    /// because they use the same hook.
    func watchLog() {
        _ = api.pointee.wal_hook(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return Int32(CSQLITE_OK)
            }, logLength)
    }

    /// The length of the log in pages after the latest commit of this connection.
    var logPages: Int { Int(logLength.pointee) }

    /// Checkpoints, and returns the log's length and the number of its pages that are in the file. A failure loses
    /// nothing: the log stays for the next checkpoint.
    func checkpoint(_ mode: Int32) -> (length: Int, moved: Int) {
        var length: Int32 = -1
        var moved: Int32 = -1
        let code = api.pointee.wal_checkpoint_v2(handle, nil, mode, &length, &moved)
        return code == Int32(CSQLITE_OK) ? (Int(length), Int(moved)) : (.max, 0)
    }
}
