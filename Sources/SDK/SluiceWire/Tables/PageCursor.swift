internal import HTTPTypes
internal import SluiceBase

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
