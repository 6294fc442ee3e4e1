internal import SluiceCore

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

    /// Returns the known properties, if the table may reveal them.
    func knownProperties(_ connection: any StorageConnection) throws -> [PropertyName] {
        showsAllRecords ? try KnownProperties.names(of: name, connection) : []
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
