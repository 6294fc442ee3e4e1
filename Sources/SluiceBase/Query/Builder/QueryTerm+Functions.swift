extension QueryTerm {
    private func call(_ function: QueryFunction, _ arguments: QueryTerm...) -> QueryTerm {
        QueryTerm(.call(function, [expression] + arguments.map(\.expression)))
    }

    /// Whether the value is one of those; of none, if there are none. It is `in` for constants, and else a chain of
    /// `or`.
    public func isIn(_ values: [QueryTerm]) -> QueryTerm {
        let literals = values.compactMap { if case .literal(let literal) = $0.expression { literal } else { nil } }
        guard let first = values.first else { return false }
        if literals.count == values.count { return QueryTerm(.membership(expression, literals)) }
        return values.dropFirst().reduce(self == first) { $0 || self == $1 }
    }

    /// Whether the text has `part` in it.
    public func contains(_ part: QueryTerm) -> QueryTerm { call(.contains, part) }
    /// Whether the text begins with `part`.
    public func startsWith(_ part: QueryTerm) -> QueryTerm { call(.startswith, part) }
    /// Whether the text ends with `part`.
    public func endsWith(_ part: QueryTerm) -> QueryTerm { call(.endswith, part) }
    /// Where `part` begins in the text, in characters from 0; -1 if nowhere.
    public func index(of part: QueryTerm) -> QueryTerm { call(.indexof, part) }
    /// The text from that character on.
    public func substring(_ start: QueryTerm) -> QueryTerm { call(.substring, start) }
    /// The text from that character on, so many characters at the most.
    public func substring(_ start: QueryTerm, _ length: QueryTerm) -> QueryTerm { call(.substring, start, length) }
    /// The text with every `part` replaced.
    public func replacing(_ part: QueryTerm, with text: QueryTerm) -> QueryTerm { call(.replace, part, text) }
    /// The text with `other` after it.
    public func concatenated(_ other: QueryTerm) -> QueryTerm { call(.concat, other) }
    /// The text's number of characters.
    public var length: QueryTerm { call(.length) }
    /// The text in small letters.
    public var lowercased: QueryTerm { call(.tolower) }
    /// The text in capital letters.
    public var uppercased: QueryTerm { call(.toupper) }
    /// The text without white space at its ends.
    public var trimmed: QueryTerm { call(.trim) }

    /// The date's year, in UTC.
    public var year: QueryTerm { call(.year) }
    /// The date's month, from 1, in UTC.
    public var month: QueryTerm { call(.month) }
    /// The date's day of the month, from 1, in UTC.
    public var day: QueryTerm { call(.day) }
    /// The time's hour, in UTC.
    public var hour: QueryTerm { call(.hour) }
    /// The time's minute, in UTC.
    public var minute: QueryTerm { call(.minute) }
    /// The time's second, in UTC.
    public var second: QueryTerm { call(.second) }

    /// The number rounded down.
    public var floor: QueryTerm { call(.floor) }
    /// The number rounded up.
    public var ceiling: QueryTerm { call(.ceiling) }
    /// The number rounded to the nearest integer, halves away from zero.
    public var rounded: QueryTerm { call(.round) }

    /// The distance to another place, in metres; see ``GeographyPoint/distance(to:)``.
    public func distance(to place: QueryTerm) -> QueryTerm { call(.distance, place) }
}
