public import SluiceCore

extension SQLiteStore {
    /// Reads one state of the store with SQL.
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
    /// `json_extract(record, '$.x')`; it is null if there are none.
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
    ///   - options: the limits of the statement.
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a statement that SQLite refuses or that does more than
    ///   read, `invalidTable` for one that reads a table of the engine or of SQLite, `invalidArgument` for bindings
    ///   that do not fit it, `limitReached` if it exceeds a limit, `cancelled` if its task was cancelled, or of a store
    ///   code.
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

    /// Reads with SQL, and also returns the tables that were read.
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

/// The limits of one SQL statement. A statement that exceeds a limit throws ``SluiceError`` of code `limitReached`, and
/// returns no rows.
public struct SQLOptions: Sendable, Hashable {
    /// The longest time that the statement may run. The time that it waits for another statement does not count.
    public var timeLimit: Duration
    /// The largest number of rows.
    public var rowLimit: Int
    /// The largest size of its rows together in bytes: the bytes of each text, and 8 for each other value.
    public var byteLimit: Int

    /// Creates options; by default 5 seconds, 100,000 rows and 64 MiB.
    public init(timeLimit: Duration = .seconds(5), rowLimit: Int = 100_000, byteLimit: Int = 64 << 20) {
        self.timeLimit = timeLimit
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }

    /// - Throws: ``SluiceError`` of code `invalidArgument` for a negative limit, or a time limit of zero.
    func check() throws(SluiceError) {
        guard timeLimit > .zero else {
            throw SluiceError(.invalidArgument, "the time limit of a statement is more than zero, not \(timeLimit)")
        }
        for (limit, name) in [(rowLimit, "row limit"), (byteLimit, "byte limit")] where limit < 0 {
            throw SluiceError(.invalidArgument, "the \(name) of a statement cannot be \(limit)")
        }
    }
}

/// The views through which SQL sees a store's tables.
///
/// The view of a table has the table's name and hides the storage of its records. That of a declared table has `id`,
/// the declared columns and `_extra`; that of another one has `id` and `record`, the JSON object of all other
/// properties.
struct SQLViews {
    /// The column of an undeclared table that holds its records.
    static let record = "record"
    private var tables: [[UInt8]: RecordTable] = [:]
    /// The names of the engine's own tables in the database.
    private var hidden: Set<[UInt8]> = []

    /// Creates the views of all tables except the engine's own.
    init(_ catalog: RecordCatalog) {
        for schema in catalog.schemas {
            guard let table = catalog.table(schema.name) else { continue }
            let storage = StoreRules.folded(table.storage)
            if Self.isOwn(schema.name) { hidden.insert(storage) } else { tables[storage] = table }
        }
    }

    /// Whether a table of that name belongs to the engine.
    static func isOwn(_ name: String) -> Bool { StoreRules.folded(name).starts(with: SyncTables.prefix.utf8) }

    /// Creates the views on this connection, until the open transaction is rolled back.
    func create(on connection: SQLiteConnection) throws(SluiceError) {
        for table in tables.values { try connection.execute(Self.definition(of: table)) }
    }

    private static func definition(of table: RecordTable) -> String {
        func quoted(_ name: String) -> String { SQLDialect.sqlite.quoted(name) }
        let declared = table.schema.columns.map { quoted($0.name.text) }
        let rest = quoted(RecordTable.extra)
        let columns =
            [quoted("id")] + (declared.isEmpty ? ["\(rest) AS \(quoted(record))"] : declared + [rest])
        return "CREATE TEMP VIEW \(table.quotedStorage) AS SELECT \(columns.joined(separator: ", ")) "
            + "FROM main.\(table.quotedStorage)"
    }

    /// Returns the store's name for the table of the view of that name; nil if there is no such view.
    func table(_ name: String) -> String? { tables[StoreRules.folded(name)]?.schema.name }

    /// Whether a table of that name may be in the database without a view.
    func hides(_ name: String) -> Bool {
        let folded = StoreRules.folded(name)
        return hidden.contains(folded)
            || [SyncTables.prefix, "sqlite_", "pragma_"].contains { folded.starts(with: $0.utf8) }
    }

    /// Returns the declared type of a column; nil for one without a type.
    func type(of column: String, in table: String) -> TableSchema.ColumnType? {
        if column == RecordTable.extra { return .json }
        let columns = tables[StoreRules.folded(table)]?.schema.columns
        return columns?.first { $0.name == PropertyName(column) }?.type
    }
}
