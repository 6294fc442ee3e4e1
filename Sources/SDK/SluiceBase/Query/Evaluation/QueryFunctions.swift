/// The functions of queries: the evaluator calls them directly, and SQL stores register them as SQL functions.
///
/// Text counts in Unicode scalars, and letters compare exactly. An argument that is null or of the wrong kind makes the
/// result null.
package enum QueryFunctions {
    /// Returns the allowed numbers of arguments.
    package static func argumentCounts(_ function: TableQuery.Function) -> ClosedRange<Int> {
        switch function {
        case .contains, .startswith, .endswith, .indexof, .concat, .distance, .matchesPattern, .hassubset,
            .hassubsequence, .intersects:
            2...2
        case .now, .mindatetime, .maxdatetime: 0...0
        case .substring: 2...3
        case .replace: 3...3
        case .length, .tolower, .toupper, .trim, .day, .month, .year, .hour, .minute, .second, .floor, .ceiling,
            .round, .fractionalseconds, .date, .time, .totaloffsetminutes, .totalseconds, .lineLength:
            1...1
        }
    }

    /// Returns the mistake in that number of arguments; nil if there is none.
    package static func countMistake(_ function: TableQuery.Function, _ count: Int, called name: String? = nil)
        -> String?
    {
        let counts = argumentCounts(function)
        if counts.contains(count) { return nil }
        let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) or \(counts.upperBound)"
        return "\(name ?? function.rawValue) takes \(wanted) arguments, not \(count)"
    }

    /// Returns the function's value.
    package static func value(of function: TableQuery.Function, _ arguments: [QueryValue]) -> QueryValue {
        guard argumentCounts(function).contains(arguments.count), let first = arguments.first else { return .null }
        switch function {
        case .hour, .minute, .second:
            let time = first.timestamp ?? first.timeOfDay
            return time.map { .integer(part(function, of: $0)) } ?? .null
        case .day, .month, .year:
            return first.timestamp.map { .integer(part(function, of: $0)) } ?? .null
        case .fractionalseconds:
            guard let time = first.timestamp ?? first.timeOfDay else { return .null }
            let second = Timestamp.ticksPerSecond
            return .real(Double(((time.ticks % second) + second) % second) / Double(second))
        case .date: return first.timestamp.map { .date($0.beginningOfDay) } ?? .null
        case .time:
            guard let time = first.timestamp ?? first.timeOfDay else { return .null }
            return .time(Timestamp(ticks: time.ticks - time.beginningOfDay.ticks))
        case .totalseconds:
            return first.duration.map { .real(Double($0) / Double(Timestamp.ticksPerSecond)) } ?? .null
        case .floor: return rounded(first, .down)
        case .ceiling: return rounded(first, .up)
        case .round: return rounded(first, .toNearestOrAwayFromZero)
        case .distance:
            guard let here = first.point, let there = arguments[1].point else { return .null }
            return .real(here.distance(to: there))
        case .substring:
            guard let text = first.string, let start = arguments[1].wholeNumber else { return .null }
            if arguments.count < 3 { return .string(substring(text, start, .max)) }
            return arguments[2].wholeNumber.map { .string(substring(text, start, $0)) } ?? .null
        default:
            let texts = arguments.compactMap(\.string)
            return texts.count == arguments.count ? value(of: function, texts) : .null
        }
    }

    private static func value(of function: TableQuery.Function, _ texts: [String]) -> QueryValue {
        switch function {
        case .contains: .bool(offset(of: texts[1], in: texts[0]) != nil)
        case .startswith: .bool(texts[0].utf8.starts(with: texts[1].utf8))
        case .endswith: .bool(texts[0].utf8.reversed().starts(with: texts[1].utf8.reversed()))
        case .indexof: .integer(index(of: texts[1], in: texts[0]))
        case .matchesPattern: TextPattern.matches(texts[1], texts[0]).map { .bool($0) } ?? .null
        case .concat: .string(texts[0] + texts[1])
        case .replace: replacing(texts[1], by: texts[2], in: texts[0]).map { .string($0) } ?? .null
        case .length: .integer(Int64(texts[0].unicodeScalars.count))
        case .tolower: .string(texts[0].lowercased())
        case .toupper: .string(texts[0].uppercased())
        case .trim: .string(texts[0].withoutOuterBlanks)
        default: .null
        }
    }

    private static func part(_ function: TableQuery.Function, of date: Timestamp) -> Int64 {
        let parts = date.parts
        return switch function {
        case .year: parts.year
        case .month: parts.month
        case .day: parts.day
        case .hour: parts.hour
        case .minute: parts.minute
        default: parts.second
        }
    }

    private static func rounded(_ value: QueryValue, _ rule: FloatingPointRoundingRule) -> QueryValue {
        switch value {
        case .integer: value
        case .real(let number): .real(number.rounded(rule))
        default: .null
        }
    }

    /// Returns up to `count` scalars after the first `start` ones. A negative start or count counts as 0.
    private static func substring(_ text: String, _ start: Int64, _ count: Int64) -> String {
        let rest = text.unicodeScalars.dropFirst(Int(max(0, start)))
        return String(rest.prefix(Int(max(0, count))))
    }

    /// Returns the first byte offset of `part`; nil if it is not there.
    private static func offset(of part: String, in whole: String) -> Int? {
        let part = Array(part.utf8)
        let whole = Array(whole.utf8)
        return offset(of: part, in: whole, from: 0)
    }

    private static func offset(of part: [UInt8], in whole: [UInt8], from start: Int) -> Int? {
        guard let first = part.first else { return start }
        guard part.count <= whole.count else { return nil }
        var index = start
        while index <= whole.count - part.count {
            if whole[index] == first && whole[index..<index + part.count].elementsEqual(part) { return index }
            index += 1
        }
        return nil
    }

    private static func index(of part: String, in whole: String) -> Int64 {
        guard let offset = offset(of: part, in: whole) else { return -1 }
        // The number of scalars is the number of bytes that begin one.
        return Int64(whole.utf8.prefix(offset).count { $0 & 0xC0 != 0x80 })
    }

    /// The longest result of `replace` for a shorter text, in bytes. Every level of nesting multiplies the length, so a
    /// short query could fill all memory.
    private static let longestReplaced = 65_536

    /// Replaces every `part`, from the left; an empty `part` changes nothing. Returns nil if the text exceeds its
    /// limit.
    private static func replacing(_ part: String, by replacement: String, in whole: String) -> String? {
        if part.isEmpty { return whole }
        let part = Array(part.utf8)
        let bytes = Array(whole.utf8)
        var output: [UInt8] = []
        var position = 0
        while let found = offset(of: part, in: bytes, from: position) {
            output.append(contentsOf: bytes[position..<found])
            output.append(contentsOf: replacement.utf8)
            position = found + part.count
            if output.count > max(longestReplaced, bytes.count) { return nil }
        }
        output.append(contentsOf: bytes[position...])
        if output.count > max(longestReplaced, bytes.count) { return nil }
        return String(decoding: output, as: UTF8.self)
    }
}

extension String {
    /// The text without the white space (by Unicode's definition) at both ends.
    package var withoutOuterBlanks: String {
        let scalars = unicodeScalars
        let isContent = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: isContent), let last = scalars.lastIndex(where: isContent) else {
            return ""
        }
        return String(scalars[first...last])
    }
}
