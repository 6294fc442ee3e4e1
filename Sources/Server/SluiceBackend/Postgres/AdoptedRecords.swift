internal import Foundation
internal import SluiceCore
internal import SluicePostgres

/// The records of an adopted table: read from the copy, and written to the operator's table. Its triggers write the
/// copy.
struct AdoptedRecords: RecordStorage {
    private let table: AdoptedTable
    private let copy: PostgresRecords

    var schema: TableSchema { copy.schema }

    init(_ table: AdoptedTable, _ schema: TableSchema) {
        self.table = table
        copy = PostgresRecords(schema, table.copy)
    }

    private func refusal(_ reason: String, _ id: RecordID? = nil) -> SluiceError {
        SluiceError(.invalidRecord, reason, table: table.name, recordID: id)
    }

    // MARK: Definition

    func with(_ schema: TableSchema) -> any RecordStorage { AdoptedRecords(table, schema) }

    func check(_ rules: BackendConfiguration.Table, on connection: any StorageConnection) throws {
        func mismatch(_ reason: String) -> SluiceError {
            SluiceError(
                .storeSchema, "\(reason); adopt the table anew: sluice backend adopt --undo \(table.name), then adopt",
                table: table.name)
        }
        guard rules.key.map({ ExactName($0) }) == ExactName(table.key) else {
            throw mismatch("the table was adopted by its key column \(table.key)")
        }
        guard rules.softDelete == table.softDelete else {
            throw mismatch("the table was adopted with softDelete: \(table.softDelete)")
        }
        let rows = try connection.run(AdoptedTable.rowSecuritySQL, [.text(table.place)])
        guard rows.first?.first != .integer(1) else {
            throw SluiceError(.storeSchema, AdoptedTable.rowSecurityReason, table: table.name)
        }
    }

    func create(on connection: any StorageConnection) throws {
        throw SluiceError(.storeSchema, "an adopted table is not made by the backend", table: table.name)
    }

    func extend(to wanted: TableSchema, on connection: any StorageConnection) throws -> (any RecordStorage)? {
        let known = Set(schema.columns)
        let added = wanted.columns.filter { !known.contains($0) }.map(\.name.text).joined(separator: ", ")
        throw SluiceError(
            .storeSchema,
            "the table was adopted without the columns \(added); adopt it anew: sluice backend adopt --undo \(table.name), "
                + "then adopt", table: table.name)
    }

    func createIndex(_ name: String, _ keys: [TableQuery.SortKey], on connection: any StorageConnection) throws {
        try copy.createIndex(name, keys, on: connection)
    }

    // MARK: Reading

    func record(_ id: RecordID, on connection: any StorageConnection) throws -> JSON? {
        try copy.record(id, on: connection)
    }

