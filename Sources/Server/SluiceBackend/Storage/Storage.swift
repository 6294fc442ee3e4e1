internal import SluiceCore
internal import Synchronization

/// The storage of a backend: transactions on a database.
protocol Storage: AnyObject, Sendable {
    /// The file with the last commit, beside the database; nil if a backup is detected by other means, or not at all.
    var markFile: LastCommitFile? { get }

    /// Runs `body` on one snapshot. It may run more than once.
    func read<Result: Sendable>(
        _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// Runs `body` on a snapshot that may be older than the latest state, but not older than `floor`.
    func read<Result: Sendable>(
        atLeast floor: ReadFloor, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// Runs `body` as one serialized transaction. Simultaneous requests may be committed together. `body` may run more
    /// than once; if it throws, its writes are rolled back.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result

    /// Sets an action to call after each later commit, by any process.
    func onCommit(_ action: @escaping @Sendable () -> Void)

    /// Returns a secret shared by all processes on the database; nil if only one can use it.
    func secret() async throws -> String?

    /// Writes the mark, to make sure that it can be written.
    func requireMark() async throws

    /// Waits for the work in progress and closes the connections.
    func close() async throws
}

extension Storage {
    func read<Result: Sendable>(
        atLeast floor: ReadFloor, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result { try await read(body) }
}

/// A connection to the database in an open transaction, for one thread at a time.
///
/// Statements must be valid for both SQLite and PostgreSQL. Their parameters are `$1`, `$2` and so on, numbered by
/// their first occurrence in the statement.
protocol StorageConnection: AnyObject {
    /// Assigns a new number, never used before, for an id or a version.
    func makeNumber() throws -> Int64
    /// Returns the transaction's point of the history.
    func latestPoint() throws -> HistoryPoint
    /// Assigns a time later than every other of the table, not before `now`.
    func makeTime(of table: String, now: Timestamp) throws -> Timestamp
    /// Writes assigned numbers and times to the catalog's tables, for storages that delay this.
    func settle() throws

    /// Runs one statement, and returns its rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]]

    /// Returns the records of a table with the given columns, even if the database lacks some.
    func records(_ schema: TableSchema) throws -> any RecordStorage
    /// Returns the table with its current columns, including those added by another process.
    func current(_ records: any RecordStorage) throws -> any RecordStorage
    /// Records that the transaction has changed a table's columns.
    func columnsChanged()
}

extension StorageConnection {
    func current(_ records: any RecordStorage) throws -> any RecordStorage { records }
    func columnsChanged() {}

    @discardableResult
    func run(_ sql: String) throws -> [[SQLValue]] { try run(sql, []) }

    /// Returns the integer result of a statement with one row and column, or 0.
    func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64 {
        guard case .integer(let value)? = try run(sql, values).first?.first else { return 0 }
        return value
    }
}

/// The action to call after each commit of a database.
final class CommitAction: Sendable {
    /// A mutex must not hold a bare closure: each access would wrap it in one more closure, until the nested calls
    /// overflow the stack.
    private struct Held { var action: (@Sendable () -> Void)? }
    private let held = Mutex(Held())

    /// Sets the action for later commits.
    func set(_ action: @escaping @Sendable () -> Void) { held.withLock { $0.action = action } }

    /// Calls the action.
    func callAsFunction() { held.withLock { $0.action }?() }
}
