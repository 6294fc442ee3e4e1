internal import HTTPTypes
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

/// The position of a list after a page. It also detects a server that leads in a circle.
struct PageCursor: Sendable {
    /// The request for the next page.
    let request: SyncRequest
    /// The addresses requested so far, this page's included.
    private let asked: Set<String>
    /// The page before the next one.
    private let page: RowPage

    /// Returns the cursor after `page`, or nil after the last.
    ///
    /// - Parameter previous: the cursor that led to this page; nil for the first.
    /// - Throws: ``SluiceError`` of code `brokenProtocol` if the page repeats the one before, or the next page's
    ///   address was requested before.
    static func after(
        _ page: RowPage, _ response: SyncResponse, to request: SyncRequest, previous: PageCursor?, client: SluiceClient
    ) throws(SluiceError) -> PageCursor? {
        if let previous, isSame(page, previous.page) {
            throw failure("the server answers with the same page again and again", request)
        }
        let next = client.dialect.nextPage(after: response, page: page, request: request, endpoint: client.endpoint)
        guard var next else { return nil }
        // Rows without an id are compared as bytes instead; see below.
        if page.rows.first?.id.isEmpty == true { next.context.paging.previousFirst = nil }
        var asked = previous?.asked ?? []
        if let path = request.head.path { asked.insert(path) }
        if let path = next.head.path, asked.contains(path) {
            throw failure("the server's next page is one that was there before", request)
        }
        return PageCursor(request: next, asked: asked, page: page)
    }

    /// Whether both have the same rows. Rows without an id are compared by their bytes.
    private static func isSame(_ one: RowPage, _ other: RowPage) -> Bool {
        guard one.rows.count == other.rows.count, !one.rows.isEmpty else { return false }
        if one.rows.contains(where: { $0.id.isEmpty }) { return one.bytes == other.bytes }
        return zip(one.rows, other.rows).allSatisfy { $0.id == $1.id }
    }

    private static func failure(_ message: String, _ request: SyncRequest) -> SluiceError {
        SluiceError(.brokenProtocol, message, table: request.context.table)
    }
}

/// A list of a table's records, page after page. Each page is requested when the one before is used up.
///
/// ```swift
/// for try await person in people.records(TableQuery("people").sorted(by: "name")) { print(person.name) }
/// ```
///
/// It ends and fails as ``TablePages`` does.
public struct TableRecords<Row: Sendable>: AsyncSequence, Sendable {
    let pages: TablePages<Row>

    /// Returns one record after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pages: TablePages<Row>.AsyncIterator
        fileprivate var rows: ArraySlice<Row> = []

        /// Returns the next record; nil after the last.
        public mutating func next() async throws -> Row? {
            while rows.isEmpty {
                guard let page = try await pages.next() else { return nil }
                rows = page.rows[...]
            }
            return rows.removeFirst()
        }
    }

    /// Returns a walk from the first record.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }
}
