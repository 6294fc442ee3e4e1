package import SluiceBase

/// Reads that the engine makes for every change: by columns that have an index. A store may offer them beside queries,
/// which have to be read before they can be asked. What wraps a store's reader passes them on.
package protocol IndexedReader {
    /// The records whose columns have exactly those texts, in the order of another column, then by id; nil where the
    /// store has to be asked with a query.
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], by order: PropertyName
    ) throws -> [JSON]?

    /// The largest integer in a column, or 0; nil where the store has to be asked with a query.
    func largest(_ column: PropertyName, in table: String) throws -> Int64?
}

/// A reader that passes on what another one offers.
package protocol WrappingReader: IndexedReader {
    /// The other one.
    var wrapped: any StoreReader { get }
}

extension WrappingReader {
    package func records(
        in table: String, where texts: [(column: PropertyName, text: String)], by order: PropertyName
    ) throws -> [JSON]? {
        try (wrapped as? any IndexedReader)?.records(in: table, where: texts, by: order)
    }

    package func largest(_ column: PropertyName, in table: String) throws -> Int64? {
        try (wrapped as? any IndexedReader)?.largest(column, in: table)
    }
}

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
