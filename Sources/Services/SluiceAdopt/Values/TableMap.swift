internal import SluiceBase
internal import SluiceSQLite

/// The way from an old table's rows to records of the wire.
struct TableMap {
    struct Column {
        /// The column's name in the old table.
        let source: String
        let property: PropertyName
        let form: ColumnForm
        /// Whether a property that the queue's document leaves out is null, and not 0 or false.
        let isNullable: Bool
        /// Whether another column of the same property comes first, and counts unless it is null.
        let isFallback: Bool
    }

    /// The table's name in the old store.
    let source: String
    /// The table's name at the server.
    let name: String
    /// The column with the id.
    let id: String
    let columns: [Column]
    /// The properties that only the server sets.
    let system: Set<PropertyName>

    /// Returns the record of a row.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that is not of its column's form.
    func record(_ row: OldRow, utc: (@Sendable (Timestamp) -> Timestamp)?) throws(SluiceError) -> JSON {
        guard let id = row.text(id), !id.isEmpty else { throw row.refusal(id, "id of a record") }
        var record: JSON = ["id": JSON(id)]
        for column in columns {
            guard let value = column.form.json(row.values[column.source] ?? .null, utc: utc) else {
                var error = row.refusal(column.source, "\(column.form)")
                error.recordID = RecordID(id)
                throw error
            }
            if column.isFallback, !(record[column.property] ?? .null).isNull { continue }
            // A record that the server has never seen has none of its properties.
            if value.isNull, system.contains(column.property) { continue }
            record[column.property] = value
        }
        return record
    }

    /// Returns a record of the old queue or of a stored answer under the wire's names, with the server's properties as
    /// this wire calls them.
    func wired(_ item: JSON, id: RecordID, _ names: SystemNames) -> JSON {
        var record: JSON = ["id": JSON(id)]
        for (name, value) in item.members ?? [] where name.text.lowercased() != "id" {
            let property = names.property(for: name.text, beside: item.names) ?? name
            let isForeign = property == "createdAt" && !columns.contains { $0.property == property }
            if isForeign || value.isNull && system.contains(property) { continue }
            record[property] = value
        }
        return record
    }

    /// Returns the record of a document that leaves out properties with their default.
    ///
    /// - Parameter row: the row's record; nil if the row is gone.
    /// - Throws: ``SluiceError`` of code `unsupported` for a property that no column has, and for a value of the row that
    ///   the document leaves out: it stays on the device.
    func record(
        whole item: JSON, id: RecordID, row: JSON?, local: Set<PropertyName>, _ names: SystemNames
    ) throws(SluiceError) -> JSON {
        let given = wired(item, id: id, names)
        let known = Set(columns.map(\.property))
        if let unknown = given.names.first(where: { $0 != "id" && !known.contains($0) }) {
            throw refusal("the property \(unknown) of a queued change is in no column of \(source)", id)
        }
        var record = given
        for column in columns where given[column.property] == nil && !system.contains(column.property) {
            if local.contains(column.property) {
                record[column.property] = row?[column.property]
                continue
            }
            let value = column.isNullable ? .null : column.form.standard
            if let held = row?[column.property], held != value, !held.isNull {
                throw refusal(
                    "\(source).\(column.source) has a value that the queued change leaves out, as of a property that is "
                        + "never sent: declare \(column.property) as local", id)
            }
            record[column.property] = value
        }
        for name in system where record[name] == nil { record[name] = row?[name] }
        return record
    }

    private func refusal(_ reason: String, _ id: RecordID) -> SluiceError {
        SluiceError(.unsupported, reason, table: name, recordID: id)
    }
}

extension ColumnForm {
    /// The default of a property of that form which cannot be null.
    fileprivate var standard: JSON {
        switch self {
        case .integer, .number: 0
        case .boolean: false
        default: .null
        }
    }
}

/// The names of the properties that only the server sets, in old stores and on the wire.
struct SystemNames {
    let columns: SystemColumns

    /// Returns the wire's name for a property of the server's; nil for the application's own.
    ///
    /// Mobile Services wrote two underscores before each. On its wire a plain name is the application's own where both
    /// are there.
    ///
    /// - Parameter names: all names of the record or table.
    func property(for name: String, beside names: [PropertyName]) -> PropertyName? {
        let folded = name.lowercased()
        let plain = folded.hasPrefix("__") ? String(folded.dropFirst(2)) : folded
        let property: PropertyName
        switch plain {
        case "version": property = columns.version
        case "updatedat": property = columns.updatedAt
        case "deleted": property = columns.deleted
        case "createdat":
            // A wire without it has it as the application's own, or not at all.
            guard let createdAt = columns.createdAt else { return folded.hasPrefix("__") ? "createdAt" : nil }
            property = createdAt
        default: return nil
        }
        let isPrefixed = property.text.hasPrefix("__")
        if isPrefixed, !folded.hasPrefix("__"), names.contains(where: { $0.text.lowercased() == "__" + plain }) {
            return nil
        }
        return property
    }
}
