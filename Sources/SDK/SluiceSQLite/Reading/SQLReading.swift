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
        // SQLite's sorting must not write plain text to a temporary file.
        if connection.isEncrypted { try connection.execute("PRAGMA temp_store = MEMORY") }
        try connection.execute("BEGIN DEFERRED")
        // The rollback removes the views too.
        defer { try? connection.execute("PRAGMA query_only = OFF; ROLLBACK") }
        try connection.catalog.refresh(connection)
        let views = SQLViews(connection.catalog)
        try connection.execute("PRAGMA query_only = OFF")
        try views.create(on: connection)
        try connection.execute("PRAGMA query_only = ON")
        // SQLite makes these tables when they are first used, which would look like a write.
        for table in SQLFunctionNames.tables { _ = try? connection.prepareOne("SELECT 1 FROM \(table)('[]')") }
        let authorizer = SQLAuthorizer(views: views)
        // Leaves room for SQLite's reads of its own tables, even if the limit is small.
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

    /// Returns the error in terms of the statement, if it came from SQLite.
    private func meaning(of error: SluiceError) -> SluiceError {
        guard let failure = error.cause as? SQLiteFailure else { return error }
        switch failure.primaryCode {
        case Int32(CSQLITE_INTERRUPT): return watch.reason ?? error
        case Int32(CSQLITE_TOOBIG): return tooManyBytes
        // SQLite refuses writing to a view before it asks whether the statement may write.
        case Int32(CSQLITE_ERROR) where failure.reason.hasPrefix("cannot modify "): return Self.writes
        case Int32(CSQLITE_ERROR) where error.code != .storeCorrupt:
            return SluiceError(.invalidQuery, "SQLite refuses the statement: \(failure.reason)")
        default: return error
        }
    }
}

/// The result of a `SELECT`: the names of its columns, and its rows.
public struct SQLRows: Sendable, Hashable {
    /// The columns' names, in the statement's order. Two columns may have the same name.
    public var columns: [String]
    /// The rows, each with one value for each column.
    public var rows: [[JSON]]

    /// Creates a result.
    public init(columns: [String], rows: [[JSON]]) {
        self.columns = columns
        self.rows = rows
    }

    /// Each row as a JSON object, its members in the order of the columns. If several columns have the same name, the
    /// second becomes `name:1`, the third `name:2`.
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

/// A column of a statement's rows.
struct SQLColumn {
    let name: String
    private let index: Int
    /// The type that the column is declared with; nil for an expression.
    private let type: TableSchema.ColumnType?

    init(_ statement: SQLiteStatement, _ index: Int, _ views: SQLViews) {
        name = statement.columnName(index)
        self.index = index
        if let origin = statement.columnOrigin(index) {
            type = views.type(of: origin.column, in: origin.table)
        } else {
            // If the column's origin is unknown, its type in SQL still identifies booleans.
            type = statement.declaredType(index) == "BOOLEAN" ? .boolean : nil
        }
    }

    /// Returns the value's size in bytes for the byte limit.
    func size(in statement: SQLiteStatement) -> Int {
        switch statement.columnType(index) {
        case Int32(CSQLITE_TEXT), Int32(CSQLITE_BLOB): statement.byteCount(index)
        default: 8
        }
    }

    /// Returns the value in the statement's row, by its declared type; a blob as text of hexadecimal digits.
    func value(in statement: SQLiteStatement) -> JSON {
        if let type, let value = RecordColumns.value(statement, index, type) { return value }
        switch statement.value(index) {
        case .null: return .null
        case .integer(let int): return JSON(int)
        case .real(let double): return JSON(double)
        case .text(let text): return JSON(text)
        case .blob(let bytes): return JSON(Base16.text(bytes))
        }
    }
}

/// Decides the permissions of a statement while SQLite prepares it: it may read the views, and call functions that only
/// compute.
///
/// It is for the thread that uses the connection.
final class SQLAuthorizer {
    private let views: SQLViews
    /// The reason for refusing the statement; nil if it was not refused.
    private(set) var refusal: SluiceError?
    /// The store's tables that the statement reads.
    private(set) var tables: Set<String> = []

    init(views: SQLViews) { self.views = views }

