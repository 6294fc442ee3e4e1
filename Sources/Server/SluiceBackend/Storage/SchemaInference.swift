internal import SluiceCore

/// Infers columns from a table's first records.
enum SchemaInference {
    /// The most inferred columns; further properties get none.
    private static let maximumColumns = 200

    /// Returns a column for each property with values of a single kind, in the order of their first occurrence.
    static func columns(of records: [JSON], table: String) -> [TableSchema.Column] {
        var names: [PropertyName] = []
        // Nil marks a property with values of several kinds.
        var types: [PropertyName: TableSchema.ColumnType?] = [:]
        for record in records {
            for (name, value) in record.members ?? [] where name != "id" && !SystemColumn.all.contains(name) {
                guard let type = type(of: value) else { continue }
                guard let known = types[name] else {
                    names.append(name)
                    types[name] = .some(type)
                    continue
                }
                if let known, known != type { types[name] = .some(merged(known, type)) }
            }
        }
        var schema = TableSchema(table, columns: SystemColumn.declared)
        var columns: [TableSchema.Column] = []
        for name in names.prefix(maximumColumns) {
            guard let type = types[name] ?? nil else { continue }
            // A name that is invalid for a column stays a property without one.
            let wanted = TableSchema(table, columns: [.init(name, type)])
            guard let extended = try? StoreRules.merge(wanted, into: schema), extended != schema else { continue }
            schema = extended
            columns.append(.init(name, type))
        }
        return columns
    }

    private static func type(of value: JSON) -> TableSchema.ColumnType? {
        switch value.kind {
        case .null: nil
        case .bool: .boolean
        case .number: if case .int? = value.number?.storage { .integer } else { .real }
        case .string: .string
        case .array, .object: .json
        }
    }

    private static func merged(
        _ left: TableSchema.ColumnType, _ right: TableSchema.ColumnType
    ) -> TableSchema.ColumnType? {
        Set([left, right]) == [.integer, .real] ? .real : nil
    }
}

/// The properties without a column that any record of a table has ever had. Servers that make columns of them show them
/// as null in every other record. They are shown only if the request sees all records of the table: otherwise a name
/// would reveal a record of another user, outside of the view, or hidden by a hook.
enum KnownProperties {
    /// The most remembered properties. Otherwise a few small records could make all lists large.
    static let most = 200

    static func note(_ names: [PropertyName], of table: String, _ connection: any StorageConnection) throws {
        if names.isEmpty { return }
        // One query, for any number of names.
        let known = Set(try self.names(of: table, connection))
        for name in names.lazy.filter({ !known.contains($0) }).prefix(max(0, most - known.count)) {
            try connection.run(
                "INSERT INTO sluice_properties (name, property) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.text(table), .text(name.text)])
        }
    }

    static func names(of table: String, _ connection: any StorageConnection) throws -> [PropertyName] {
        try connection.run("SELECT property FROM sluice_properties WHERE name = $1", [.text(table)])
            .compactMap { row -> PropertyName? in
                guard case .text(let name)? = row.first else { return nil }
                return PropertyName(name)
            }
    }
}

extension BackendTable {
    /// Whether the table's own rules show every record to every request.
    var showsAllRecords: Bool { rules.perUser == nil && rules.view == nil }

    /// Returns the known properties, if the table may reveal them. One that has become a column since is none.
    func knownProperties(_ connection: any StorageConnection) throws -> [PropertyName] {
        guard showsAllRecords else { return [] }
        let columns = Set(schema.columns.map(\.name))
        return try KnownProperties.names(of: name, connection).filter { !columns.contains($0) }
    }

    /// Returns the records with null for each missing, selected property that other records have. An empty selection
    /// means all.
    func completed(_ records: [JSON], selected: [PropertyName], _ connection: any StorageConnection) throws -> [JSON] {
        let names = try declaredNames + knownProperties(connection)
        let shown = selected.isEmpty ? names : names.filter { selected.contains($0) }
        return records.map { completed($0, with: shown) }
    }

    func completed(_ record: JSON, with names: [PropertyName]) -> JSON {
        var record = record
        for name in names where record[name] == nil { record[name] = .null }
        return record
    }

    /// The declared columns without the server's own.
    var declaredNames: [PropertyName] {
        schema.columns.map(\.name).filter { !SystemColumn.all.contains($0) && !SystemColumn.hidden.contains($0) }
    }
}
