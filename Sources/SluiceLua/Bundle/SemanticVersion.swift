/// A version by the rules of semantic versioning 2.0.0, as far as plugins need them: which of two is newer.
struct SemanticVersion: Sendable, Comparable {
    let text: String
    private let numbers: [Int]
    private let preview: [Substring]

    /// The version; nil if the text is not one.
    init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let core = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = core[0].split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, numbers.allSatisfy(Self.isNumber) else { return nil }
        preview = core.count > 1 ? core[1].split(separator: ".", omittingEmptySubsequences: false) : []
        let build = parts.count > 1 ? parts[1].split(separator: ".", omittingEmptySubsequences: false) : []
        guard (preview + build).allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isWord) }) else { return nil }
        self.numbers = numbers.compactMap { Int($0) }
        guard self.numbers.count == 3 else { return nil }
        self.text = text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit) && (text == "0" || text.utf8.first != UInt8(ascii: "0"))
    }

    static func == (left: SemanticVersion, right: SemanticVersion) -> Bool {
        left.numbers == right.numbers && left.preview == right.preview
    }

    static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        if left.preview.isEmpty || right.preview.isEmpty { return !left.preview.isEmpty && right.preview.isEmpty }
        return left.preview.lexicographicallyPrecedes(right.preview) { one, other in
            switch (isNumber(one) ? Int(one) : nil, isNumber(other) ? Int(other) : nil) {
            case (let one?, let other?): one < other
            case (_?, nil): true
            case (nil, _?): false
            case (nil, nil): one.utf8.lexicographicallyPrecedes(other.utf8)
            }
        }
    }
}
