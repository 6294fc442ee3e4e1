/// Reads a pattern in the syntax of ``TextPattern``. Depth and length are bounded, and nothing is guessed.
struct TextPatternParser {
    private static let maximumDepth = 32
    private static let maximumRepetition = 1000

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func parse() throws(TextPattern.Refusal) -> TextPatternTree {
        let tree = try choice()
        guard index == scalars.count else { throw refusal("a ) without its (") }
        return tree
    }

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func refusal(_ reason: String) -> TextPattern.Refusal {
        TextPattern.Refusal(reason: reason, character: index + 1)
    }

    private func outside(_ what: String) -> TextPattern.Refusal {
        TextPattern.Refusal(reason: "\(what) outside of the subset", character: index + 1, isUnsupported: true)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    private mutating func choice() throws(TextPattern.Refusal) -> TextPatternTree {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(TextPattern.Refusal) -> TextPatternTree {
        var trees: [TextPatternTree] = []
        while let scalar = next, scalar != "|", scalar != ")" { trees.append(try repeated()) }
        return trees.isEmpty ? .empty : .sequence(trees)
    }

    private mutating func repeated() throws(TextPattern.Refusal) -> TextPatternTree {
        let isAnchor = next == "^" || next == "$"
        let tree = try atom()
        guard let (least, most) = try quantifier() else { return tree }
        guard !isAnchor else { throw refusal("an anchor cannot be repeated") }
        _ = take("?")
        if let next, "*+?{".unicodeScalars.contains(next) { throw refusal("one quantifier after another") }
        return .repeated(tree, least, most)
    }

    private mutating func quantifier() throws(TextPattern.Refusal) -> (Int, Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard take("{") else { return nil }
        guard let least = number() else { throw refusal("expected a number of times, or \\{ for the character") }
        var most: Int? = least
        if take(",") { most = number() }
        guard take("}") else { throw refusal("expected }") }
        guard least <= most ?? least else { throw refusal("the first number of times is above the second") }
        guard max(least, most ?? 0) <= Self.maximumRepetition else {
            throw refusal("at most \(Self.maximumRepetition) times")
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = index
        var value = 0
        while let digit = next.flatMap({ $0.isASCII ? Int(String($0)) : nil }), index - start < 6 {
            value = value * 10 + digit
            index += 1
        }
        return index > start ? value : nil
    }

    private mutating func atom() throws(TextPattern.Refusal) -> TextPatternTree {
        guard let scalar = next else { throw refusal("the pattern ends too soon") }
        switch scalar {
        case "(": return try group()
        case "[":
            index += 1
            return .scalar(try scalarClass())
        case "*", "+", "?": throw refusal("nothing to repeat; write \\\(scalar) for the character")
        case "{", "}", "]": throw refusal("write \\\(scalar) for the character")
        default: break
        }
        index += 1
        switch scalar {
        case ".": return .scalar(.dot)
        case "^": return .assertion(.start)
        case "$": return .assertion(.end)
        case "\\":
            if take("b") { return .assertion(.boundary(true)) }
            if take("B") { return .assertion(.boundary(false)) }
            return .scalar(try escape())
        default: return .scalar(ScalarRanges([scalar.value...scalar.value]))
        }
    }

    private mutating func group() throws(TextPattern.Refusal) -> TextPatternTree {
        index += 1
        if take("?") {
            guard take(":") else {
                throw outside("looking around and named groups are")
            }
        }
        depth += 1
        guard depth <= Self.maximumDepth else { throw refusal("groups are nested at most \(Self.maximumDepth) deep") }
        let tree = try choice()
        guard take(")") else { throw refusal("expected )") }
        depth -= 1
        return tree
    }

    /// Reads the rest of an escape after its backslash.
    private mutating func escape() throws(TextPattern.Refusal) -> ScalarRanges {
        guard let scalar = next else { throw refusal("the pattern ends after a \\") }
        index += 1
        switch scalar {
        case "d": return .digits
        case "D": return ScalarRanges.digits.inverted
        case "w": return .word
        case "W": return ScalarRanges.word.inverted
        case "s": return .space
        case "S": return ScalarRanges.space.inverted
        case "t": return ScalarRanges([9...9])
        case "n": return ScalarRanges([10...10])
        case "r": return ScalarRanges([13...13])
        case "f": return ScalarRanges([12...12])
        case "v": return ScalarRanges([11...11])
        case "0": return ScalarRanges([0...0])
        case "x": return try code(2, "two hexadecimal digits after \\x")
        case "u": return try code(4, "four hexadecimal digits after \\u")
        default: break
        }
        if ("1"..."9").contains(scalar) { throw outside("references back to a group are") }
        guard scalar.isASCII, !scalar.properties.isAlphabetic else {
            guard "bBcdDfknpPrsStuvwWx".unicodeScalars.contains(scalar) else {
                throw refusal("no escape is \\\(scalar)")
            }
            throw outside("\\\(scalar) is")
        }
        return ScalarRanges([scalar.value...scalar.value])
    }

    private mutating func code(_ digits: Int, _ expected: String) throws(TextPattern.Refusal) -> ScalarRanges {
        let text = scalars[index...].prefix(digits)
        guard text.count == digits, text.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(String.UnicodeScalarView(text)), radix: 16), Unicode.Scalar(value) != nil
        else { throw refusal("expected \(expected)") }
        index += digits
        return ScalarRanges([value...value])
    }

    /// Reads a class after its `[`.
    private mutating func scalarClass() throws(TextPattern.Refusal) -> ScalarRanges {
        let isInverted = take("^")
        var ranges = ScalarRanges()
        var isFirst = true
        while !take("]") {
            guard next != nil else { throw refusal("expected ]") }
            // In other dialects it begins a named class, which would silently mean something else here.
            if next == "[" {
                throw TextPattern.Refusal(
                    reason: "write \\[ for the character", character: index + 1, isUnsupported: true)
            }
            let low = try classMember()
            if next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" {
                index += 1
                let high = try classMember()
                guard let first = low.single, let last = high.single, first <= last else {
                    throw refusal("expected a range from a lower character to a higher one")
                }
                ranges.insert(first...last)
            } else {
                ranges.formUnion(low)
            }
            isFirst = false
        }
        guard !isFirst else { throw refusal("an empty class") }
        return isInverted ? ranges.inverted : ranges
    }

    private mutating func classMember() throws(TextPattern.Refusal) -> ScalarRanges {
        guard let scalar = next else { throw refusal("expected ]") }
        index += 1
        if scalar == "\\" { return try escape() }
        return ScalarRanges([scalar.value...scalar.value])
    }
}

extension ScalarRanges {
    /// The one scalar of the set, if it has no other.
    var single: UInt32? {
        guard ranges.count == 1, ranges[0].lowerBound == ranges[0].upperBound else { return nil }
        return ranges[0].lowerBound
    }
}
