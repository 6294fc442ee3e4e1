public import SluiceBase
internal import SluiceWire

/// What of an application's data stays on this machine: whole tables, and columns of tables that are synchronised.
///
/// ```swift
/// options.localOnly = LocalOnly(tables: ["drafts"], columns: ["movies": ["note", "seenAt"]])
/// ```
///
/// A change of a table that stays here is stored and never queued; such a table cannot be pulled. A column that stays
/// here is part of the record for the application and for nobody else: it is in no request, conflict handlers do not
/// see it, and no pull, answer or discard changes it. It goes with the record: who deletes one and restores it has lost
/// it.
///
/// The store remembers both, so that whoever has it open keeps to them, whatever that one's options are. A table begins
/// to stay here only when no changes of it wait. To share the values of such a column later, write them to another one.
public struct LocalOnly: Sendable, Hashable {
    /// The tables.
    public var tables: Set<String>
    /// The columns, by their tables.
    public var columns: [String: Set<PropertyName>]

    /// Nothing, unless named.
    public init(tables: Set<String> = [], columns: [String: Set<PropertyName>] = [:]) {
        self.tables = tables
        self.columns = columns
    }

    /// The columns of that table that stay here.
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
    /// The table of the store that remembers: one record for each table of which something stays here.
    package static let schema = TableSchema(
        "sluice_local", columns: [.init("whole", .boolean), .init("columns", .json)])

    /// What the store remembers.
    init(_ store: any StoreReader) throws {
        self.init()
        for record in try store.records(matching: Query(Self.schema.name)) { add(record) }
    }

    /// What the store remembers of one table.
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

    /// Both together.
    func union(_ other: LocalOnly) -> LocalOnly {
        LocalOnly(
            tables: tables.union(other.tables), columns: columns.merging(other.columns) { $0.union($1) })
    }

    /// Has the store remember this, and nothing else.
    func write(to store: any StoreWriter) throws {
        _ = try store.delete(matching: Query(Self.schema.name))
        for table in tables.union(columns.keys).sorted() {
            try store.put(
                [
                    "id": JSON(table), "whole": JSON(tables.contains(table)),
                    "columns": JSON(columns(of: table).sorted().map { JSON($0) }),
                ], in: Self.schema.name)
        }
    }

    /// The same under a table's new name.
    func renaming(_ table: String, to name: String) -> LocalOnly {
        var renamed = forgetting(name)
        if renamed.tables.remove(table) != nil { renamed.tables.insert(name) }
        renamed.columns[name] = renamed.columns.removeValue(forKey: table)
        return renamed
    }

    /// The same without a table.
    func forgetting(_ table: String) -> LocalOnly {
        var left = self
        left.tables.remove(table)
        left.columns[table] = nil
        return left
    }
}
