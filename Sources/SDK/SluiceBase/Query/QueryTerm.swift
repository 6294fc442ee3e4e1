extension TableQuery {
    /// A part of a query written in Swift: a property, a constant, or an operation on them.
    ///
    /// ```swift
    /// let query = TableQuery("movies")
    ///     .where(column("year") >= 1990 && !column("title").startsWith("The "))
    ///     .sorted(by: "title")
    /// ```
    ///
    /// The operators have their OData meaning; see `TableQuery.where(_:)`. A Swift constant becomes a constant of the query,
    /// and `nil` becomes null.
    public struct Term: Sendable {
        /// The tree.
        public var expression: QueryExpression

        /// A tree as a part of another.
        public init(_ expression: QueryExpression) { self.expression = expression }

        /// A text from a variable.
        public init(_ text: String) { self.init(.literal(.string(text))) }

        /// A number from a variable.
        public init(_ number: Int) { self.init(.literal(.number(JSON.Number(Int64(number))))) }

        /// A number from a variable; null if it is not finite.
        public init(_ number: Double) {
            self.init(.literal(JSON.Number(number).map(TableQuery.Literal.number) ?? .null))
        }

        /// A truth value from a variable.
        public init(_ value: Bool) { self.init(.literal(.bool(value))) }

        /// A point in time.
        public init(_ date: Timestamp) { self.init(.literal(.date(date))) }

        /// A place on the Earth.
        public init(_ point: GeographyPoint) { self.init(.literal(.point(point))) }

        /// Returns the day, in UTC, of a point in time. It compares as the moment at which the day begins.
        public static func day(_ date: Timestamp) -> TableQuery.Term {
            TableQuery.Term(.literal(.day(date.beginningOfDay)))
        }

        /// Returns a time of day, as `18:33`, `18:33:45` or `18:33:45.876`; nil for another text.
        public static func timeOfDay(_ text: String) -> TableQuery.Term? {
            Timestamp(timeOfDay: text).map { TableQuery.Term(.literal(.timeOfDay($0))) }
        }

        /// Returns a GUID, as `0f8fad5b-d9cb-469f-a165-70867728950e`; nil for another text. It equals texts with that GUID
        /// in small letters or in capitals.
        public static func guid(_ text: String) -> TableQuery.Term? {
            text.isGUID ? TableQuery.Term(.literal(.guid(text))) : nil
        }
    }
}

/// Returns the property of that name, for use in a query.
public func column(_ name: PropertyName) -> TableQuery.Term { TableQuery.Term(.column(name)) }

extension TableQuery.Term: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self.init(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(.literal(.number(JSON.Number(value)))) }
    /// A number.
    public init(floatLiteral value: Double) { self.init(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Null.
    public init(nilLiteral: ()) { self.init(.literal(.null)) }
}

extension TableQuery.Term {
    private static func binary(
        _ operation: QueryExpression.BinaryOperator, _ left: TableQuery.Term, _ right: TableQuery.Term
    ) -> TableQuery.Term {
        TableQuery.Term(.binary(operation, left.expression, right.expression))
    }

    /// `eq`.
    public static func == (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.eq, left, right)
    }
    /// `ne`.
    public static func != (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.ne, left, right)
    }
    /// `gt`.
    public static func > (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term { binary(.gt, left, right) }
    /// `ge`.
    public static func >= (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.ge, left, right)
    }
    /// `lt`.
    public static func < (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term { binary(.lt, left, right) }
    /// `le`.
    public static func <= (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.le, left, right)
    }
    /// `and`.
    public static func && (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.and, left, right)
    }
    /// `or`.
    public static func || (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.or, left, right)
    }
    /// `not`.
    public static prefix func ! (term: TableQuery.Term) -> TableQuery.Term {
        TableQuery.Term(.unary(.not, term.expression))
    }
    /// `add`.
    public static func + (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.add, left, right)
    }
    /// `sub`.
    public static func - (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.sub, left, right)
    }
    /// `mul`.
    public static func * (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.mul, left, right)
    }
    /// `div`: between integers, without the remainder.
    public static func / (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.div, left, right)
    }
    /// `mod`.
    public static func % (left: TableQuery.Term, right: TableQuery.Term) -> TableQuery.Term {
        binary(.mod, left, right)
    }
    /// The number with its sign changed.
    public static prefix func - (term: TableQuery.Term) -> TableQuery.Term {
        TableQuery.Term(.unary(.negate, term.expression))
    }
}

