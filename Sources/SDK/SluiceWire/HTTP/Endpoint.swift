package import HTTPTypes
public import SluiceBase

/// The base address of a backend: `https://example.net`, or with a folder and a query of its own
/// `http://gateway.local:8080/app?tenant=7`.
///
/// A slash at the end of the path makes no difference. Every request gets the query.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// Host and port; the host in lower case, the port left out where it is the scheme's own.
    public let authority: String
    /// The path, percent-encoded: empty, or a slash and more, without a slash at the end.
    public let path: String
    /// The query, percent-encoded and without its question mark; empty if there is none.
    public let query: String

    /// Reads a base address.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for any scheme but http and https, for credentials or a
    ///   fragment in the address, and for a text that is no URL by RFC 3986. The error does not repeat the address.
    public init(_ url: String) throws(SluiceError) {
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidArgument, "the endpoint's address \(reason)")
        }
        guard let separator = url.firstRange(of: "://") else {
            throw refusal("does not begin with http:// or https://")
        }
        let scheme = url[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { throw refusal("does not begin with http:// or https://") }
        let rest = url[separator.upperBound...]
        guard !rest.contains("#") else { throw refusal("has a fragment (#), which is not sent to a server") }
        let beforeQuery = rest.prefix { $0 != "?" }
        let authority = beforeQuery.prefix { $0 != "/" }
        guard !authority.contains("@") else {
            throw refusal("holds credentials; give them to a token provider instead")
        }
        var path = beforeQuery.dropFirst(authority.count)
        while path.last == "/" { path = path.dropLast() }
        let query = rest.dropFirst(beforeQuery.count + 1)
        guard Self.isValid(path, also: "/:@"), Self.isValid(query, also: "/:@?") else {
            throw refusal("has characters that must be percent-encoded")
        }
        self.scheme = scheme
        self.authority = try Self.checked(authority: authority.lowercased(), scheme: scheme, refusal)
        self.path = String(path)
        self.query = String(query)
    }

    /// The address in one normal form.
    public var description: String { "\(scheme)://\(authority)\(path)\(query.isEmpty ? "" : "?\(query)")" }

    /// The address for stores, without query parameters that hold credentials.
    package var identity: String {
        let parts = query.split(separator: "&").filter {
            !CredentialNames.isCredential(parameter: QueryString.name(of: String($0)))
        }
        return "\(scheme)://\(authority)\(path)\(parts.isEmpty ? "" : "?\(parts.joined(separator: "&"))")"
    }

    /// Whether a request goes to this server: the same scheme, host and port.
    package func isOrigin(of head: HTTPRequest) -> Bool {
        guard let scheme = head.scheme, let authority = head.authority else { return false }
        return isOrigin(scheme: scheme, authority: authority)
    }

    /// Whether scheme, host and port are this server's.
    package func isOrigin(scheme: String, authority: String) -> Bool {
        // The spelling of requests made here; other requests may use another one.
        if scheme == self.scheme, authority == self.authority { return true }
        let scheme = scheme.lowercased()
        return scheme == self.scheme && Self.withoutDefaultPort(authority.lowercased(), scheme) == self.authority
    }

    /// Returns the path of a request, with its query: the base path, these segments, the endpoint's own query, these
    /// parameters. In the parameters' values the characters of `kept` are not encoded. The `$` of a name never is.
    package func target(
        _ segments: [String], _ parameters: [(name: String, value: String)] = [],
        keeping kept: String = PercentEncoding.kept
    ) -> String {
        let path = segments.reduce(path) { "\($0)/\(PercentEncoding.segment($1))" }
        var parts = query.isEmpty ? [] : [query]
        parts += parameters.map {
            "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value, keeping: kept))"
        }
        return (path.isEmpty ? "/" : path) + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    private static func checked(
        authority: String, scheme: String, _ refusal: (String) -> SluiceError
    ) throws(SluiceError) -> String {
        let host: Substring
        let port: Substring?
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw refusal("has no valid host") }
            port = rest.isEmpty ? nil : rest.dropFirst()
            let address = host.dropFirst().dropLast()
            guard address.contains(":"),
                address.utf8.allSatisfy({ PercentEncoding.digit($0) != nil || ":.".utf8.contains($0) })
            else { throw refusal("has no valid host") }
        } else {
            host = authority.prefix { $0 != ":" }
            port = host.count == authority.count ? nil : authority.dropFirst(host.count + 1)
            guard !host.isEmpty, host.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
                throw refusal("has no valid host")
            }
        }
        guard let port else { return String(host) }
        guard port.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = UInt16(port), number > 0 else {
            throw refusal("has no valid port")
        }
        return withoutDefaultPort("\(host):\(number)", scheme)
    }

    private static func withoutDefaultPort(_ authority: String, _ scheme: String) -> String {
        let port = scheme == "https" ? ":443" : ":80"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }

    /// Whether the text has only RFC 3986's path characters, whole escapes and the characters of `also`.
    private static func isValid(_ text: Substring, also: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                return index + 2 < bytes.count && PercentEncoding.digit(bytes[index + 1]) != nil
                    && PercentEncoding.digit(bytes[index + 2]) != nil
            }
            return PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=".utf8.contains(byte) || also.utf8.contains(byte)
        }
    }
}
