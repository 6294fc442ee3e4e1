package import SluiceBase

/// Writes the engine's own rows by their columns, without a document in between, since every change needs such rows. A
/// store may offer it beside `put`. Wrappers of a writer do not offer it, because they inspect records.
package protocol ColumnWriter {
    /// Inserts or replaces a row with exactly the columns of `schema`.
    ///
    /// - Returns: false where the row must be put as a record; nothing was written.
    func put(_ id: RecordID, _ values: [ColumnValue], in schema: TableSchema) throws -> Bool
}

extension StoreWriter {
    /// Inserts or replaces a row of the engine's own: by its columns where the store offers that, else as a record.
    func putRow(_ id: RecordID, _ values: [ColumnValue], in schema: TableSchema) throws {
        if let columns = self as? any ColumnWriter, try columns.put(id, values, in: schema) { return }
        var row: JSON = ["id": JSON(id)]
        for (column, value) in zip(schema.columns, values) { row[column.name] = value.json }
        try put(row, in: schema.name)
    }
}

/// The value of a declared column, in the form that its type takes.
package enum ColumnValue: Sendable {
    case null, text(String), integer(Int64), boolean(Bool)
    /// An array or an object.
    case json(JSON)

    /// The value as a property of a record.
    package var json: JSON {
        switch self {
        case .null: .null
        case .text(let text): JSON(text)
        case .integer(let integer): JSON(integer)
        case .boolean(let boolean): JSON(boolean)
        case .json(let json): json
        }
    }
}
