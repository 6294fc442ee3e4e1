/// A pattern for names, with `*` for any characters and `?` for one.
struct Glob: Sendable, Hashable {
    /// The longest pattern, in bytes.
    static let maximumLength = 128

    private enum Form: Hashable {
        case any
        case exactly(String)
        case prefix(String)
        case suffix(String)
        case pattern([Unicode.Scalar])
    }
    private let form: Form
    /// The pattern as it was written.
    let text: String

    /// A pattern; nil for one that is empty, too long, or has a control character.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength, !text.utf8.contains(where: { $0 < 0x20 }) else {
            return nil
        }
        self.text = text
        let star = UInt8(ascii: "*")
        if !text.utf8.contains(where: { $0 == star || $0 == UInt8(ascii: "?") }) {
            form = .exactly(text)
        } else if text == "*" {
            form = .any
        } else if text.utf8.last == star, Self.isPlain(text.dropLast()) {
            form = .prefix(String(text.dropLast()))
        } else if text.utf8.first == star, Self.isPlain(text.dropFirst()) {
            form = .suffix(String(text.dropFirst()))
        } else {
            form = .pattern(Array(text.unicodeScalars))
        }
    }

    private static func isPlain(_ text: Substring) -> Bool {
        !text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    }

    /// Whether the pattern matches one name only.
    var isExact: Bool { if case .exactly = form { true } else { false } }

    /// Whether the pattern matches the name.
    func matches(_ name: String) -> Bool {
        switch form {
        case .any: true
        case .exactly(let text): name.utf8.elementsEqual(text.utf8)
        case .prefix(let text): name.utf8.starts(with: text.utf8)
        case .suffix(let text): name.utf8.reversed().starts(with: text.utf8.reversed())
        case .pattern(let scalars): Self.matches(scalars, Array(name.unicodeScalars))
        }
    }

    /// Matches with backtracking to the last `*` only, so the time is at most pattern length times name length.
    private static func matches(_ pattern: [Unicode.Scalar], _ name: [Unicode.Scalar]) -> Bool {
        var place = 0
        var position = 0
        var star: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = star {
                star = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
