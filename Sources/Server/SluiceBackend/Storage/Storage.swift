internal import SluiceCore

/// Where a backend keeps its records: transactions on a database.
protocol Storage: AnyObject, Sendable {
    /// Where the last commit is noted beside the database; nil where a backup is found out by other means, or not at all.
    var markFile: LastCommitFile? { get }

    /// Runs `body` on one unchanging state. It may run more than once.
    func read<Result: Sendable>(
        _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// The same, on a state that may be older than the latest, and has at least what `floor` says.
    func read<Result: Sendable>(
        atLeast floor: ReadFloor, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// Runs `body` as one transaction, after all that were committed before and before all that come after. Those of
    /// several requests at the same time may be committed together. It may run more than once; what it threw is taken
    /// back.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// Has `action` called after each commit from now on, another process's too.
    func onCommit(_ action: @escaping @Sendable () -> Void)

    /// A secret that all processes on the database share; nil where it has but one.
    func secret() async throws -> String?

    /// Writes the mark, so that it is known that it can be written.
    func requireMark() async throws

    /// Waits for what is under way and closes the connections.
    func close() async throws
}

extension Storage {
    func read<Result: Sendable>(
        atLeast floor: ReadFloor, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result { try await read(body) }
}

/// A connection to the database in an open transaction, for one thread at a time.
///
/// Statements are those that SQLite and PostgreSQL both take. Their parameters are `$1`, `$2` and so on, numbered in the
/// order in which the statement names them first.
protocol StorageConnection: AnyObject {
    /// A number that was never given out before, for an id or a version.
    func makeNumber() throws -> Int64
    /// The point of the history at which the transaction is.
    func latestPoint() throws -> HistoryPoint
    /// A time later than every other of the table, not before `now`.
    func makeTime(of table: String, now: Timestamp) throws -> Timestamp
    /// Writes what was given out into the catalog's tables, where it is not there at once.
    func settle() throws

    /// Runs one statement, and gives back its rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]]

    /// The records of a table with those columns, which the database may have not yet.
    func records(_ schema: TableSchema) throws -> any RecordStorage
    /// The table with the columns that it has now, which another process may have added to.
    func current(_ records: any RecordStorage) throws -> any RecordStorage
    /// Notes that the transaction has changed which columns a table has.
    func columnsChanged()
}

extension StorageConnection {
    func current(_ records: any RecordStorage) throws -> any RecordStorage { records }
    func columnsChanged() {}

    @discardableResult
    func run(_ sql: String) throws -> [[SQLValue]] { try run(sql, []) }

    /// The integer that a statement of one row and column gives, or 0.
    func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64 {
        guard case .integer(let value)? = try run(sql, values).first?.first else { return 0 }
        return value
    }
}