    /// Runs `body` with the authorizer active for every statement of the connection.
    func guarding<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        let api = connection.api
        _ = api.pointee.set_authorizer(connection.handle, decide, Unmanaged.passUnretained(self).toOpaque())
        defer { _ = api.pointee.set_authorizer(connection.handle, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    fileprivate func allows(_ action: Int32, _ first: String, _ second: String) -> Bool {
        switch action {
        case Int32(CSQLITE_SELECT), Int32(CSQLITE_RECURSIVE): return true
        case Int32(CSQLITE_READ):
            if let table = views.table(first) {
                tables.insert(table)
                return true
            }
            if SQLFunctionNames.tables.contains(first.lowercased()) { return true }
            // Without a column, it may name a part of the statement: a common table expression.
            if second.isEmpty, !views.hides(first) { return true }
            return refuse(.invalidTable, Self.reason(ofTable: first), table: first)
        case Int32(CSQLITE_FUNCTION):
            if SQLFunctionNames.contains(second) { return true }
            return refuse(.invalidQuery, "SQL cannot call the function \(second) here")
        case Int32(CSQLITE_INSERT), Int32(CSQLITE_UPDATE), Int32(CSQLITE_DELETE):
            if StoreRules.folded(first).starts(with: "sqlite_".utf8) {
                // SQLite also asks about tables that it makes up, those of pragmas for example.
                return refuse(.invalidTable, "the statement uses a table that belongs to SQLite; SQL cannot do so here")
            }
            return refuse(.invalidQuery, "SQL only reads here, and this statement writes to \(first)", table: first)
        default: return refuse(.invalidQuery, "SQL only reads here, and this statement does something else")
        }
    }

    private static func reason(ofTable name: String) -> String {
        if SQLViews.isOwn(name) { return "the table \(name) belongs to the engine; SQL cannot read it" }
        if StoreRules.folded(name).starts(with: "sqlite_".utf8) {
            return "the table \(name) belongs to SQLite; SQL cannot read it here"
        }
        return "the table \(name) is not one of the store's tables of records; SQL cannot read it here"
    }

    private func refuse(_ code: SluiceError.Code, _ message: String, table: String? = nil) -> Bool {
        // The first reason is about the beginning of the statement.
        if refusal == nil { refusal = SluiceError(code, message, table: table) }
        return false
    }
}

private let decide: csqlite_authorizer = { context, action, first, second, _, _ in
    guard let context else { return Int32(CSQLITE_DENY) }
    let authorizer = Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue()
    let isAllowed = authorizer.allows(
        action, first.map { String(cString: $0) } ?? "", second.map { String(cString: $0) } ?? "")
    return isAllowed ? Int32(CSQLITE_OK) : Int32(CSQLITE_DENY)
}

/// The functions of SQLite that SQL may call: those that depend on their arguments and the time only, and change
/// nothing. Other functions of a library are not known here, and may write files or load code.
enum SQLFunctionNames {
    /// Whether a statement may call the function.
    static func contains(_ name: String) -> Bool { all.contains(name.lowercased()) }

    private static let all = Set(
        [core, time, aggregates, windows, mathematics, json].flatMap { $0.split(separator: " ").map(String.init) })

    // sqlite.org/lang_corefunc.html
    private static let core = """
        abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely \
        lower ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex \
        sqlite_version substr substring trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
        """
    // sqlite.org/lang_datefunc.html
    private static let time = """
        date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
        """
    // sqlite.org/lang_aggfunc.html
    private static let aggregates = "avg count group_concat string_agg sum total median percentile"
    // sqlite.org/windowfunctions.html
    private static let windows = """
        row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
        """
    // sqlite.org/lang_mathfunc.html
    private static let mathematics = """
        acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow \
        power radians sin sinh sqrt tan tanh trunc
        """
    // sqlite.org/json1.html
    private static let json = """
        -> ->> json jsonb json_array jsonb_array json_array_length json_error_position json_extract jsonb_extract \
        json_insert jsonb_insert json_object jsonb_object json_patch jsonb_patch json_pretty json_remove jsonb_remove \
        json_replace jsonb_replace json_set jsonb_set json_type json_valid json_quote json_group_array \
        jsonb_group_array json_group_object jsonb_group_object
        """
    /// The tables that SQLite makes of a JSON value.
    static let tables: Set<String> = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"]
}
