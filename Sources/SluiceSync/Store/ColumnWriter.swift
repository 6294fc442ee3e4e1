package import SluiceBase

/// Writes of rows that the engine makes for every change: by their columns, with no document in between. A store may offer
/// them beside `put`; what wraps a store's writer does not, since it looks at records.
package protocol ColumnWriter {
    /// Inserts or replaces a row with exactly the columns of `schema`.
    ///
    /// - Returns: false where the row has to be put as a record, and nothing was done.
    func put(_ id: RecordID, _ values: [ColumnValue], in schema: TableSchema) throws -> Bool
}

/// The value of a declared column, of the kind that its type takes.
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
