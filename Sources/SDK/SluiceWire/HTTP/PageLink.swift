internal import HTTPTypes

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

/// Reads `Link` header fields for the address of the next page.
///
/// Mobile Apps servers write the address bare, `http://host/tables/T?$skip=50; rel=next`. Other servers follow RFC
/// 8288, with angle brackets and perhaps several links in one field. Both are read, scalar by scalar, because a
/// combining mark after a bracket would hide it.
package enum LinkHeader {
    private typealias Text = Substring.UnicodeScalarView

    /// Returns the address of the first link of an answer with the relation `next`.
    package static func next(in response: SyncResponse) -> String? {
        HTTPField.Name("Link").flatMap { next(in: response.head.headerFields[values: $0]) }
    }

    /// Returns the address of the first link with the relation `next`, from the fields' values.
    package static func next(in fields: [String]) -> String? {
        for field in fields {
            let text = field[...].unicodeScalars.drop { $0 == " " || $0 == "\t" }
            let link = text.first == "<" ? bracketed(text) : bare(text)
            if let link { return link }
        }
        return nil
    }

    /// Reads `address; rel=next`, with nothing after it.
    private static func bare(_ field: Text) -> String? {
        guard let semicolon = field.lastIndex(of: ";"), isNext(field[field.index(after: semicolon)...]) else {
            return nil
        }
        let address = field[..<semicolon].trimmed
        return address.isEmpty ? nil : String(Substring(address))
    }

    /// Reads `<address>; rel="next"; title="x", <other>; rel=prev` (RFC 8288, section 3).
    private static func bracketed(_ field: Text) -> String? {
        var rest = field
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let address = rest[rest.index(after: open)..<close].trimmed
            let (parameters, end) = parameters(rest[rest.index(after: close)...])
            if !address.isEmpty, parameters.contains(where: isNext) { return String(Substring(address)) }
            rest = end
        }
        return nil
    }

    /// Returns the parameters up to the comma that ends the link, and the rest. In quotes neither `;` nor `,` counts.
    private static func parameters(_ text: Text) -> ([Text], Text) {
        var parts: [Text] = []
        var isQuoted = false
        var start = text.startIndex
        for index in text.indices {
            let character = text[index]
            if character == "\"" { isQuoted.toggle() }
            guard !isQuoted, character == ";" || character == "," else { continue }
            parts.append(text[start..<index])
            start = text.index(after: index)
            if character == "," { return (parts, text[start...]) }
        }
        parts.append(text[start...])
        return (parts, text[text.endIndex...])
    }

    /// Whether a parameter is `rel` with `next` among its relations.
    private static func isNext(_ parameter: Text) -> Bool {
        guard let equals = parameter.firstIndex(of: "=") else { return false }
        guard Substring(parameter[..<equals].trimmed).lowercased() == "rel" else { return false }
        var value = parameter[parameter.index(after: equals)...].trimmed
        if value.count > 1, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        return value.split(separator: " ").contains { Substring($0).lowercased() == "next" }
    }
}

extension Substring.UnicodeScalarView {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: Substring.UnicodeScalarView {
        var text = self
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return text
    }
}
