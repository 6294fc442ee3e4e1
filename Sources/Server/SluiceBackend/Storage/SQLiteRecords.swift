internal import SluiceCore
internal import SluiceSQLite

extension SQLiteConnection: StorageConnection {
    func makeNumber() throws -> Int64 {
        try integer("UPDATE sluice_counter SET value = value + 1 RETURNING value")
    }

    func latestPoint() throws -> HistoryPoint { try BackendCatalog.storedPoint(self) }

    func makeTime(of table: String, now: Timestamp) throws -> Timestamp {
        Timestamp(
            ticks: try integer(
                "UPDATE sluice_tables SET latest = max($1, latest + 1) WHERE name = $2 RETURNING latest",
                [.integer(now.ticks), .text(table)]))
    }

    func settle() {}

    func records(_ schema: TableSchema) -> any RecordStorage { SQLiteRecords(table: RecordTable(schema)) }
}

/// A table of records in a SQLite file: ``RecordTable`` implements it.
struct SQLiteRecords: RecordStorage {
    let table: RecordTable

    var schema: TableSchema { table.schema }

    func with(_ schema: TableSchema) -> any RecordStorage { SQLiteRecords(table: RecordTable(schema)) }

    func create(on connection: any StorageConnection) throws { try table.create(on: Self.sqlite(connection)) }

    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> (any RecordStorage)? {
        SQLiteRecords(table: try table.extend(to: wanted, on: Self.sqlite(connection)))
    }

    func createIndex(_ name: String, _ keys: [TableQuery.SortKey], on connection: any StorageConnection) throws {
        let printer = SQLQueryPrinter(dialect: .sqlite, schema: schema, extraColumn: "_extra")
        try connection.run(
            "CREATE INDEX IF NOT EXISTS \(SQLDialect.sqlite.quoted(name)) ON "
                + "\(SQLDialect.sqlite.quoted(schema.name)) (\(try printer.ordering(keys).text))")
    }

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON? {
        try table.record(id, on: Self.sqlite(connection))
    }

    func forEach(
        _ query: TableQuery, on connection: any StorageConnection,
        _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws { try table.forEach(query, on: Self.sqlite(connection), body) }

    func count(matching query: TableQuery, on connection: any StorageConnection) throws -> Int {
        try table.count(matching: query, on: Self.sqlite(connection))
    }

    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void
    ) throws {
        try table.scan([SystemColumn.version], matching: filter, on: Self.sqlite(connection)) { statement in
            try body(RecordID(statement.text(0) ?? ""), statement.text(1) ?? "")
        }
    }

    func append(
        _ query: TableQuery, _ size: PageSize, _ text: ListText, to output: inout [UInt8],
        on connection: any StorageConnection
    ) throws -> (count: Int, hasMore: Bool) {
        var writer = RecordText(
            of: table, text.members, inexact: text.inexact, completing: text.completing, whole: text.whole)
        return try writer.append(
            query, most: size.records, bytes: size.bytes, to: &output, on: Self.sqlite(connection))
    }

    func put(_ record: JSON, on connection: any StorageConnection) throws -> JSON {
        try table.put(record, on: Self.sqlite(connection))
        return record
    }

    func delete(_ ids: [RecordID], on connection: any StorageConnection) throws {
        try table.delete(ids, on: Self.sqlite(connection))
    }

    private static func sqlite(_ connection: any StorageConnection) throws -> SQLiteConnection {
        guard let connection = connection as? SQLiteConnection else {
            throw SluiceError(.storeSchema, "the table is in a SQLite file, the connection goes elsewhere")
        }
        return connection
    }
}
