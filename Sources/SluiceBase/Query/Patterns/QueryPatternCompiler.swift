/// Makes the program of a regular expression. (ECMA-262, 22.2.1.)
struct QueryPatternCompiler {
    private typealias Mistake = QueryPattern.Mistake
    private typealias Step = QueryPattern.Step

    private let pattern: [Unicode.Scalar]
    private var position = 0
    private var depth = 0

    init(_ pattern: String) { self.pattern = Array(pattern.unicodeScalars) }

    mutating func program() throws(QueryPattern.Mistake) -> [QueryPattern.Step] {
        let steps = try alternatives()
        if position < pattern.count { throw Mistake(reason: "a ) without its (") }
        return steps + [.match]
    }

    private var next: Unicode.Scalar? { position < pattern.count ? pattern[position] : nil }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func alternatives() throws(QueryPattern.Mistake) -> [QueryPattern.Step] {
        depth += 1
        defer { depth -= 1 }
        guard depth <= 32 else { throw Mistake(reason: "groups nested deeper than 32 levels") }
        var choices = [try sequence()]
        while skip("|") { choices.append(try sequence()) }
        // From the last to the first: each is tried beside all that follow.
        var steps = choices.removeLast()
        for choice in choices.reversed() {
            steps = Self.either(choice, steps)
            try Self.check(steps)
        }
        return steps
    }

    private mutating func sequence() throws(QueryPattern.Mistake) -> [QueryPattern.Step] {
        var steps: [Step] = []
        while let next, next != "|", next != ")" {
            Self.append(try repeated(), to: &steps)
            try Self.check(steps)
        }
        return steps
    }

    /// A part with what says how often it stands there.
    private mutating func repeated() throws(QueryPattern.Mistake) -> [QueryPattern.Step] {
        let part = try atom()
        guard let range = try count() else { return part }
        _ = skip("?")
        if case .start? = part.first, part.count == 1 { throw Mistake(reason: "nothing to repeat") }
        var steps: [Step] = []
        guard range.least * max(1, part.count) <= QueryPattern.mostSteps else { throw Self.tooLong }
        for _ in 0..<range.least { Self.append(part, to: &steps) }
        if let most = range.most {
            guard most >= range.least else { throw Mistake(reason: "a count that ends before it begins") }
            guard most * (part.count + 1) <= QueryPattern.mostSteps else { throw Self.tooLong }
            var optional: [Step] = []
            for _ in range.least..<most {
                var once = part
                Self.append(optional, to: &once)
                optional = [.fork(1, once.count + 1)] + Self.moved(once, by: 1)
            }
            Self.append(optional, to: &steps)
        } else {
            let loop: [Step] = [.fork(1, part.count + 2)] + Self.moved(part, by: 1) + [.jump(0)]
            Self.append(loop, to: &steps)
        }
        try Self.check(steps)
        return steps
    }

    /// `*`, `+`, `?`, `{2}`, `{2,}`, `{2,5}`; nil if none is here.
    private mutating func count() throws(QueryPattern.Mistake) -> (least: Int, most: Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        guard next == "{" else { return nil }
        let start = position
        position += 1
        if let least = number() {
            if skip("}") { return (least, least) }
            if skip(",") {
                if skip("}") { return (least, nil) }
                if let most = number(), skip("}") { return (least, most) }
            }
        }
        position = start
        throw Mistake(reason: "a { that is no count")
    }

    private mutating func number() -> Int? {
        var digits = ""
        while let next, ("0"..."9").contains(next), digits.utf8.count < 5 {
            digits.unicodeScalars.append(next)
            position += 1
        }
        return Int(digits)
    }

    private mutating func atom() throws(QueryPattern.Mistake) -> [QueryPattern.Step] {
        guard let scalar = next else { return [] }
        position += 1
        switch scalar {
        case "^": return [.start]
        case "$": return [.end]
        case ".": return [.character(.any)]
        case "(":
            if skip("?"), !skip(":") { throw Mistake(reason: "a group of the kind (?", isUnsupported: true) }
            let steps = try alternatives()
            guard skip(")") else { throw Mistake(reason: "a ( without its )") }
            return steps
        case "[": return [.character(try characterClass())]
        case "*", "+", "?", "{", "}", "]": throw Mistake(reason: "nothing before \(String(scalar))")
        case "\\":
            if skip("b") { return [.boundary(true)] }
            if skip("B") { return [.boundary(false)] }
            return [.character(try escaped())]
        default: return [.character(Self.only(scalar))]
        }
    }

