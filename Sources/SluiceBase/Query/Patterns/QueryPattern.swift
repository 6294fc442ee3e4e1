internal import Synchronization

/// A regular expression of `matchesPattern`: the part of ECMAScript's that can be matched in one pass over the text.
/// (OData v4.01 part 2, 5.1.1.7.1.)
///
/// It runs as a set of places in the pattern, all moved on by each character, so that no text and no pattern takes
/// longer than their lengths multiplied. Back references and looking around are refused, because they need more.
struct QueryPattern: Sendable {
    /// Why a text is no pattern, or none that is run.
    struct Mistake: Error {
        var reason: String
        var isUnsupported = false
    }

    /// One step of the program.
    enum Step: Sendable {
        /// Goes on where the character is one of those.
        case character(CharacterClass)
        /// Goes on at both.
        case fork(Int, Int)
        case jump(Int)
        /// Goes on only there.
        case start, end, boundary(Bool)
        case match
    }

    /// The most steps of a program; a count such as `{1000}` repeats what it is about.
    static let mostSteps = 1000

    private let steps: [Step]

    init(_ pattern: String) throws(Mistake) {
        var compiler = QueryPatternCompiler(pattern)
        steps = try compiler.program()
    }

    /// Whether a part of the text is as the pattern says; nil where the pattern is none.
    static func matches(_ pattern: String, _ text: String) -> Bool? {
        let known = cache.withLock { $0[QueryText(pattern)] }
        if let known { return known?.matches(text) }
        let compiled = try? QueryPattern(pattern)
        cache.withLock { cache in
            if cache.count >= 64 { cache.removeAll() }
            cache.updateValue(compiled, forKey: QueryText(pattern))
        }
        return compiled?.matches(text)
    }

    private static let cache = Mutex<[QueryText: QueryPattern?]>([:])

    /// Whether a part of the text is as the pattern says.
    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var current = Places(count: steps.count)
        var next = Places(count: steps.count)
        for position in 0...scalars.count {
            // A match may begin anywhere.
            if add(0, to: &current, scalars, position) { return true }
            if position == scalars.count { return false }
            for place in current.list {
                guard case .character(let belongs) = steps[place], belongs.contains(scalars[position]) else { continue }
                if add(place + 1, to: &next, scalars, position + 1) { return true }
            }
            swap(&current, &next)
            next.removeAll()
        }
        return false
    }

    /// Adds a place and those that are reached from it without a character. True if one of them is the end.
    private func add(_ place: Int, to places: inout Places, _ text: [Unicode.Scalar], _ position: Int) -> Bool {
        var waiting = [place]
        while let place = waiting.popLast() {
            guard places.insert(place) else { continue }
            switch steps[place] {
            case .match: return true
            case .character: break
            case .jump(let target): waiting.append(target)
            case .fork(let first, let second): waiting += [second, first]
            case .start: if position == 0 { waiting.append(place + 1) }
            case .end: if position == text.count { waiting.append(place + 1) }
            case .boundary(let wanted):
                let before = position > 0 && CharacterClass.word.contains(text[position - 1])
                let after = position < text.count && CharacterClass.word.contains(text[position])
                if (before != after) == wanted { waiting.append(place + 1) }
            }
        }
        return false
    }

    /// A set of places in the order in which they came.
    private struct Places {
        private(set) var list: [Int] = []
        private var isThere: [Bool]

        init(count: Int) { isThere = Array(repeating: false, count: count) }

        mutating func insert(_ place: Int) -> Bool {
            if isThere[place] { return false }
            isThere[place] = true
            list.append(place)
            return true
        }

        mutating func removeAll() {
            for place in list { isThere[place] = false }
            list.removeAll(keepingCapacity: true)
        }
    }
}

/// Which characters may stand at a place of a pattern.
struct CharacterClass: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar.value) } != isNegated
    }

    /// The same characters as ranges without a negation.
    var plainRanges: [ClosedRange<UInt32>] {
        guard isNegated else { return ranges }
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return result
    }

    static let digit = CharacterClass(ranges: [0x30...0x39])
    static let word = CharacterClass(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = CharacterClass(ranges: [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// What `.` stands for: all except the ends of lines.
    static let any = CharacterClass(ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isNegated: true)

    var negated: CharacterClass { CharacterClass(ranges: ranges, isNegated: !isNegated) }
}
