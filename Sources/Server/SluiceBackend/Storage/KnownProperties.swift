internal import SluiceCore

/// The properties without a column of their own that any record of a table has ever had: on servers that make columns
/// of them, every other record shows them as null. Only where the request sees all records of the table: elsewhere a name
/// would tell of one that is another's, outside of the view, or hidden by a hook.
enum KnownProperties {
    /// How many are remembered. Otherwise few small records could make all lists large.
    static let most = 200

    static func note(_ names: [PropertyName], of table: String, _ connection: any StorageConnection) throws {
        if names.isEmpty { return }
        // One question, however many names a record has.
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
    /// Whether each record is seen by everybody, as far as the table's own rules go.
    var showsAllRecords: Bool { rules.perUser == nil && rules.view == nil }

    /// What other records have had, where that may be said.
    func knownProperties(_ connection: any StorageConnection) throws -> [PropertyName] {
        showsAllRecords ? try KnownProperties.names(of: name, connection) : []
    }

    /// The records with null for each property that they lack and others have, of those that were selected; an empty
    /// selection is of all.
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