    func forEach(
        _ query: TableQuery, on connection: any StorageConnection,
        _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws { try copy.forEach(query, on: connection, body) }

    func count(matching query: TableQuery, on connection: any StorageConnection) throws -> Int {
        try copy.count(matching: query, on: connection)
    }

    func scan(
        matching filter: QueryExpression?, on connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void
    ) throws { try copy.scan(matching: filter, on: connection, body) }

    func append(
        _ query: TableQuery, _ size: PageSize, _ text: ListText, to output: inout [UInt8],
        on connection: any StorageConnection
    ) throws -> (count: Int, hasMore: Bool) { try copy.append(query, size, text, to: &output, on: connection) }

    // MARK: Writing

    func nextNumber(on connection: any StorageConnection) throws -> Int64? {
        guard let next = table.nextKey else { return nil }
        return try connection.integer("SELECT (\(next))::bigint")
    }

    func put(_ record: JSON, on connection: any StorageConnection) throws -> JSON {
        let id = try StoreRules.id(of: record, in: table.name)
        let old = try copy.record(id, on: connection)
        let isLiving = old.map { $0[SystemColumn.deleted]?.bool != true } ?? false
        if record[SystemColumn.deleted]?.bool == true {
            if isLiving { try removeRow(id, connection) }
            return try copy.put(record, on: connection)
        }
        // The triggers read the counters from the catalog's tables.
        try connection.settle()
        if isLiving, let old {
            try update(id, record, old, connection)
        } else {
            try insert(id, record, connection)
        }
        // The operator's own triggers and types may have changed the record.
        guard var stored = try copy.record(id, on: connection), stored[SystemColumn.deleted]?.bool != true else {
            throw refusal("the database's own rules did not take the record", id)
        }
        let own = Set(table.columns.map(\.name))
        for name in stored.names where !own.contains(name) && record[name] == nil { stored[name] = nil }
        for (name, value) in record.members ?? [] where !own.contains(name) { stored[name] = value }
        return try copy.put(stored, on: connection)
    }

    func delete(_ ids: [RecordID], on connection: any StorageConnection) throws {
        for id in ids {
            if let old = try copy.record(id, on: connection), old[SystemColumn.deleted]?.bool != true {
                try removeRow(id, connection)
            }
        }
        try copy.delete(ids, on: connection)
    }

    /// Writes only the changed properties, so that the other columns of the operator's row are neither changed nor
    /// rounded.
    private func update(
        _ id: RecordID, _ record: JSON, _ old: JSON, _ connection: any StorageConnection
    ) throws {
        let changed = table.columns.filter { (record[$0.name] ?? .null) != (old[$0.name] ?? .null) }
        if changed.isEmpty { return }
        let values = try changed.map { try value(record[$0.name] ?? .null, $0, id) }
        let changes = changed.enumerated().map { "\(AdoptedTable.quoted($1.name.text)) = $\($0 + 1)" }
        let count = try write(
            "UPDATE \(table.place) SET \(changes.joined(separator: ", ")) "
                + "WHERE \(AdoptedTable.quoted(table.key)) = $\(values.count + 1)",
            values + [try key(id)], connection)
        guard count == 1 else { throw refusal("the database's own rules did not take the change", id) }
    }

    private func insert(_ id: RecordID, _ record: JSON, _ connection: any StorageConnection) throws {
        let given = table.columns.filter { record[$0.name] != nil }
        let values = try [key(id)] + given.map { try value(record[$0.name] ?? .null, $0, id) }
        let names = [AdoptedTable.quoted(table.key)] + given.map { AdoptedTable.quoted($0.name.text) }
        _ = try write(
            "INSERT INTO \(table.place) (\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE VALUES ("
                + "\(values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))", values, connection)
    }

    private func removeRow(_ id: RecordID, _ connection: any StorageConnection) throws {
        try connection.settle()
        let count = try write(
            "DELETE FROM \(table.place) WHERE \(AdoptedTable.quoted(table.key)) = $1", [key(id)], connection)
        guard count == 1 else { throw refusal("the database's own rules did not let the record be deleted", id) }
    }

    private func write(_ sql: String, _ values: [SQLValue], _ connection: any StorageConnection) throws -> Int {
        try PostgresRecords.postgres(connection).query(sql, values).changed
    }

    /// Returns the id in the key column's form.
    private func key(_ id: RecordID) throws -> SQLValue {
        if table.keyType == "uuid" {
            guard let uuid = UUID(uuidString: id.text), uuid.uuidString.lowercased() == id.text else {
                throw refusal("the ids of this table are UUIDs in lower case", id)
            }
        }
        return .text(id.text)
    }

    /// Returns the value in the operator's column's form.
    private func value(_ value: JSON, _ column: AdoptedTable.Column, _ id: RecordID) throws -> SQLValue {
        if value == .null { return .null }
        if column.type == .json, !PostgresJSON.isBounded(value) {
            throw refusal("the column \(column.name) would write a number out with more than a thousand digits", id)
        }
        // The operator's column holds the plain document.
        let stored =
            column.type == .json && [.array, .object].contains(value.kind)
            ? .text(value.description) : PostgresColumns.stored(value, column.type).value
        switch stored {
        case .null, .blob:
            throw refusal("the column \(column.name) holds values of the type \(column.type.rawValue) alone", id)
        // Numbers are sent as texts, which the server converts to the column's type without rounding.
        case .integer(let number): return .text(String(number))
        case .real(let number): return .text(String(number))
        case .text(let text): return .text(text)
        }
    }
}
