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
