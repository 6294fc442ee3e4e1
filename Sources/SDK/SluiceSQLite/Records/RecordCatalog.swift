internal import SluiceCore

/// The tables of records in a database file, as its table `sluice_schema` lists them.
///
/// Each connection keeps a copy. It reads the copy again after any process has changed the database's schema.
struct RecordCatalog {
    static let createSQL = """
        CREATE TABLE sluice_schema (
            name TEXT PRIMARY KEY NOT NULL, storage TEXT NOT NULL, columns TEXT NOT NULL, indexes TEXT NOT NULL)
        """

    private var tables: [ExactName: RecordTable] = [:]
    /// SQLite's count of schema changes when `tables` was read; nil if it must be read again.
    private var version: Int64?

    /// Returns the table of that name.
    func table(_ name: String) -> RecordTable? { tables[ExactName(name)] }

    /// The tables as they are declared.
    var schemas: [TableSchema] { tables.values.map(\.schema) }

    /// Updates the copy to the state that the open transaction sees.
    mutating func refresh(_ connection: SQLiteConnection) throws {
        let current = try connection.integer("PRAGMA schema_version")
        if version == current { return }
        tables = [:]
        for row in try Self.rows(connection) {
            let table = try Self.table(row)
            tables[ExactName(table.schema.name)] = table
        }
        version = current
    }

    /// Updates the copy as ``refresh(_:)``, without the tables whose declaration cannot be read.
    ///
    /// - Returns: whether every declaration could be read.
    mutating func refreshReadable(_ connection: SQLiteConnection) throws -> Bool {
        (tables, version) = ([:], nil)
        var isWhole = true
        for row in try Self.rows(connection) {
            if let table = try? Self.table(row) {
                tables[ExactName(table.schema.name)] = table
            } else {
                isWhole = false
            }
        }
        return isWhole
    }

    private static func rows(_ connection: SQLiteConnection) throws -> [[SQLValue]] {
        try connection.run("SELECT name, storage, columns, indexes FROM sluice_schema")
    }

    /// Returns the table that a row of the list declares.
    private static func table(_ row: [SQLValue]) throws -> RecordTable {
        guard case .text(let name) = row[0], case .text(let storage) = row[1], case .text(let columns) = row[2],
            case .text(let indexes) = row[3]
        else { throw SluiceError(.storeCorrupt, "the store's list of tables is damaged") }
        return RecordTable(try schema(name, columns, indexes), storage: storage)
    }

    /// Invalidates the copy, which may hold changes of a transaction that was rolled back.
    mutating func forget() { version = nil }

    /// Declares a table, creating or extending it.
    @discardableResult
    mutating func define(_ wanted: TableSchema, _ connection: SQLiteConnection) throws -> RecordTable {
        let held = table(wanted.name)
        let merged = try StoreRules.merge(wanted, into: held?.schema)
        if let held, held.schema == merged { return held }
        let defined: RecordTable
        if let held {
            defined = try held.extend(to: merged, on: connection)
        } else {
            defined = RecordTable(merged, storage: freeStorage(for: merged.name))
            try defined.create(on: connection)
        }
        try note(defined, connection)
        return defined
    }

    /// Replaces the declaration of a table, and keeps its records.
    mutating func redeclare(_ wanted: TableSchema, _ connection: SQLiteConnection) throws {
        let checked = try StoreRules.merge(wanted, into: nil)
        let held = table(wanted.name)
        if let held, held.schema == checked { return }
        let free = RecordTable(checked, storage: freeStorage(for: checked.name))
        try free.create(on: connection)
        guard let held else { return try note(free, connection) }
        try free.take(from: held, on: connection)
        try connection.execute("DROP TABLE \(held.quotedStorage)")
        // Other tools find the table under its former name.
        try note(try free.renamed(to: held.storage, on: connection), connection)
    }

    /// Removes a table.
    mutating func drop(_ name: String, _ connection: SQLiteConnection) throws {
        guard let held = table(name) else { return }
        try connection.execute("DROP TABLE \(held.quotedStorage)")
        try connection.run("DELETE FROM sluice_schema WHERE name = ?", [.text(name)])
        tables[ExactName(name)] = nil
        version = try connection.integer("PRAGMA schema_version")
    }

    private mutating func note(_ table: RecordTable, _ connection: SQLiteConnection) throws {
        try connection.run(
            "INSERT OR REPLACE INTO sluice_schema (name, storage, columns, indexes) VALUES (?, ?, ?, ?)",
            [.text(table.schema.name), .text(table.storage)] + Self.texts(table.schema).map(SQLValue.text))
        tables[ExactName(table.schema.name)] = table
        version = try connection.integer("PRAGMA schema_version")
    }

    /// Returns the table's own name, unless SQLite reserves such names or takes it for the name of another table.
    private func freeStorage(for name: String) -> String {
        let taken = Set(tables.values.map { StoreRules.folded($0.storage) })
        let isReserved = ["sqlite_", "sluice_schema"].contains {
            StoreRules.folded(name).starts(with: $0.utf8)
        }
        var candidate = isReserved ? "~\(name)" : name
        var number = 2
        while taken.contains(StoreRules.folded(candidate)) {
            candidate = "~\(number)~\(name)"
            number += 1
        }
        return candidate
    }

    // MARK: Columns and indexes as JSON

    private static func texts(_ schema: TableSchema) -> [String] {
        let columns = schema.columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }
        let indexes = schema.indexes.map { JSON($0.map { JSON($0) }) }
        return [JSON(columns).description, JSON(indexes).description]
    }

    private static func schema(_ name: String, _ columns: String, _ indexes: String) throws -> TableSchema {
        do {
            var schema = TableSchema(name)
            for column in try JSON(parsing: columns).elements ?? [] {
                guard let name = column[0]?.string, let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
                else { throw SluiceError(.storeCorrupt, "a column is of no type") }
                schema.columns.append(.init(PropertyName(name), type))
            }
            schema.indexes = (try JSON(parsing: indexes).elements ?? []).map {
                ($0.elements ?? []).compactMap { $0.string.map(PropertyName.init) }
            }
            return schema
        } catch {
            // A file of a newer format is refused before.
            throw SluiceError(.storeCorrupt, "the store's list of columns cannot be read", table: name, cause: error)
        }
    }
}
