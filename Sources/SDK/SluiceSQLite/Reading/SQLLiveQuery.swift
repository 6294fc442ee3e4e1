internal import CSQLite
public import SluiceCore
internal import Synchronization

/// The results of a SQL statement over a context's store: the current result, and each later one that differs.
///
/// The statement runs in the task that reads the sequence. It runs again only after a commit that can concern a table
/// that it reads. Several commits before the next read lead to one run.
///
/// ```swift
/// let sql = "SELECT l.name, count(*) AS n FROM todos t JOIN lists l ON l.id = t.list WHERE NOT t.done GROUP BY l.id"
/// for try await result in try context.observe(sql: sql) {
///     print(result.objects)
/// }
/// ```
public struct SQLLiveQuery: AsyncSequence, Sendable {
    let context: SyncContext
    let store: SQLiteStore
    let text: String
    let bindings: SQLBindings
    let options: SQLOptions

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: SQLLiveQuery
        private let watch: TableWatch
        private var rows: SQLRows?
        /// The tables that the statement has read.
        private var tables: Set<String> = []
        /// Whether a commit is not shown by any read yet: true before the first result, and after a failed read.
        private var isDue = true

        fileprivate init(_ query: SQLLiveQuery) {
            self.query = query
            watch = TableWatch(query.context)
        }

        /// Waits for the next result; nil once the task is cancelled.
        ///
        /// - Throws: as ``SQLiteStore/sql(_:_:options:)-(_,[JSON],_)``. The next call reads again.
        public mutating func next() async throws -> SQLRows? {
            while !Task.isCancelled {
                if !isDue {
                    guard await watch.next(concerning: tables) else { return nil }
                    isDue = true
                }
                let new = try await query.store.sql(query.text, query.bindings, query.options)
                (tables, isDue) = (new.tables, false)
                if new.rows != rows {
                    rows = new.rows
                    return new.rows
                }
            }
            return nil
        }
    }

    /// Makes a reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension SyncContext {
    /// Observes the result of a SQL statement: the current one, and each change by a write, a push, a pull or a purge
    /// of this context.
    ///
    /// - Parameters:
    ///   - text: the statement, as for ``SQLiteStore/sql(_:_:options:)-(_,[JSON],_)``.
    ///   - bindings: a value for each parameter, in order.
    ///   - options: the limits of each run of the statement.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the context's store is no ``SQLiteStore``. Faults of the
    ///   statement are thrown by the sequence.
    public func observe(
        sql text: String, _ bindings: [JSON] = [], options: SQLOptions = SQLOptions()
    ) throws -> SQLLiveQuery {
        try observe(text, .positional(bindings), options)
    }

    /// Observes the result of a SQL statement with values for named parameters.
    ///
    /// - Throws: as with values in order.
    public func observe(
        sql text: String, _ bindings: [String: JSON], options: SQLOptions = SQLOptions()
    ) throws -> SQLLiveQuery {
        try observe(text, .named(bindings), options)
    }

    private func observe(_ text: String, _ bindings: SQLBindings, _ options: SQLOptions) throws -> SQLLiveQuery {
        guard let store = store as? SQLiteStore else {
            throw SluiceError(.invalidArgument, "SQL is observed in a context over a SQLiteStore alone")
        }
        return SQLLiveQuery(context: self, store: store, text: text, bindings: bindings, options: options)
    }
}

/// Ends a statement when its time is over or its task is cancelled. Any thread may cancel it.
final class SQLWatch: Sendable {
    private let limit: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)
    private let isCancelled = Atomic<Bool>(false)
    /// The number of steps of SQLite's virtual machine between two checks of the clock: a few microseconds.
    private static let steps: Int32 = 1000

    init(limit: Duration) { self.limit = limit }

    /// Ends the statement at the next check.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Runs `body`, and interrupts its statements once there is a reason.
    func guarding<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        // A clock has room for a limited number of seconds; these are thirty years.
        let limit = min(limit, .seconds(1_000_000_000))
        end.withLock { $0 = ContinuousClock.now.advanced(by: limit) }
        let api = connection.api
        api.pointee.progress_handler(
            connection.handle, Self.steps, mayEnd, Unmanaged.passUnretained(self).toOpaque())
        defer { api.pointee.progress_handler(connection.handle, 0, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    /// The reason for ending the statement; nil while it may go on.
    var reason: SluiceError? {
        if isCancelled.load(ordering: .relaxed) {
            return SluiceError(.cancelled, "the statement's task was cancelled")
        }
        guard let end = end.withLock({ $0 }), ContinuousClock.now >= end else { return nil }
        return SluiceError(.limitReached, "the statement ran longer than the time limit of \(limit)")
    }
}

/// A result other than zero interrupts the statement.
private func mayEnd(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<SQLWatch>.fromOpaque(context).takeUnretainedValue().reason == nil ? 0 : 1
}
