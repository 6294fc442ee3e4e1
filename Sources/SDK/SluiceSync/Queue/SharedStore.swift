internal import SluiceBase

/// A store as a server may know it: without the columns that stay here. What is read has none of them, and a record that
/// is put keeps those that it has.
struct SharedStore: LocalStore {
    let store: any LocalStore
    /// The columns that stay here, by their tables.
    let columns: [String: Set<PropertyName>]

    func define(_ tables: [TableSchema]) async throws { try await store.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await store.read { try body(SharedReader(reader: $0, columns: columns)) }
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await store.write { try body(SharedWriter(writer: $0, columns: columns)) }
    }

    func close() async throws { try await store.close() }
    func takeLease() async throws -> StoreLease? { try await store.takeLease() }
    func breakLease() async throws { try await store.breakLease() }
}

/// Reads records without the columns that stay here.
private struct SharedReader: StoreReader, WrappingReader {
    let reader: any StoreReader
    var wrapped: any StoreReader { reader }
    let columns: [String: Set<PropertyName>]

    func record(_ id: RecordID, in table: String) throws -> JSON? {
        try reader.record(id, in: table)?.without(columns[table])
    }

    func records(matching query: Query) throws -> [JSON] {
        let records = try reader.records(matching: query)
        return columns[query.table] == nil ? records : records.map { $0.without(columns[query.table]) }
    }

    func count(matching query: Query) throws -> Int { try reader.count(matching: query) }
    func tables() throws -> [TableSchema] { try reader.tables() }
}

extension JSON {
    /// The record without properties of those names.
    func without(_ names: Set<PropertyName>?) -> JSON {
        guard let names else { return self }
        var record = self
        for name in names { record[name] = nil }
        return record
    }
}

/// Puts records with the columns that stay here as the store has them.
struct SharedWriter: StoreWriter, WrappingReader {
    let writer: any StoreWriter
    let columns: [String: Set<PropertyName>]
    /// The engine's own tables are the same with and without what stays here.
    var wrapped: any StoreReader { writer }
    private var reader: SharedReader { SharedReader(reader: writer, columns: columns) }

    init(writer: any StoreWriter, columns: [String: Set<PropertyName>]) {
        self.writer = writer
        self.columns = columns
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? { try reader.record(id, in: table) }
    func records(matching query: Query) throws -> [JSON] { try reader.records(matching: query) }
    func count(matching query: Query) throws -> Int { try writer.count(matching: query) }
    func tables() throws -> [TableSchema] { try writer.tables() }

    func put(_ record: JSON, in table: String) throws {
        guard let names = columns[table], let id = record["id"]?.textID else {
            return try writer.put(table.hasPrefix(SyncTables.prefix) ? shared(record) : record, in: table)
        }
        let held = try writer.record(id, in: table)
        var kept = record
        // A property of the server's by such a name is no concern of this machine's.
        for name in names { kept[name] = held?[name] }
        try writer.put(kept, in: table)
    }

    /// A row of the engine's own, with no column in its copies of records that stays here: not one either that the
    /// server has under the same name.
    private func shared(_ row: JSON) -> JSON {
        guard let names = RecordCopies.table(of: row).flatMap({ columns[$0] }) else { return row }
        return RecordCopies.map(row) { copy, _ in copy.without(names) }
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        guard columns[table] != nil else { return try writer.put(rows, in: table) }
        for index in rows.indices { try put(rows.page.record(at: index), in: table) }
    }

    func delete(_ ids: [RecordID], from table: String) throws { try writer.delete(ids, from: table) }
    func delete(matching query: Query) throws -> Int { try writer.delete(matching: query) }
    func redeclare(_ table: TableSchema) throws { try writer.redeclare(table) }
    func drop(_ table: String) throws { try writer.drop(table) }
}
