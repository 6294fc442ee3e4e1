internal import SluiceLua

/// A word of a Lua text.
struct LuaToken: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case name, keyword, string, number, symbol, end
    }

    var kind: Kind
    /// A name, a keyword or a sign as it is written; of a string what it says, without its escapes.
    var text: String
    /// The line on which it begins, from 1.
    var line: Int

    static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]

    /// Whether it is that keyword or sign.
    func `is`(_ word: String) -> Bool { (kind == .keyword || kind == .symbol) && text == word }
}
