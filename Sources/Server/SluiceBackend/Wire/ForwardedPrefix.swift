internal import HTTPTypes

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
