package import CSQLite
internal import SluiceBase
package import SluiceCore

/// One connection to a database file, for one thread at a time.
///
/// Every failure is thrown as a ``SluiceError`` of a store code, with the ``SQLiteFailure`` behind it.
package final class SQLiteConnection {
    /// How the file is opened.
    package enum Access: Sendable {
        /// Reading and writing; a file that is not there is made.
        case readWriteCreate
        /// Reading and writing a file that is there.
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
    /// What the store knows of the tables in the file.
    var catalog = RecordCatalog()
    /// Where SQLite's hook notes the length of the write-ahead log.
    let logLength: UnsafeMutablePointer<Int32>
    /// The length of the log, in pages, at which a checkpoint is tried next.
    var nextCheckpoint = 0
    private var statements: [StatementText: SQLiteStatement] = [:]

    /// Opens the file, in the file system that SQLite knows by that name, or its default one. Nothing is read of it
    /// yet, so that what is no database is found out by the first statement.
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
        // A misspelt column is an error and not a text; a hostile file cannot call what it should not.
        for (option, flag) in [
            (CSQLITE_DBCONFIG_DQS_DML, 0), (CSQLITE_DBCONFIG_DQS_DDL, 0), (CSQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (CSQLITE_DBCONFIG_DEFENSIVE, 1),
        ] {
            configure(Int32(option), flag == 1)
        }
        for function in QueryFunctions.sqlFunctions { try database.register(function) }
    }

    /// The same for a file that may be encrypted. The key is not held against the file yet.
    convenience init(
        path: String, access: Access = .readWriteCreate, busyTimeout: Duration = .seconds(5),
        fileSystem: String? = nil, cipher: StoreCipher?, library: SQLiteLibrary? = nil, isNew: Bool = false
    ) throws {
        try self.init(
            path: path, access: access, busyTimeout: busyTimeout, fileSystem: fileSystem,
            library: library ?? cipher?.library ?? .system)
        guard let cipher else { return }
        // Some libraries are built to move pages at each commit. That is settled with the first page, and with a key
        // the form of that is fixed.
        if isNew { try execute("PRAGMA auto_vacuum = NONE") }
        try cipher.key.withBytes { try database.setKey($0) }
        try execute(StoreCipher.form(of: "main"))
        // Else it writes to the program's standard error what the typed errors say already.
        _ = try? run("PRAGMA cipher_log_level = NONE")
    }

    deinit {
        // A statement that somebody holds may keep the handle open for longer than the hook's memory is there.
        _ = api.pointee.wal_hook(handle, nil, nil)
        logLength.deallocate()
    }

    /// How long a statement waits for another connection's lock.
    func setBusyTimeout(_ timeout: Duration) {
        _ = api.pointee.busy_timeout(handle, Int32(clamping: timeout.milliseconds))
    }

    func configure(_ option: Int32, _ flag: Bool) { _ = api.pointee.db_config(handle, option, flag ? 1 : 0) }

    // MARK: Statements

    /// The statement of that text, ready for use: prepared once, then kept.
    package func statement(_ sql: String) throws(SluiceError) -> SQLiteStatement {
        let key = StatementText(sql: sql)
        if let kept = statements[key] {
            kept.reset()
            return kept
        }
        let prepared = try prepare(sql)
        // Queries of users differ without end; what was prepared long ago is let go rather than kept for ever.
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

    /// Runs one or more statements that have no parameters and whose rows nobody wants.
    package func execute(_ sql: String) throws(SluiceError) {
        guard api.pointee.exec(handle, sql, nil, nil, nil) == Int32(CSQLITE_OK) else { throw database.failure() }
    }

    /// Runs one statement with those values for its parameters, and gives back its rows.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(SluiceError) -> [[SQLValue]] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }

    /// The integer that a statement of one row and column gives, or 0. SQLCipher gives the numbers of some pragmas as
    /// text.
    package func integer(_ sql: String, _ values: [SQLValue] = []) throws(SluiceError) -> Int64 {
        switch try run(sql, values).first?.first {
        case .integer(let value): value
        case .text(let text): Int64(text) ?? 0
        default: 0
        }
    }

    /// How many rows the latest INSERT, UPDATE or DELETE changed.
    package var changes: Int { Int(api.pointee.changes(handle)) }

    // MARK: Transactions

    /// Whether a transaction is open.
    var isInTransaction: Bool { api.pointee.get_autocommit(handle) == 0 }

    /// How a transaction begins.
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

    /// Commits the open transaction. It is rolled back where that fails.
    func commit(_ kind: TransactionKind = .immediate) throws(SluiceError) {
        do {
            try execute("COMMIT")
        } catch {
            rollBack()
            if kind == .immediate { coverRefusedCommit() }
            throw error
        }
    }

    /// Runs `body` as a part of the open transaction, which goes on without it if it throws.
    func part<Result>(_ body: () throws -> Result) throws -> Result {
        try run("SAVEPOINT part")
        do {
            let result = try body()
            try run("RELEASE part")
            return result
        } catch {
            // Some failures end the whole transaction; then there is no part left to take back.
            if isInTransaction { try execute("ROLLBACK TO part; RELEASE part") }
            throw error
        }
    }

    /// Takes the open transaction back, if there still is one.
    func rollBack() {
        // SQLite has rolled back by itself after some failures (a full disk, say).
        if isInTransaction { try? execute("ROLLBACK") }
    }

    /// Takes a refused commit's place in the log. Where only its sync failed, the log's file holds the commit whole,
    /// and who opened the store after a kill would find it; so a commit that changes nothing is written over its
    /// beginning. It does that even where its own sync fails.
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

/// A statement's text by its bytes. Two names that Swift's `String` takes for equal, as the composed and the decomposed
/// form of a letter, are two names in SQL, and their statements must not stand for each other.
struct StatementText: Hashable {
    let sql: String

    static func == (left: StatementText, right: StatementText) -> Bool { left.sql.hasSameBytes(as: right.sql) }

    func hash(into hasher: inout Hasher) { sql.hashBytes(into: &hasher) }
}

extension SQLiteConnection {
    /// Notes the length of the write-ahead log after each commit. Turning automatic checkpoints off must come first,
    /// for it takes the hook's place.
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

    /// Checkpoints, and says how long the log is and how much of it is in the file. A failure moves nothing and loses
    /// nothing: the log stays, and the next checkpoint takes it.
    func checkpoint(_ mode: Int32) -> (length: Int, moved: Int) {
        var length: Int32 = -1
        var moved: Int32 = -1
        let code = api.pointee.wal_checkpoint_v2(handle, nil, mode, &length, &moved)
        return code == Int32(CSQLITE_OK) ? (Int(length), Int(moved)) : (.max, 0)
    }
}
