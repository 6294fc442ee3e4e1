internal import SluiceCore

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
