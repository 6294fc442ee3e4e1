internal import SluiceBase

/// A page of a table's rows, as the server cut it.
public struct TablePage<Row: Sendable>: Sendable {
    /// The rows in the server's order.
    public let rows: [Row]
    /// The number of rows of the whole query, if it was requested and the server reported it.
    public let count: Int?
    /// The position of the next page; nil after the last.
    let cursor: PageCursor?

    /// Whether there may be a further page. On a wire that does not mark the end of its lists it is true until a page
    /// is empty.
    public var hasNext: Bool { cursor != nil }
}

/// A list of a table's pages, each requested on demand.
///
/// The walk ends with the last page, at an empty one, and when the query's `top` is reached. It follows the server's
/// link (`nextLink`, `Link`), else it goes on by `$skip`, and never to another server.
///
/// Cancelling the task ends it with a ``SluiceError`` of code `cancelled`. A server that sends the same page twice in
/// a row, or leads back to an earlier one, ends it with one of code `brokenProtocol`.
public struct TablePages<Row: Sendable>: AsyncSequence, Sendable {
    let first: @Sendable () async throws -> TablePage<Row>
    let next: @Sendable (TablePage<Row>) async throws -> TablePage<Row>?

    /// Requests one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: TablePages
        fileprivate var last: TablePage<Row>?
        fileprivate var isOver = false

        /// Returns the next page; nil after the last.
        public mutating func next() async throws -> TablePage<Row>? {
            if isOver { return nil }
            // After an error the walk is over.
            isOver = true
            let page = if let last { try await pages.next(last) } else { try await pages.first() }
            let isAfterLast = last != nil && page?.rows.isEmpty != false
            last = page
            isOver = page?.hasNext != true
            return isAfterLast ? nil : page
        }
    }

    /// Returns a walk from the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }
}
