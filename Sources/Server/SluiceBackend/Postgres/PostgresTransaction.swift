internal import SluiceCore
internal import SluicePostgres

/// An open transaction on PostgreSQL.
///
/// Assigned numbers and times are counted here and written once, before the commit. This is safe because the
/// transaction holds the lock on the database's counter.
final class PostgresTransaction: StorageConnection {
    /// Times are kept in microseconds: ten ticks.
    static let timeStep: Int64 = 10

    let connection: PostgresConnection
    private let writes: Bool
    private let tables: PostgresTables
    /// The mark of the catalog; nil if it was not read, or this transaction has changed the catalog.
    private var mark: String?
    /// The tables, if this transaction has read the catalog itself.
    private var ownTables: PostgresTables.Tables?
    private var stamps: Stamps?
    private var cursors = 0

    private struct Stamps {
        var point: HistoryPoint
        var latest: [ExactName: Int64]
        var changed: Set<ExactName> = []

        /// Reads the results of ``latestSQL`` and ``BackendCatalog/pointSQL``.
        init?(latest rows: [[SQLValue]], point: [[SQLValue]]) {
            guard let point = BackendCatalog.point(point) else { return nil }
            self.point = point
            latest = [:]
            for row in rows {
                if case .text(let name) = row[0], case .integer(let ticks) = row[1] { latest[ExactName(name)] = ticks }
            }
        }
    }

    private static let latestSQL = "SELECT name, latest FROM sluice_tables"

    private init(_ connection: PostgresConnection, _ tables: PostgresTables, writes: Bool) {
        self.connection = connection
        self.tables = tables
        self.writes = writes
    }

