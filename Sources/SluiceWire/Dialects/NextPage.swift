internal import HTTPTypes
package import SluiceBase

/// Which request brings the next page of a list.
extension Dialect {
    /// The request for the page after `page`, or nil after the last.
    ///
    /// The server's own word counts first: `nextLink` of the answer, else its `Link` header with `rel=next`. A link may
    /// be absolute, a path with its query, or a query alone, with or without its question mark. Its query is asked of the
    /// endpoint, whatever host it names (``PageLink``), where it leads to the resource of the request before. In the place of
    /// any other link, as Mobile Apps writes one that has lost its path, comes the request before with a larger `$skip` and a
    /// smaller `$top`; and likewise without a link on a wire that knows none, until a page is empty.
    ///
    /// There is no next page after an empty one, nor once as many rows have come as `$top` asked for, whatever the
    /// link says.
    ///
    /// - Parameters:
    ///   - response: the answer that held the page.
    ///   - page: its rows.
    ///   - request: what was asked, as it entered the chain: from ``list(table:query:endpoint:)`` or from here.
    ///   - endpoint: the server.
    package func nextPage(
        after response: Response, page: RowPage, request: Request, endpoint: Endpoint
    ) -> Request? {
        guard let first = page.rows.first, let path = request.head.path else { return nil }
        var parameters = QueryString(ofPath: path)
        let wanted = request.context.paging.remaining ?? parameters["$top"].flatMap { Int($0) }
        let remaining = wanted.map { $0 - page.rows.count }
        if let remaining, remaining <= 0 { return nil }
        var request = request
        let previousFirst = request.context.paging.previousFirst
        request.context.paging = Paging(remaining: remaining, previousFirst: first.id)
        request.context.features.remove(.linkHeader)
        if let linked = linkedPage(after: response, page: page, request: request, endpoint: endpoint) { return linked }
        let link = page.nextLink ?? LinkHeader.next(in: response)
        if link == nil {
            // Servers that ignore $skip send the same page for ever.
            if linksPages || previousFirst.map({ !$0.isEmpty && $0 == first.id }) ?? false { return nil }
        }
        guard let before = Int(parameters["$skip"] ?? "0"), before <= Int.max - page.rows.count else { return nil }
        let skip = before + page.rows.count
        if link == nil, let count = page.count, skip >= count { return nil }
        parameters["$skip"] = String(skip)
        if let remaining { parameters["$top"] = String(remaining) }
        request.head.path = parameters.path
        return request
    }

    /// The request that the answer's own link asks for, or nil where it has none that may be followed: see
    /// ``nextPage(after:page:request:endpoint:)``. A page with a link is not the last one, even if it is empty: some
    /// servers leave out rows after they have cut the page.
    package func linkedPage(after response: Response, page: RowPage, request: Request, endpoint: Endpoint) -> Request? {
        let header = page.nextLink == nil ? LinkHeader.next(in: response) : nil
        guard let link = page.nextLink ?? header, let path = request.head.path,
            let target = PageLink(link).target(from: path, endpoint: endpoint), target != path
        else { return nil }
        var next = request
        next.head.path = target
        if header != nil { next.context.features.insert(.linkHeader) }
        return next
    }
}
