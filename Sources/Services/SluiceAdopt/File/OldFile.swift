internal import SluiceBase
internal import SluiceSQLite

/// A column of an old store's table, as its declaration has it.
struct OldColumn {
    let name: String
    /// The declared type in capitals; empty without one.
    let type: String
    let isRequired: Bool
}

/// An open copy of an old store, as tables and rows.
struct OldFile {
    /// The tables with their columns, by name. SQLite's own are not among them.
    let tables: [String: [OldColumn]]
    private let connection: SQLiteConnection

    /// - Throws: ``SluiceError`` of code `storeNotADatabase` for another kind of file, also an encrypted one;
    ///   `unsupported` for a virtual table, whose content is not in the file; of the store.
    init(path: String) throws {
        connection = try SQLiteConnection(path: path, access: .readWrite)
        var tables: [String: [OldColumn]] = [:]
        for row in try connection.run("SELECT name, sql FROM sqlite_schema WHERE type = 'table'") {
            guard case .text(let name) = row[0], !name.hasPrefix("sqlite_") else { continue }
            if case .text(let sql) = row[1], sql.uppercased().hasPrefix("CREATE VIRTUAL") {
                throw SluiceError(.unsupported, "the old store has a virtual table, \(name)")
            }
            let columns = try connection.run(
                "SELECT name, type, \"notnull\" FROM pragma_table_info(?) ORDER BY cid", [.text(name)])
            tables[name] = columns.compactMap { column in
                guard case .text(let name) = column[0], case .text(let type) = column[1] else { return nil }
                return OldColumn(name: name, type: type.uppercased(), isRequired: column[2] == .integer(1))
            }
        }
        self.tables = tables
    }

    /// Whether there is a table of that name with that column; both in the given spelling.
    func has(_ table: String, _ column: String? = nil) -> Bool {
        guard let columns = tables[table] else { return false }
        return column.map { column in columns.contains { $0.name == column } } ?? true
    }

    /// Returns the rows of a table in the order of an expression, which the program itself has written.
    func rows(of table: String, by order: String) throws -> [OldRow] {
        var rows: [OldRow] = []
        try forEachRow(of: table, by: order) { rows.append($0) }
        return rows
    }

    func forEachRow(of table: String, by order: String = "rowid", _ body: (OldRow) throws -> Void) throws {
        let names = (tables[table] ?? []).map(\.name)
        let quoted = SQLDialect.sqlite.quoted
        let list = names.map(quoted).joined(separator: ", ")
        let statement = try connection.statement("SELECT \(list) FROM \(quoted(table)) ORDER BY \(order)")
        defer { statement.reset() }
        while try statement.step() {
            try body(
                OldRow(table, Dictionary(zip(names, names.indices.map(statement.value)), uniquingKeysWith: { $1 })))
        }
    }

    /// Whether a column of any row meets a condition, which the program itself has written with `$` for the column.
    func any(_ table: String, _ column: String, _ condition: String) throws -> Bool {
        let quoted = SQLDialect.sqlite.quoted
        let text = condition.split(separator: "$", omittingEmptySubsequences: false).joined(separator: quoted(column))
        return try !connection.run("SELECT 1 FROM \(quoted(table)) WHERE \(text) LIMIT 1").isEmpty
    }

    /// The hash of all that the tables hold: of one content the same, in a log or not.
    func digest() throws -> String {
        var hash = FNV1a.hash([])
        for table in tables.keys.sorted() {
            hash = FNV1a.hash(table.utf8 + [0], after: hash)
            let names = (tables[table] ?? []).map(\.name)
            try forEachRow(of: table) { row in
                for name in names { hash = FNV1a.hash("\(row.values[name] ?? .null)\u{0}".utf8, after: hash) }
            }
        }
        return String(hash, radix: 16)
    }
}

/// A row of one of an old store's tables.
struct OldRow {
    let table: String
    let values: [String: SQLValue]

    init(_ table: String, _ values: [String: SQLValue]) { (self.table, self.values) = (table, values) }

    func text(_ column: String) -> String? {
        if case .text(let text)? = values[column] { return text }
        return nil
    }

    /// The whole number of a column that holds one, also as a real or a text.
    func integer(_ column: String) -> Int64? {
        switch values[column] {
        case .integer(let value)?: value
        case .real(let value)?: Int64(exactly: value)
        case .text(let text)?: Double(text).flatMap { Int64(exactly: $0) }
        default: nil
        }
    }

    /// The document of a column with JSON, as a text or as its bytes; nil where there is none.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for anything else.
    func json(_ column: String) throws(SluiceError) -> JSON? {
        let bytes: [UInt8]
        switch values[column] {
        case .text(let text)?: bytes = Array(text.utf8)
        case .blob(let blob)?: bytes = blob
        default: return nil
        }
        if bytes.isEmpty { return nil }
        do { return try JSON(parsing: bytes) } catch {
            throw SluiceError(.unsupported, "the column \(column) of \(table) holds a text that is no JSON")
        }
    }

    func refusal(_ column: String, _ meaning: String) -> SluiceError {
        let value: String =
            switch values[column] {
            case .integer(let value)?: "\(value)"
            case .real(let value)?: "\(value)"
            case .text(let text)?: "“\(text.prefix(40))”"
            case .blob?: "bytes"
            default: "nothing"
            }
        return SluiceError(.unsupported, "\(table).\(column) holds \(value), which is no known \(meaning)")
    }
}