    /// Begins a transaction that reads one snapshot.
    static func reading(_ connection: PostgresConnection, _ tables: PostgresTables) throws -> PostgresTransaction {
        let transaction = PostgresTransaction(connection, tables, writes: false)
        let results = try transaction.begin(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(limits(connection))\(PostgresTables.markSQL)")
        transaction.mark = results.last?.text(0, 0)
        return transaction
    }

    /// Wraps a reading transaction begun by the caller.
    static func looking(_ connection: PostgresConnection) -> PostgresTransaction {
        PostgresTransaction(connection, PostgresTables(), writes: false)
    }

    /// Begins a transaction after all other writing ones: it waits for the lock that they hold until their commit.
    /// `attempt` is recorded for `process`, so that the outcome can be found after a lost connection.
    static func writing(
        _ connection: PostgresConnection, _ tables: PostgresTables, process: String, attempt: Int64, ordered: Bool
    ) throws -> PostgresTransaction {
        // Each statement sees the commits before its start, so the lock must come before all reads.
        let transaction = PostgresTransaction(connection, tables, writes: true)
        let results = try transaction.begin(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \(limits(connection))\
            \(ordered ? "SELECT value FROM sluice_counter FOR UPDATE; \(latestSQL); \(BackendCatalog.pointSQL);" : "")
            \(PostgresTables.markSQL);
            INSERT INTO sluice_processes (id, attempt) VALUES (\(try connection.literal(process)), \(attempt))
                ON CONFLICT (id) DO UPDATE SET attempt = excluded.attempt, seen = now()
            """)
        // The last result is the process's row, and the mark is before it.
        transaction.mark = results.dropLast().last?.text(0, 0)
        if ordered, results.count > 4 {
            transaction.stamps = Stamps(latest: results[results.count - 4].rows, point: results[results.count - 3].rows)
        }
        return transaction
    }

    /// A transaction that fails at its beginning is ended, or the connection would be unusable for the next.
    private func begin(_ sql: String) throws -> [PostgresResult] {
        do {
            return try connection.execute(sql)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Returns the time limits of the transaction, because a lock held without end would block all others. With a
    /// pooler it adds the settings for the forms of values, because the connection does not keep them.
    private static func limits(_ connection: PostgresConnection) -> String {
        let milliseconds = connection.address.statementTimeout.components.seconds * 1000
        return "SET LOCAL statement_timeout = \(milliseconds); "
            + "SET LOCAL idle_in_transaction_session_timeout = 10000; SET LOCAL lock_timeout = \(usualLockTimeout); "
            + (connection.address.isPooled ? PostgresConnection.settings(isLocal: true) : "")
    }

    /// The time that a statement waits for a lock, in milliseconds.
    private static let usualLockTimeout = 10_000

    /// Runs `body` if its locks are free almost at once; otherwise returns false and does nothing. A longer wait for a
    /// table's lock would block all later users of the table.
    func withoutWaiting(_ body: () throws -> Void) throws -> Bool {
        try connection.execute("SAVEPOINT sluice; SET LOCAL lock_timeout = 200")
        do {
            try body()
            try connection.execute("RELEASE sluice; SET LOCAL lock_timeout = \(Self.usualLockTimeout)")
            return true
        } catch let failure as PostgresFailure where failure.state == PostgresFailure.lockTaken {
            // The rollback also restores the setting.
            try connection.execute("ROLLBACK TO sluice; RELEASE sluice")
            return false
        }
    }

    /// Ends a reading transaction.
    func end() throws { try connection.execute("COMMIT") }

    func rollBack() { if connection.isOpen { _ = try? connection.execute("ROLLBACK") } }

    /// Writes the assigned numbers and times, notifies the listeners of all processes, and commits.
    ///
    /// The wait for a synchronous replica has no timeout: after one the server would report a commit that exists on one
    /// machine only.
    ///
    /// - Returns: the committed point of the history.
    func commit() throws -> HistoryPoint? {
        let results = try connection.execute(
            try stampsSQL()
                + "SELECT pg_notify('\(PostgresListener.channel)', ''); SET LOCAL statement_timeout = 0; "
                + "\(BackendCatalog.pointSQL); COMMIT")
        guard results.last?.isCommit == true else {
            throw PostgresFailure(state: "40000", reason: "the transaction was rolled back")
        }
        return BackendCatalog.point(results.dropLast().last?.rows ?? [])
    }

    // MARK: Statements

    func run(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] { try query(sql, values).rows }

    func query(_ sql: String, _ values: [SQLValue], isKept: Bool = true) throws -> PostgresResult {
        try connection.query(sql, values, isKept: isKept)
    }

    func query(_ sql: SQLText) throws -> PostgresResult { try query(sql.text, sql.values) }

    func records(_ schema: TableSchema) throws -> any RecordStorage {
        try table(schema.name) ?? PostgresRecords(schema)
    }

    func current(_ records: any RecordStorage) throws -> any RecordStorage {
        try table(records.schema.name) ?? records
    }

    func columnsChanged() { (mark, ownTables) = (nil, nil) }

    private func table(_ name: String) throws -> (any RecordStorage)? {
        let name = ExactName(name)
        if let mark, let known = tables.tables(mark) { return known[name] }
        if ownTables == nil {
            ownTables = try PostgresTables.read(self)
            if let mark { tables.note(ownTables ?? [:], mark) }
        }
        return ownTables?[name]
    }

    /// Reads the rows of a statement in parts, until `body` returns false.
    func walk(_ sql: SQLText, _ body: (PostgresResult) throws -> Bool) throws {
        cursors += 1
        let cursor = "sluice_\(cursors)"
        _ = try query("DECLARE \(cursor) NO SCROLL CURSOR FOR \(sql.text)", sql.values, isKept: false)
        var size = FetchSize()
        while true {
            let rows = try query("FETCH \(size.rows) FROM \(cursor)", [], isKept: false)
            if try rows.count == 0 || !body(rows) || rows.count < size.rows { break }
            size.note(rows: rows.count, bytes: rows.bytes)
        }
        _ = try query("CLOSE \(cursor)", [], isKept: false)
    }

    // MARK: Numbers and times

    func makeNumber() throws -> Int64 {
        try withStamps { stamps in
            stamps.point.number += 1
            return stamps.point.number
        }
    }

    func latestPoint() throws -> HistoryPoint {
        writes ? try withStamps { $0.point } : try BackendCatalog.storedPoint(self)
    }

    func makeTime(of table: String, now: Timestamp) throws -> Timestamp {
        try withStamps { stamps in
            let name = ExactName(table)
            guard let latest = stamps.latest[name] else {
                throw SluiceError(.storeSchema, "the table is not in the catalog", table: table)
            }
            let ticks = max(latest + Self.timeStep, now.ticks / Self.timeStep * Self.timeStep)
            stamps.latest[name] = ticks
            stamps.changed.insert(name)
            return Timestamp(ticks: ticks)
        }
    }

    func settle() throws {
        let sql = try stampsSQL()
        stamps = nil
        if !sql.isEmpty { try connection.execute(sql) }
    }

    private func withStamps<Result>(_ body: (inout Stamps) throws -> Result) throws -> Result {
        if stamps == nil {
            stamps = Stamps(latest: try run(Self.latestSQL, []), point: try run(BackendCatalog.pointSQL, []))
        }
        guard var current = stamps else { throw SluiceError(.storeSchema, "the database says nothing of its numbers") }
        defer { stamps = current }
        return try body(&current)
    }

    private func stampsSQL() throws -> String {
        guard let stamps else { return "" }
        var sql = "UPDATE sluice_counter SET value = \(stamps.point.number) WHERE value < \(stamps.point.number); "
        for name in stamps.changed.sorted(by: { $0.text < $1.text }) {
            sql +=
                "UPDATE sluice_tables SET latest = \(stamps.latest[name] ?? 0) "
                + "WHERE name = \(try connection.literal(name.text)) AND latest < \(stamps.latest[name] ?? 0); "
        }
        return sql
    }
}
