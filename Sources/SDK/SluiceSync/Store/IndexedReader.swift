package import SluiceBase

/// Reads records by indexed columns, as the engine does for every change. A store may offer it beside queries, to save
/// parsing them. Wrappers of a reader pass it on.
package protocol IndexedReader {
    /// Returns the records whose columns have exactly those texts, in the order of another column, then by id; nil
    /// where a query is needed.
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], by order: PropertyName
    ) throws -> [JSON]?

    /// Returns the largest integer in a column, or 0; nil where a query is needed.
    func largest(_ column: PropertyName, in table: String) throws -> Int64?
}

/// A reader that passes the indexed reads of another one on.
package protocol WrappingReader: IndexedReader {
    /// The wrapped reader.
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
