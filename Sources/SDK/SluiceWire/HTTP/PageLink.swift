/// The address of a next page as a server writes it: absolute, a path with its query, or a query alone.
///
/// Servers write the host, port and scheme under which they believe to be reached, and behind a proxy these are not
/// the client's. Nor is the path, if the proxy has put a folder before it. So only a link's resource and its query
/// count, and the request goes to the client's own endpoint. No request, and no credential, ever goes to a link's own
/// host.
package struct PageLink: Sendable {
    private let text: Substring

    /// A link. A fragment is removed, because it is never sent to a server.
    package init(_ link: String) {
        // Encoded at once: a combining mark after a slash would form one character with it, and hide the slash.
        text = PercentEncoding.ascii(String(link.unicodeScalars.prefix { $0 != "#" }))[...]
    }

    /// A link's form.
    package enum Form: Sendable {
        /// A path from the root of a server, with the query after its question mark.
        case address(path: Substring, query: Substring)
        /// Anything without a scheme that does not begin with a slash.
        case relative(Substring)
        /// An address that is no resource of HTTP, or one with credentials.
        case other
    }

    /// The link without its scheme and authority.
    package var form: Form {
        let start = text.prefix { $0 != "?" }
        var rest = text
        if let separator = start.firstRange(of: "://"), !start[..<separator.lowerBound].contains("=") {
            guard ["http", "https"].contains(start[..<separator.lowerBound].lowercased()) else { return .other }
            rest = text[separator.upperBound...]
        } else if start.hasPrefix("//") {
            rest = text.dropFirst(2)
        } else {
            guard start.hasPrefix("/") else { return .relative(text) }
            return .address(path: start, query: text.dropFirst(start.count + 1))
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains("@") else { return .other }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
        let query = rest.dropFirst(authority.count + path.count + 1)
        return .address(path: path.isEmpty ? "/" : path, query: query)
    }

    /// Returns the path with query for a request to `endpoint`, or nil if the link leads to a resource other than the
    /// one of `path`, from the request before. The endpoint's own query is added, and characters that are not allowed
    /// in an address are percent-encoded.
    package func target(from path: String, endpoint: Endpoint) -> String? {
        let base = path.prefix { $0 != "?" }
        let query: Substring
        switch form {
        case .address(let linked, let its):
            guard Self.isSame(linked, base, below: endpoint.path) else { return nil }
            query = its
        case .relative(let text):
            // A query's first part has a name and a value; anything else would be a path relative to an unknown base.
            guard text.hasPrefix("?") || text.prefix(while: { $0 != "?" }).contains("=") else { return nil }
            query = text.hasPrefix("?") ? text.dropFirst() : text
        case .other: return nil
        }
        var target = QueryString(ofPath: "\(base)?\(PercentEncoding.mended(query))")
        guard !target.parts.isEmpty else { return nil }
        target.addMissing(endpoint.query.split(separator: "&").map(String.init))
        return target.path
    }

    /// Whether a linked path ends in the same resource as `path` has below `root`, regardless of the folders before
    /// it. Paths are compared decoded.
    package static func isSame(_ linked: Substring, _ path: Substring, below root: String) -> Bool {
        func segments(_ path: Substring) -> [String] {
            path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                .map { PercentEncoding.decoded($0.replacing("+", with: "%2B")) }
        }
        let resource = segments(path.hasPrefix(root) ? path.dropFirst(root.utf8.count) : path)
        return !resource.isEmpty && resource == segments(linked).suffix(resource.count)
    }
}
