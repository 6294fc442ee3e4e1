internal import HTTPTypes
internal import SluiceCore

/// What must hold for any text as the link to a next page: it never leads to another path, and has no word about the server.
enum LinkFuzz {
    private static let endpoints = ["https://h.example/app?k=v", "http://127.0.0.1:8080"].compactMap {
        try? Endpoint($0)
    }

    static func check(_ text: String, endpoint: String?, path: String?) throws(FuzzFinding) {
        let links = [text] + [LinkHeader.next(in: [text])].compactMap(\.self)
        for link in links.dropFirst() where !link.contains(">") {
            let again = LinkHeader.next(in: ["<x>; rel=prev", "<\(link)>; title=\"a, b\"; rel=\"prev next\""])
            try demand((again ?? "").isExactly(link), "the link \(link) is read back as \(again ?? "none")")
        }
        let given = endpoint.flatMap { try? Endpoint($0) }
        for endpoint in endpoints + [given].compactMap(\.self) {
            for link in links {
                try checkTarget(link, endpoint, from: endpoint.target(["tables", "t"], [("$top", "5")]))
                if let path { try checkTarget(link, endpoint, from: "/" + PercentEncoding.mended(path)) }
            }
        }
        // One wire and one server for each input: more of them would only slow the search down.
        let choice = text.utf8.count
        try checkPages(text, Dialect.all[choice % Dialect.all.count], given ?? endpoints[choice / 4 % endpoints.count])
    }

    private static func checkTarget(_ link: String, _ endpoint: Endpoint, from path: String) throws(FuzzFinding) {
        guard let target = PageLink(link).target(from: path, endpoint: endpoint) else { return }
        let base = path.prefix { $0 != "?" }
        try demand(target.hasPrefix(base + "?"), "the link \(link) leads from \(path) to \(target)")
        try demand(AddressFuzz.isSafe(target), "the link \(link) makes the target \(target)")
    }

    /// Follows the link, as `nextLink` and as a header field, for two pages.
    private static func checkPages(_ link: String, _ dialect: Dialect, _ endpoint: Endpoint) throws(FuzzFinding) {
        let row: JSON = ["id": "a"]
        for isHeader in [true, false] {
            let body: JSON = isHeader ? ["items": [row]] : ["items": [row], "nextLink": JSON(link)]
            guard let page = try? RowPage(document: body, shape: .tables),
                var request = try? dialect.list(table: "t", query: TableQuery("t", top: 9), endpoint: endpoint)
            else { continue }
            var head = HTTPResponse(status: 200)
            if isHeader, let name = HTTPField.Name("Link") { head.headerFields[name] = link }
            for _ in 0..<2 {
                let response = SyncResponse(head, body: MessageBody(json: body))
                guard
                    let next = dialect.nextPage(after: response, page: page, request: request, endpoint: endpoint)
                else { break }
                let path = next.head.path ?? ""
                let base = endpoint.target(["tables", "t"]).prefix { $0 != "?" }
                let isSame =
                    next.head.scheme == request.head.scheme && next.head.authority == request.head.authority
                    && next.head.method == .get && next.head.headerFields == request.head.headerFields
                try demand(isSame, "the link \(link) changes more than the path")
                try demand(path.hasPrefix(base + "?") && AddressFuzz.isSafe(path), "the link \(link) leads to \(path)")
                try demand(path != request.head.path, "the link \(link) leads to the same page again")
                request = next
            }
        }
    }
}
