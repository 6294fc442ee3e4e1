public import SluiceBase
internal import SluiceWire

/// The part of an application's data that stays on this machine: whole tables, and columns of synchronised tables.
///
/// ```swift
/// options.localOnly = LocalOnly(tables: ["drafts"], columns: ["movies": ["note", "seenAt"]])
/// ```
///
/// A change of a local-only table is stored and never queued; such a table cannot be pulled. A local-only column is
/// part of the record for the application and for nobody else. It is in no request, conflict handlers do not see it,
/// and no pull, answer or discard changes it. It is deleted with the record, and restoring the record does not bring
/// it back.
///
/// The store remembers both, so that every context that opens it applies them, whatever its own options are. A table
/// can become local-only only when no changes of it wait. To share the values of such a column later, write them to
/// another column.
public struct LocalOnly: Sendable, Hashable {
    /// The local-only tables.
    public var tables: Set<String>
    /// The local-only columns, by their tables.
    public var columns: [String: Set<PropertyName>]

    /// A set of tables and columns; empty by default.
    public init(tables: Set<String> = [], columns: [String: Set<PropertyName>] = [:]) {
        self.tables = tables
        self.columns = columns
    }

    /// Returns the local-only columns of that table.
    func columns(of table: String) -> Set<PropertyName> { columns[table] ?? [] }

    /// - Throws: ``SluiceError`` of code `invalidTable` or `invalidArgument`.
    func validate(_ wire: PushColumns) throws(SluiceError) {
        for table in tables { try SyncTables.validate(table) }
        for (table, names) in columns {
            try SyncTables.validate(table)
            let taken = wire.system.union([wire.id, "id", ""])
            if let name = names.first(where: taken.contains) {
                throw SluiceError(
                    .invalidArgument, "\"\(name)\" is the server's own or no name, and cannot stay here", table: table)
            }
        }
    }
}

// MARK: In the store

extension LocalOnly {
    /// The table of the store for these settings: one record for each table with local-only data.
    package static let schema = TableSchema(
        "sluice_local", columns: [.init("whole", .boolean), .init("columns", .json)])

    /// Reads the stored settings.
    init(_ store: any StoreReader) throws {
        self.init()
        for record in try store.records(matching: TableQuery(Self.schema.name)) { add(record) }
    }

    /// Reads the stored settings of one table.
    init(_ table: String, in store: any StoreReader) throws {
        self.init()
        if let record = try store.record(RecordID(table), in: Self.schema.name) { add(record) }
    }

    private mutating func add(_ record: JSON) {
        guard let table = record["id"]?.string else { return }
        if record["whole"]?.bool == true { tables.insert(table) }
        let names = (record["columns"]?.elements ?? []).compactMap { $0.string.map(PropertyName.init) }
        if !names.isEmpty { columns[table] = Set(names) }
    }

    /// Returns the tables and columns of both.
    func union(_ other: LocalOnly) -> LocalOnly {
        LocalOnly(
            tables: tables.union(other.tables), columns: columns.merging(other.columns) { $0.union($1) })
    }

    /// Stores these settings in place of all earlier ones.
    func write(to store: any StoreWriter) throws {
        _ = try store.delete(matching: TableQuery(Self.schema.name))
        for table in tables.union(columns.keys).sorted() {
            try store.put(
                [
                    "id": JSON(table), "whole": JSON(tables.contains(table)),
                    "columns": JSON(columns(of: table).sorted().map { JSON($0) }),
                ], in: Self.schema.name)
        }
    }

    /// Returns the settings after a table was renamed.
    func renaming(_ table: String, to name: String) -> LocalOnly {
        var renamed = forgetting(name)
        if renamed.tables.remove(table) != nil { renamed.tables.insert(name) }
        renamed.columns[name] = renamed.columns.removeValue(forKey: table)
        return renamed
    }

    /// Returns the settings without a table.
    func forgetting(_ table: String) -> LocalOnly {
        var left = self
        left.tables.remove(table)
        left.columns[table] = nil
        return left
    }
}

extension LocalOnly {
    /// Reads the member `local` of a table's settings: true for the whole table, or a list of columns.
    package mutating func read(_ place: StrictValue<some StrictSource>, of table: String) throws(SluiceError) {
        if let isWhole = try? place.flag() {
            if isWhole { tables.insert(table) }
            return
        }
        var names: Set<PropertyName> = []
        for name in try place.items() { names.insert(PropertyName(try name.text())) }
        columns[table] = names
    }
}
