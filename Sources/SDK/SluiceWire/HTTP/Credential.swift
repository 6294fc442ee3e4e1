internal import SluiceBase

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
