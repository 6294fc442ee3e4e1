internal import HTTPTypes

/// The path that a proxy takes away before it passes a request on.
enum ForwardedPrefix {
    /// The header that says it.
    static let field = HTTPField.Name("X-Forwarded-Prefix")
}

extension HTTPRequest {
    /// The path that a proxy has taken away before the request came, without a slash at its end; empty where it has none,
    /// or one that no link could have.
    var forwardedPrefix: String {
        let text = ForwardedPrefix.field.flatMap { headerFields[$0] } ?? ""
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._~/%".utf8.contains(byte)
        }
        guard isPlain, text.hasPrefix("/"), !text.hasPrefix("//") else { return "" }
        return String(text.reversed().drop { $0 == "/" }.reversed())
    }

    /// Takes the prefix from the request that this one came in.
    mutating func inheritPrefix(of outer: HTTPRequest) {
        if let name = ForwardedPrefix.field { headerFields[values: name] = outer.headerFields[values: name] }
    }
}
