/// The address of a next page as a server writes it: absolute, a path with its query, or a query alone.
package struct PageLink: Sendable {
    private let text: Substring

    /// A link. A fragment, which goes to no server, is left off.
    package init(_ link: String) {
        // Encoded at once: a mark after a slash would be one character with it, and the slash not be seen.
        text = PercentEncoding.ascii(String(link.unicodeScalars.prefix { $0 != "#" }))[...]
    }

    /// The path with query to ask `endpoint` for, or nil if the link leads to another origin, or to another path than
    /// `path`, that of the request before. The endpoint's own query goes along, and what no address may hold is
    /// percent-encoded.
    package func target(from path: String, endpoint: Endpoint) -> String? {
        guard let (linked, query) = parts(endpoint) else { return nil }
        let base = path.prefix { $0 != "?" }
        var target = QueryString(ofPath: "\(base)?\(PercentEncoding.mended(query))")
        guard !target.parts.isEmpty, linked.isEmpty || Self.isSame(linked, base) else { return nil }
        target.addMissing(endpoint.query.split(separator: "&").map(String.init))
        return target.path
    }

    /// Path and query; the path is empty where the link is a query alone.
    private func parts(_ endpoint: Endpoint) -> (path: Substring, query: Substring)? {
        if text.hasPrefix("?") { return ("", text.dropFirst()) }
        let start = text.prefix { $0 != "?" }
        if start.hasPrefix("/") && !start.hasPrefix("//") { return (start, text.dropFirst(start.count + 1)) }
        if let separator = start.firstRange(of: "://"), !start[..<separator.lowerBound].contains("=") {
            let rest = text[separator.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard endpoint.isOrigin(scheme: String(text[..<separator.lowerBound]), authority: String(authority)) else {
                return nil
            }
            let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
            return (path.isEmpty ? "/" : path, rest.dropFirst(authority.count + path.count + 1))
        }
        // A query's first part has a name and a value; anything else would be a path relative to who knows what.
        return start.contains("=") && !start.hasPrefix("//") ? ("", text) : nil
    }

    /// Whether both paths name one resource: escapes count as what they stand for.
    private static func isSame(_ one: Substring, _ other: Substring) -> Bool {
        func segments(_ path: Substring) -> [String] {
            path.split(separator: "/", omittingEmptySubsequences: false)
                .map { PercentEncoding.decoded($0.replacing("+", with: "%2B")) }
        }
        return segments(one) == segments(other)
    }
}
