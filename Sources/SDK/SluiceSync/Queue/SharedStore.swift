internal import SluiceBase

/// A store without the local-only columns, as a server may see it. Reads return none of them, and writes keep the
/// stored ones.
struct SharedStore: LocalStore {
    let store: any LocalStore
    /// The local-only columns, by their tables.
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

/// Reads records without the local-only columns.
private struct SharedReader: StoreReader {
    let reader: any StoreReader
    let columns: [String: Set<PropertyName>]

    func record(_ id: RecordID, in table: String) throws -> JSON? {
        try reader.record(id, in: table)?.without(columns[table])
    }

    func records(matching query: TableQuery) throws -> [JSON] {
        shared(try reader.records(matching: query), of: query.table)
    }

    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] {
        shared(try reader.records(in: table, where: texts, orderedBy: order), of: table)
    }

    private func shared(_ records: [JSON], of table: String) -> [JSON] {
        columns[table] == nil ? records : records.map { $0.without(columns[table]) }
    }

    func largest(_ column: PropertyName, in table: String) throws -> Int64? { try reader.largest(column, in: table) }
    func count(matching query: TableQuery) throws -> Int { try reader.count(matching: query) }
    func tables() throws -> [TableSchema] { try reader.tables() }
}

extension JSON {
    /// Returns the record without the named properties.
    func without(_ names: Set<PropertyName>?) -> JSON {
        guard let names else { return self }
        var record = self
        for name in names { record[name] = nil }
        return record
    }
}

/// Writes records with the stored values of the local-only columns. Rows are put as records, since they may hold copies
/// of records with such columns.
struct SharedWriter: StoreWriter {
    let writer: any StoreWriter
    let columns: [String: Set<PropertyName>]
    private var reader: SharedReader { SharedReader(reader: writer, columns: columns) }

    init(writer: any StoreWriter, columns: [String: Set<PropertyName>]) {
        self.writer = writer
        self.columns = columns
    }

    func record(_ id: RecordID, in table: String) throws -> JSON? { try reader.record(id, in: table) }
    func records(matching query: TableQuery) throws -> [JSON] { try reader.records(matching: query) }
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] { try reader.records(in: table, where: texts, orderedBy: order) }
    func largest(_ column: PropertyName, in table: String) throws -> Int64? { try writer.largest(column, in: table) }
    func count(matching query: TableQuery) throws -> Int { try writer.count(matching: query) }
    func tables() throws -> [TableSchema] { try writer.tables() }

    func put(_ record: JSON, in table: String) throws {
        guard let names = columns[table], let id = record["id"]?.textID else {
            return try writer.put(table.hasPrefix(SyncTables.prefix) ? shared(record) : record, in: table)
        }
        let held = try writer.record(id, in: table)
        var kept = record
        // A server's property of the same name is not written to a local-only column.
        for name in names { kept[name] = held?[name] }
        try writer.put(kept, in: table)
    }

    /// Returns an engine's row without local-only columns in its copies of records. The server's properties of the
    /// same name are removed too.
    private func shared(_ row: JSON) -> JSON {
        guard let names = RecordCopies.table(of: row).flatMap({ columns[$0] }) else { return row }
        return RecordCopies.map(row) { copy, _ in copy.without(names) }
    }

    func put(_ rows: RowPage.Selection, in table: String) throws {
        guard columns[table] != nil else { return try writer.put(rows, in: table) }
        for index in rows.indices { try put(rows.page.record(at: index), in: table) }
    }

    func delete(_ ids: [RecordID], from table: String) throws { try writer.delete(ids, from: table) }
    func delete(matching query: TableQuery) throws -> Int { try writer.delete(matching: query) }
    func redeclare(_ table: TableSchema) throws { try writer.redeclare(table) }
    func drop(_ table: String) throws { try writer.drop(table) }
}
