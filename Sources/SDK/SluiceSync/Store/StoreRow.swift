public import SluiceBase

/// A record that has exactly the columns of a table, given by their values: no document need be made of it.
public struct StoreRow: Sendable {
    /// The table with its columns. The store's table of that name may have others.
    public let schema: TableSchema
    /// The record's id.
    public let id: RecordID
    /// The values of the columns, in the schema's order.
    public let values: [ColumnValue]

    /// A row of a table.
    public init(_ id: RecordID, _ values: [ColumnValue], in schema: TableSchema) {
        self.schema = schema
        self.id = id
        self.values = values
    }

    /// The record: the id, and a property for each column, null where the value is.
    public var record: JSON {
        var record: JSON = ["id": JSON(id)]
        for (column, value) in zip(schema.columns, values) { record[column.name] = value.json }
        return record
    }

    /// Whether the values may be written as they are into a table that is declared as `held`. If not, the record may
    /// still be put, or refused.
    package func fits(_ held: TableSchema) -> Bool {
        !id.isEmpty && held.columns == schema.columns && values.count == schema.columns.count
            && zip(values, schema.columns).allSatisfy { $0.fits($1.type) }
    }
}

/// The value of a declared column.
public enum ColumnValue: Sendable, Hashable {
    /// A null, which is not an absent property.
    case null
    /// A text or a date.
    case text(String)
    /// An integer.
    case integer(Int64)
    /// A truth value.
    case boolean(Bool)
    /// An array or an object.
    case json(JSON)

    /// The value as a property of a record.
    public var json: JSON {
        switch self {
        case .null: .null
        case .text(let text): JSON(text)
        case .integer(let integer): JSON(integer)
        case .boolean(let boolean): JSON(boolean)
        case .json(let json): json
        }
    }

    /// Whether a column of that type holds the value exactly.
    fileprivate func fits(_ type: TableSchema.ColumnType) -> Bool {
        switch (self, type) {
        case (.null, _), (.text, .string), (.text, .date), (.integer, .integer), (.boolean, .boolean): true
        case (.json(let json), .json):
            (json.kind == .array || json.kind == .object) && StoreRules.isShallow(json, JSON.maximumDepth - 1)
        default: false
        }
    }
}
