public import SluiceCore

extension SQLiteStore {
    /// Reads with SQL, on one state of the store.
    ///
    /// ```swift
    /// let result = try await store.sql(
    ///     "SELECT f.title, count(*) AS n FROM films f JOIN ratings r ON r.film = f.id WHERE f.year > ? GROUP BY f.id",
    ///     [1990])
    /// for row in result.objects { print(row) }
    /// ```
    ///
    /// A declared table has the columns `id`, the declared ones, and `_extra`: a JSON object of the properties that
    /// have no column. An undeclared table has `id` and `record`: a JSON object of all its other properties, for
    /// `json_extract(record, '$.x')`; it is null where there are none.
    ///
    /// A value of a declared column comes as the column's type says: a boolean as true or false, a date as text, JSON
    /// as JSON. A value of an expression comes as SQLite has it: a boolean is 0 or 1, and JSON is text. A blob comes as
    /// text of hexadecimal digits, and a number that is not finite as null.
    ///
    /// The text is one statement that reads, over the application's tables and with those functions of SQLite that
    /// change nothing. Statements run one after another, beside the store's other reads and writes; those of a store
    /// without a file run between its writes.
    ///
    /// - Parameters:
    ///   - text: the statement. Values from outside belong into the bindings and not into the text.
    ///   - bindings: a value for each parameter, in order. A boolean becomes 0 or 1, an array or an object its text.
    ///   - options: how much the statement may take.
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a statement that SQLite refuses or that does more than
    ///   read, `invalidTable` for one that reads a table of the engine or of SQLite, `invalidArgument` for bindings
    ///   that do not fit it, `limitReached` where it goes past a limit, `cancelled` where its task was cancelled, or of
    ///   a store code.
    public func sql(
        _ text: String, _ bindings: [JSON] = [], options: SQLOptions = SQLOptions()
    ) async throws -> SQLRows {
        try await sql(text, .positional(bindings), options).rows
    }

    /// Reads with SQL, with values for named parameters: `:year`, `@year` and `$year` take the value `year`.
    ///
    /// - Throws: as with values in order.
    public func sql(
        _ text: String, _ bindings: [String: JSON], options: SQLOptions = SQLOptions()
    ) async throws -> SQLRows {
        try await sql(text, .named(bindings), options).rows
    }

    /// Reads with SQL, and says which of the store's tables were read.
    func sql(
        _ text: String, _ bindings: SQLBindings, _ options: SQLOptions
    ) async throws -> (rows: SQLRows, tables: Set<String>) {
        try options.check()
        try SQLStatementText.checkReads(text)
        let watch = SQLWatch(limit: options.timeLimit)
        let reading = SQLReading(text: text, bindings: bindings, options: options, watch: watch)
        return try await withTaskCancellationHandler {
            try await withSQLConnection { try reading.result(on: $0) }
        } onCancel: {
            watch.cancel()
        }
    }
}

/// How much one SQL statement may take. A statement that goes past a limit throws ``SluiceError`` of code
/// `limitReached`, and gives no rows.
public struct SQLOptions: Sendable, Hashable {
    /// How long the statement may run. The time that it waits for another statement does not count.
    public var timeLimit: Duration
    /// How many rows it may give.
    public var rowLimit: Int
    /// How many bytes its rows may have together: the bytes of each text, and 8 for each other value.
    public var byteLimit: Int

    /// Options; by default 5 seconds, 100,000 rows and 64 MiB.
    public init(timeLimit: Duration = .seconds(5), rowLimit: Int = 100_000, byteLimit: Int = 64 << 20) {
        self.timeLimit = timeLimit
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }

    /// - Throws: ``SluiceError`` of code `invalidArgument` for a limit that is negative, or a time of nothing.
    func check() throws(SluiceError) {
        guard timeLimit > .zero else {
            throw SluiceError(.invalidArgument, "the time limit of a statement is more than zero, not \(timeLimit)")
        }
        for (limit, name) in [(rowLimit, "row limit"), (byteLimit, "byte limit")] where limit < 0 {
            throw SluiceError(.invalidArgument, "the \(name) of a statement cannot be \(limit)")
        }
    }
}
