/// A list of a table's pages, each asked for when it is wanted.
///
/// The walk ends with the last page, at an empty one, and when as many rows have come as the query's `top` asks for. It
/// goes where the server reports (`nextLink`, `Link`), else on by `$skip`, and never to another server.
///
/// Cancelling the task ends it with a ``SluiceError`` of code `cancelled`. A server that sends the same page twice in a
/// row, or leads back to one that was there before, ends it with one of code `brokenProtocol`.
public struct TablePages<Row: Sendable>: AsyncSequence, Sendable {
    let first: @Sendable () async throws -> TablePage<Row>
    let next: @Sendable (TablePage<Row>) async throws -> TablePage<Row>?

    /// Asks for one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: TablePages
        fileprivate var last: TablePage<Row>?
        fileprivate var isOver = false

        /// The next page; nil after the last.
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

    /// A walk from the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }
}
