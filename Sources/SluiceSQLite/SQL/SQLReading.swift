internal import CSQLite
public import SluiceCore

/// One statement that reads, from its text to its rows.
struct SQLReading: Sendable {
    let text: String
    let bindings: SQLBindings
    let options: SQLOptions
    let watch: SQLWatch

    /// Runs the statement on one state of the store, and leaves the connection as it was.
    ///
    /// - Returns: the rows, and the store's tables that the statement reads.
    func result(on connection: SQLiteConnection) throws -> (rows: SQLRows, tables: Set<String>) {
        // What SQLite sorts may not lie in a file in plain text.
        if connection.isEncrypted { try connection.execute("PRAGMA temp_store = MEMORY") }
        try connection.execute("BEGIN DEFERRED")
        // With the transaction the views go.
        defer { try? connection.execute("PRAGMA query_only = OFF; ROLLBACK") }
        try connection.catalog.refresh(connection)
        let views = SQLViews(connection.catalog)
        try connection.execute("PRAGMA query_only = OFF")
        try views.create(on: connection)
        try connection.execute("PRAGMA query_only = ON")
        // SQLite makes these tables when they are first used, which would look like a write.
        for table in SQLFunctionNames.tables { _ = try? connection.prepareOne("SELECT 1 FROM \(table)('[]')") }
        let authorizer = SQLAuthorizer(views: views)
        // Room for what SQLite reads of itself, however small the limit is.
        let length = Int32(clamping: max(options.byteLimit, 1 << 20))
        let previous = connection.api.pointee.limit(connection.handle, Int32(CSQLITE_LIMIT_LENGTH), length)
        defer { _ = connection.api.pointee.limit(connection.handle, Int32(CSQLITE_LIMIT_LENGTH), previous) }
        do {
            let rows = try authorizer.guarding(connection) {
                try watch.guarding(connection) { try read(on: connection, views) }
            }
            return (rows, authorizer.tables)
        } catch let error as SluiceError {
            throw authorizer.refusal ?? meaning(of: error)
        }
    }

    private func read(on connection: SQLiteConnection, _ views: SQLViews) throws -> SQLRows {
        if let reason = watch.reason { throw reason }
        let statement = try connection.prepareOne(text)
        guard statement.isReadOnly else { throw Self.writes }
        try bindings.bind(to: statement)
        let columns = (0..<statement.columnCount).map { SQLColumn(statement, $0, views) }
        var result = SQLRows(columns: columns.map(\.name), rows: [])
        var bytes = 0
        while try statement.step() {
            if let reason = watch.reason { throw reason }
            guard result.rows.count < options.rowLimit else {
                throw SluiceError(
                    .limitReached, "the statement gives more rows than the row limit of \(options.rowLimit.grouped)")
            }
            for column in columns {
                bytes += column.size(in: statement)
                guard bytes <= options.byteLimit else { throw tooManyBytes }
            }
            result.rows.append(columns.map { $0.value(in: statement) })
        }
        return result
    }

    private var tooManyBytes: SluiceError {
        SluiceError(
            .limitReached, "the statement's rows take more than the byte limit of \(options.byteLimit.grouped)")
    }

    private static let writes = SluiceError(.invalidQuery, "SQL only reads here, and this statement writes")

    /// The error in terms of the statement, where it came from SQLite.
    private func meaning(of error: SluiceError) -> SluiceError {
        guard let failure = error.cause as? SQLiteFailure else { return error }
        switch failure.primaryCode {
        case Int32(CSQLITE_INTERRUPT): return watch.reason ?? error
        case Int32(CSQLITE_TOOBIG): return tooManyBytes
        // A view cannot be written to, which SQLite says before it asks whether the statement may write.
        case Int32(CSQLITE_ERROR) where failure.reason.hasPrefix("cannot modify "): return Self.writes
        case Int32(CSQLITE_ERROR) where error.code != .storeCorrupt:
            return SluiceError(.invalidQuery, "SQLite refuses the statement: \(failure.reason)")
        default: return error
        }
    }
}

/// What a `SELECT` gave: the names of its columns, and its rows.
public struct SQLRows: Sendable, Hashable {
    /// The columns' names, in the statement's order. Two columns may have the same name.
    public var columns: [String]
    /// The rows, each with one value for each column.
    public var rows: [[JSON]]

    /// Rows.
    public init(columns: [String], rows: [[JSON]]) {
        self.columns = columns
        self.rows = rows
    }

    /// Each row as a JSON object, its members in the order of the columns. Where several columns have the same name,
    /// the second becomes `name:1`, the third `name:2`.
    public var objects: [JSON] {
        var names: [String] = []
        var taken: Set<[UInt8]> = []
        for column in columns {
            var name = column
            var number = 1
            while !taken.insert(Array(name.utf8)).inserted {
                name = "\(column):\(number)"
                number += 1
            }
            names.append(name)
        }
        return rows.map { JSON(members: zip(names, $0)) }
    }
}
