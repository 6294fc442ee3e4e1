package import HTTPTypes
internal import SluiceBase

/// A text that no description, log or dump shows.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The text itself.
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "(hidden)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A value of a request that no error may repeat.
struct Credential: Sendable, Hashable {
    /// The shortest text that is searched for in errors: a shorter one would occur in ordinary words.
    private static let shortest = 4
    /// The same for an encoded text, a part of a JSON Web Token, and a value that may be no credential.
    private static let shortestPart = 8

    private let value: Secret
    /// Whether the value was sent under a credential's name.
    let isNamed: Bool

    init(_ value: String, isNamed: Bool) {
        self.value = Secret(value)
        self.isNamed = isNamed
    }

    /// All texts to search for.
    var forms: [SecretForm] {
        let whole = value.text
        return parts.flatMap { part in
            // A part inside of the value has no pieces that are not the value's own.
            let hidesPieces = isNamed && (part.utf8.count == whole.utf8.count || !whole.contains(part))
            return SecretForm.all(
                of: Array(part.utf8), hidesPieces: hidesPieces, shortestDigits: Self.shortestPart)
        }
    }

    /// The value and its parts: the token after a scheme's name, the values of cookies and of a scheme's parameters,
    /// user and password of `Basic`, the three parts of a JSON Web Token.
    private var parts: [String] {
        let whole = value.text
        guard isNamed else { return whole.utf8.count >= Self.shortestPart ? [whole] : [] }
        var parts = [whole]
        var words = whole.split { " ,;".contains($0) }
        var scheme = ""
        if words.count > 1, let first = words.first, first.utf8.allSatisfy(Self.isOfName), !first.contains("=") {
            scheme = words.removeFirst().lowercased()
        }
        for word in words {
            parts.append(String(word))
            if let equals = word.firstIndex(of: "="), word[equals...].contains(where: { $0 != "=" }) {
                parts.append(word[word.index(after: equals)...].trimmingQuotes)
            }
            parts += Self.tokenParts(of: word)
            if scheme == "basic", let bytes = Base64.lenientBytes(word) {
                let pair = String(decoding: bytes, as: UTF8.self)
                parts.append(pair)
                if let colon = pair.firstIndex(of: ":") { parts.append(String(pair[pair.index(after: colon)...])) }
            }
        }
        var seen: Set<[UInt8]> = []
        return parts.filter { $0.utf8.count >= Self.shortest && seen.insert(Array($0.utf8)).inserted }
    }

    /// Returns the parts of a JSON Web Token.
    private static func tokenParts(of word: Substring) -> [String] {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count < 3 ? [] : parts.filter { $0.utf8.count >= shortestPart }.map(String.init)
    }

    /// Whether the byte may stand in the name of a scheme of authentication.
    private static func isOfName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "-")
    }
}

extension Substring {
    fileprivate var trimmingQuotes: String {
        var text = self
        if text.first == "\"" { text.removeFirst() }
        if text.last == "\"" { text.removeLast() }
        return String(text)
    }
}

/// Decides by name whether header fields and query parameters hold credentials.
package enum CredentialNames {
    /// The treatment of a value by the name that it is sent under.
    enum Kind: Sendable {
        /// The name is that of a credential.
        case credential
        /// The name's meaning is the application's.
        case unknown
        /// The value is public: HTTP or the tables protocol gives it its meaning.
        case open
    }

    /// Words that a credential's name contains.
    private static let words = [
        "auth", "cookie", "token", "key", "secret", "passw", "credential", "signature", "session", "jwt", "bearer",
    ]
    /// Names of credentials that contain none of these words.
    private static let names: Set<String> = [
        "x-zumo-application", "x-zumo-master", "code", "sig", "pwd", "pass", "pin",
    ]
    /// Header fields whose values are public.
    private static let openFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-encoding", "content-language", "content-length", "content-type", "date", "expect", "host",
        "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "keep-alive", "origin", "pragma", "prefer", "range", "repeatability-first-sent",
        "repeatability-request-id", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
        "x-correlation-id", "x-request-id", "x-zumo-features", "x-zumo-installation-id", "x-zumo-options",
        "x-zumo-version", "zumo-api-version",
    ]

    /// Returns the kind of a header field.
    static func kind(of field: HTTPField.Name) -> Kind {
        let name = field.canonicalName
        if openFields.contains(name) { return .open }
        return isNamed(name) ? .credential : .unknown
    }

    /// Whether a header field's name is that of a credential.
    package static func isCredential(_ field: HTTPField.Name) -> Bool { kind(of: field) == .credential }

    /// Whether an application may set the header field of a single change. It may if the field holds no credential,
    /// and has no meaning in HTTP or a protocol of tables.
    package static func mayBelongToApplication(_ field: HTTPField.Name) -> Bool {
        let name = field.canonicalName
        if name == "accept-language" { return true }
        let reserved = ["content-", "if-", "odata-", "proxy-", "repeatability-", "sec-", "x-http-", "x-zumo-", "zumo-"]
        return kind(of: field) == .unknown && !reserved.contains { name.hasPrefix($0) }
    }

    /// Whether a query parameter's name is that of a credential. Names that begin with `$` or `__` belong to the
    /// protocol: a `$skiptoken` is no credential.
    package static func isCredential(parameter name: String) -> Bool {
        !name.utf8.starts(with: "$".utf8) && !name.utf8.starts(with: "__".utf8) && isNamed(name.lowercased())
    }

    private static func isNamed(_ name: String) -> Bool {
        names.contains(name) || words.contains { name.contains($0) }
    }
}
