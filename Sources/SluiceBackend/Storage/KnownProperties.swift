internal import SluiceCore

/// The properties without a column of their own that any record of a table has ever had: on servers that make columns
/// of them, every other record shows them as null. Only where the request sees all records of the table: elsewhere a name
/// would tell of one that is another's, outside of the view, or hidden by a hook.
enum KnownProperties {
    /// How many are remembered. Otherwise few small records could make all lists large.
    static let most = 200

    static func note(_ names: some Sequence<PropertyName>, of table: String, _ connection: any StorageConnection) throws
    {
        for name in names {
            let values: [SQLValue] = [.text(table), .text(name.text)]
            let known = "SELECT count(*) FROM sluice_properties WHERE name = $1 AND property = $2"
            if try connection.integer(known, values) > 0 { continue }
            try connection.run(
                "INSERT INTO sluice_properties (name, property) SELECT $1, $2 "
                    + "WHERE (SELECT count(*) FROM sluice_properties WHERE name = $1) < $3",
                values + [.integer(Int64(most))])
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