    private mutating func characterClass() throws(QueryPattern.Mistake) -> CharacterClass {
        var result = CharacterClass(isNegated: skip("^"))
        while let scalar = next {
            position += 1
            if scalar == "]" { return result }
            let first = scalar == "\\" ? try escaped() : Self.only(scalar)
            guard next == "-", position + 1 < pattern.count, pattern[position + 1] != "]" else {
                result.ranges += first.plainRanges
                continue
            }
            position += 1
            let upper = pattern[position]
            position += 1
            let last = upper == "\\" ? try escaped() : Self.only(upper)
            guard first.ranges.count == 1, last.ranges.count == 1, !first.isNegated, !last.isNegated,
                first.ranges[0].count == 1, last.ranges[0].count == 1,
                first.ranges[0].lowerBound <= last.ranges[0].lowerBound
            else { throw Mistake(reason: "a range of characters that is none") }
            result.ranges.append(first.ranges[0].lowerBound...last.ranges[0].lowerBound)
        }
        throw Mistake(reason: "a [ without its ]")
    }

    /// What a backslash makes of what follows it.
    private mutating func escaped() throws(QueryPattern.Mistake) -> CharacterClass {
        guard let scalar = next else { throw Mistake(reason: "a \\ at its end") }
        position += 1
        switch scalar {
        case "d": return .digit
        case "D": return CharacterClass.digit.negated
        case "w": return .word
        case "W": return CharacterClass.word.negated
        case "s": return .space
        case "S": return CharacterClass.space.negated
        case "t": return Self.only("\t")
        case "n": return Self.only("\n")
        case "r": return Self.only("\r")
        case "f": return Self.only("\u{0C}")
        case "v": return Self.only("\u{0B}")
        case "0": return Self.only("\0")
        case "x": return try code(digits: 2)
        case "u": return try code(digits: 4)
        case "1"..."9": throw Mistake(reason: "a reference to a group", isUnsupported: true)
        case "p", "P", "k", "c": throw Mistake(reason: "an escape \\\(String(scalar))", isUnsupported: true)
        default:
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            guard !isLetter else { throw Mistake(reason: "an escape \\\(String(scalar)), which there is not") }
            return Self.only(scalar)
        }
    }

    private mutating func code(digits count: Int) throws(QueryPattern.Mistake) -> CharacterClass {
        let digits = pattern[position...].prefix(count)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: digits)
        guard digits.count == count, digits.allSatisfy({ $0.properties.isASCIIHexDigit }),
            let value = UInt32(String(text), radix: 16), let scalar = Unicode.Scalar(value)
        else { throw Mistake(reason: "a code of a character that is none") }
        position += count
        return Self.only(scalar)
    }

    private static func only(_ scalar: Unicode.Scalar) -> CharacterClass {
        CharacterClass(ranges: [scalar.value...scalar.value])
    }

    private static let tooLong = Mistake(reason: "more than \(QueryPattern.mostSteps) steps")

    private static func check(_ steps: [QueryPattern.Step]) throws(QueryPattern.Mistake) {
        if steps.count > QueryPattern.mostSteps { throw tooLong }
    }

    private static func either(_ first: [QueryPattern.Step], _ second: [QueryPattern.Step]) -> [QueryPattern.Step] {
        let afterFirst = first.count + 2
        return [.fork(1, afterFirst)] + moved(first, by: 1) + [.jump(afterFirst + second.count)]
            + moved(second, by: afterFirst)
    }

    private static func append(_ part: [QueryPattern.Step], to steps: inout [QueryPattern.Step]) {
        steps += moved(part, by: steps.count)
    }

    /// The steps as they are when they begin so much later.
    private static func moved(_ steps: [QueryPattern.Step], by count: Int) -> [QueryPattern.Step] {
        steps.map { step in
            switch step {
            case .fork(let first, let second): .fork(first + count, second + count)
            case .jump(let target): .jump(target + count)
            default: step
            }
        }
    }
}
