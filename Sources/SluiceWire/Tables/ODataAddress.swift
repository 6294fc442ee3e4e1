internal import SluiceBase

/// Where a text of OData asks: a query, a path below the endpoint's, or a whole address.
struct ODataAddress {
    private let text: Substring
    private let table: String

    init(_ text: String, table: String) {
        self.text = text[...]
        self.table = table
    }

    /// The path with query to ask `endpoint` for. What no address may hold is percent-encoded, and the endpoint's own
    /// query goes along.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address at another origin than the endpoint's.
    func path(at endpoint: Endpoint) throws(SluiceError) -> String {
        let start = text.prefix { $0 != "?" }
        if start.hasPrefix("//") { throw refusal }
        if start.hasPrefix("/") { return joined("\(endpoint.path)\(start)", text.dropFirst(start.count), endpoint) }
        // A name and "=" before any "://" is the beginning of a query that has an address in one of its values.
        if let separator = start.firstRange(of: "://"), !start[..<separator.lowerBound].contains("=") {
            let rest = text[separator.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            guard endpoint.isOrigin(scheme: String(start[..<separator.lowerBound]), authority: String(authority)) else {
                throw refusal
            }
            let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
            return joined(path.isEmpty ? "/" : String(path), rest.dropFirst(authority.count + path.count), endpoint)
        }
        let path = endpoint.target(["tables", table]).prefix { $0 != "?" }
        return joined(String(path), text.hasPrefix("?") ? text : "?\(text)"[...], endpoint)
    }

    /// Path and query, the query with its question mark.
    private func joined(_ path: String, _ query: Substring, _ endpoint: Endpoint) -> String {
        let query = PercentEncoding.mended(query.dropFirst())
        var target = QueryString(ofPath: "\(PercentEncoding.mended(path))?\(query)")
        target.addMissing(endpoint.query.split(separator: "&").map(String.init))
        return target.path
    }

    private var refusal: SluiceError {
        SluiceError(
            .invalidArgument, "the query's address leads to another server than the client's endpoint", table: table)
    }
}
