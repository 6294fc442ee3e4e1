internal import SluiceLua

/// Splits a Lua text into tokens. Any text of valid Lua is read correctly. For other texts the result is undefined: the
/// machine decides about validity.
struct LuaLexer {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1

    /// Operators of more than one character, the longest first.
    private static let signs = ["...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>"].map { Array($0.utf8) }

    init(_ text: [UInt8]) {
        bytes = text
        if bytes.first == UInt8(ascii: "#") { skipLine() }
    }

    /// Returns all tokens, followed by an end token.
    static func tokens(of text: [UInt8]) -> [LuaToken] {
        var lexer = LuaLexer(text)
        var tokens: [LuaToken] = []
        while true {
            let token = lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private func byte(_ offset: Int = 0) -> UInt8 { place + offset < bytes.count ? bytes[place + offset] : 0 }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || isDigit(byte)
            || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func next() -> LuaToken {
        skipBlanks()
        guard place < bytes.count else { return LuaToken(kind: .end, text: "", line: line) }
        let (start, first) = (line, byte())
        if Self.isDigit(first) || (first == UInt8(ascii: ".") && Self.isDigit(byte(1))) {
            return LuaToken(kind: .number, text: number(), line: start)
        }
        if Self.isWord(first) {
            let begin = place
            while Self.isWord(byte()) { place += 1 }
            let text = String(decoding: bytes[begin..<place], as: UTF8.self)
            return LuaToken(kind: LuaToken.keywords.contains(text) ? .keyword : .name, text: text, line: start)
        }
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            return LuaToken(kind: .string, text: quoted(), line: start)
        }
        if let text = long() { return LuaToken(kind: .string, text: text, line: start) }
        for sign in Self.signs where bytes[place...].starts(with: sign) {
            place += sign.count
            return LuaToken(kind: .symbol, text: String(decoding: sign, as: UTF8.self), line: start)
        }
        place += 1
        return LuaToken(kind: .symbol, text: String(decoding: [first], as: UTF8.self), line: start)
    }

    private mutating func skipBlanks() {
        while place < bytes.count {
            switch byte() {
            case UInt8(ascii: "\n"):
                line += 1
                place += 1
            case UInt8(ascii: " "), 9, 11, 12, 13: place += 1
            case UInt8(ascii: "-") where byte(1) == UInt8(ascii: "-"):
                place += 2
                if long() == nil { skipLine() }
            default: return
            }
        }
    }

    private mutating func skipLine() {
        while place < bytes.count, byte() != UInt8(ascii: "\n") { place += 1 }
    }

    private mutating func number() -> String {
        let begin = place
        let isHexadecimal = byte() == UInt8(ascii: "0") && byte(1) | 0x20 == UInt8(ascii: "x")
        let exponent = UInt8(ascii: isHexadecimal ? "p" : "e")
        while Self.isWord(byte()) || byte() == UInt8(ascii: ".") {
            let isExponent = byte() | 0x20 == exponent
            place += 1
            if isExponent, byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { place += 1 }
        }
        return String(decoding: bytes[begin..<place], as: UTF8.self)
    }

    private mutating func quoted() -> String {
        let quote = byte()
        place += 1
        var text: [UInt8] = []
        while place < bytes.count, byte() != quote, byte() != UInt8(ascii: "\n") {
            guard byte() == UInt8(ascii: "\\") else {
                text.append(byte())
                place += 1
                continue
            }
            place += 1
            if byte() == UInt8(ascii: "z") {
                place += 1
                while [UInt8(ascii: " "), 9, 10, 11, 12, 13].contains(byte()) {
                    if byte() == UInt8(ascii: "\n") { line += 1 }
                    place += 1
                }
                continue
            }
            if byte() == UInt8(ascii: "\n") { line += 1 }
            text.append(byte())
            place += 1
        }
        place += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a text between long brackets, `[==[ … ]==]`; nil if none begins here.
    private mutating func long() -> String? {
        guard byte() == UInt8(ascii: "[") else { return nil }
        var level = 0
        while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
        guard byte(1 + level) == UInt8(ascii: "[") else { return nil }
        place += level + 2
        let begin = place
        let close = [UInt8(ascii: "]")] + Array(repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
        while place < bytes.count, !bytes[place...].starts(with: close) {
            if byte() == UInt8(ascii: "\n") { line += 1 }
            place += 1
        }
        let text = String(decoding: bytes[begin..<min(place, bytes.count)], as: UTF8.self)
        place = min(place + close.count, bytes.count)
        return text
    }
}

/// A token of a Lua text.
struct LuaToken: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case name, keyword, string, number, symbol, end
    }

    var kind: Kind
    /// A name, keyword or operator as written; for a string its value without escapes.
    var text: String
    /// The line on which it begins, from 1.
    var line: Int

    static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]

    /// Whether it is that keyword or operator.
    func `is`(_ word: String) -> Bool { (kind == .keyword || kind == .symbol) && text == word }
}
