internal import HTTPTypes
internal import SluiceCore

/// A request's path and query, parsed and decoded.
struct RequestTarget: Sendable {
    /// The segments of the path.
    var segments: [String] = []
    /// The parameters, in order.
    var parameters: [(name: String, value: String)] = []
    /// The path of the request line.
    var path: String
    /// `http://host:port`, or empty if the request names no host that is valid in a header.
    var origin: String
    /// The path prefix that a proxy has stripped; empty for none.
    var prefix: String
    /// The beginning of this server's addresses.
    var base: String { origin + prefix }
    /// The path as the client sent it.
    var clientPath: String { prefix + path }

    init(_ head: HTTPRequest) {
        let target = head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts.first ?? "/")
        segments = path.split(separator: "/").map {
            // A plus sign in a path is literal.
            PercentEncoding.decoded($0.replacing("+", with: "%2B"))
        }
        if parts.count > 1 {
            parameters = parts[1].split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (PercentEncoding.decoded(sides[0]), sides.count > 1 ? PercentEncoding.decoded(sides[1]) : "")
            }
        }
        prefix = head.forwardedPrefix
        let authority = head.authority ?? ""
        let isPlain = authority.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-.:[]".utf8.contains(byte)
        }
        origin = isPlain && !authority.isEmpty ? "\(head.scheme ?? "http")://\(authority)" : ""
    }

    /// Returns the values of a parameter; the case of its name does not matter.
    func values(_ name: String) -> [String] {
        parameters.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// The path prefix that a proxy strips from requests.
enum ForwardedPrefix {
    /// The header with the prefix.
    static let field = HTTPField.Name("X-Forwarded-Prefix")
}

extension HTTPRequest {
    /// The prefix stripped from this request, without a trailing slash; empty if there is none, or if it is invalid in
    /// a link.
    var forwardedPrefix: String {
        let text = ForwardedPrefix.field.flatMap { headerFields[$0] } ?? ""
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._~/%".utf8.contains(byte)
        }
        guard isPlain, text.hasPrefix("/"), !text.hasPrefix("//") else { return "" }
        return String(text.reversed().drop { $0 == "/" }.reversed())
    }

    /// Copies the prefix from a batch to a request in it.
    mutating func inheritPrefix(of outer: HTTPRequest) {
        if let name = ForwardedPrefix.field { headerFields[values: name] = outer.headerFields[values: name] }
    }
}