extension TableQuery.Term {
    private func call(_ function: TableQuery.Function, _ arguments: TableQuery.Term...) -> TableQuery.Term {
        TableQuery.Term(.call(function, [expression] + arguments.map(\.expression)))
    }

    /// Whether the value is one of those; false for an empty list. It is `in` for constants, and otherwise a chain of
    /// `or`.
    public func isIn(_ values: [TableQuery.Term]) -> TableQuery.Term {
        let literals = values.compactMap { if case .literal(let literal) = $0.expression { literal } else { nil } }
        guard let first = values.first else { return false }
        if literals.count == values.count { return TableQuery.Term(.membership(expression, literals)) }
        return values.dropFirst().reduce(self == first) { $0 || self == $1 }
    }

    /// Whether the text contains `part`.
    public func contains(_ part: TableQuery.Term) -> TableQuery.Term { call(.contains, part) }
    /// Whether the text begins with `part`.
    public func startsWith(_ part: TableQuery.Term) -> TableQuery.Term { call(.startswith, part) }
    /// Whether the text ends with `part`.
    public func endsWith(_ part: TableQuery.Term) -> TableQuery.Term { call(.endswith, part) }
    /// Returns the position of `part` in the text, in characters from 0; -1 if it is not there.
    public func index(of part: TableQuery.Term) -> TableQuery.Term { call(.indexof, part) }
    /// Returns the text from that character on.
    public func substring(_ start: TableQuery.Term) -> TableQuery.Term { call(.substring, start) }
    /// Returns the text from that character on, limited to that many characters.
    public func substring(_ start: TableQuery.Term, _ length: TableQuery.Term) -> TableQuery.Term {
        call(.substring, start, length)
    }
    /// Returns the text with every `part` replaced.
    public func replacing(_ part: TableQuery.Term, with text: TableQuery.Term) -> TableQuery.Term {
        call(.replace, part, text)
    }
    /// Returns the text with `other` appended.
    public func concatenated(_ other: TableQuery.Term) -> TableQuery.Term { call(.concat, other) }
    /// The text's number of characters.
    public var length: TableQuery.Term { call(.length) }
    /// The text in small letters.
    public var lowercased: TableQuery.Term { call(.tolower) }
    /// The text in capital letters.
    public var uppercased: TableQuery.Term { call(.toupper) }
    /// The text without white space at its ends.
    public var trimmed: TableQuery.Term { call(.trim) }

    /// The date's year, in UTC.
    public var year: TableQuery.Term { call(.year) }
    /// The date's month, from 1, in UTC.
    public var month: TableQuery.Term { call(.month) }
    /// The date's day of the month, from 1, in UTC.
    public var day: TableQuery.Term { call(.day) }
    /// The time's hour, in UTC.
    public var hour: TableQuery.Term { call(.hour) }
    /// The time's minute, in UTC.
    public var minute: TableQuery.Term { call(.minute) }
    /// The time's second, in UTC.
    public var second: TableQuery.Term { call(.second) }

    /// The number rounded down.
    public var floor: TableQuery.Term { call(.floor) }
    /// The number rounded up.
    public var ceiling: TableQuery.Term { call(.ceiling) }
    /// The number rounded to the nearest integer, halves away from zero.
    public var rounded: TableQuery.Term { call(.round) }

    /// Returns the distance to another place, in metres; see ``GeographyPoint/distance(to:)``.
    public func distance(to place: TableQuery.Term) -> TableQuery.Term { call(.distance, place) }
}
