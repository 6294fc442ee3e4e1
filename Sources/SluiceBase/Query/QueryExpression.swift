/// A predicate or a value of a query: one tree, whatever it was made from and whatever it is turned into.
///
/// The tree is read from OData text (``QueryExpression/init(odata:)``), evaluated in memory, and printed as SQL and as
/// OData; the same tree means the same rows everywhere.
public indirect enum QueryExpression: Sendable, Hashable {
    /// A constant.
    case literal(QueryLiteral)
    /// The value of the record's property of that name; null where the record has none.
    case column(PropertyName)
    /// An operator on one value.
    case unary(UnaryOperator, QueryExpression)
    /// An operator between two values.
    case binary(BinaryOperator, QueryExpression, QueryExpression)
    /// A function's value.
    case call(QueryFunction, [QueryExpression])
    /// Whether a value equals one of the constants, as `eq` has it.
    case membership(QueryExpression, [QueryLiteral])

    /// An operator on one value.
    public enum UnaryOperator: String, Sendable, Hashable {
        /// Logical not.
        case not
        /// The number with its sign changed.
        case negate
    }

    /// An operator between two values, spelled as in OData.
    public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
        /// Logic, comparison and arithmetic.
        case or, and, eq, ne, gt, ge, lt, le, add, sub, mul, div, mod
    }
}

/// A constant in a query.
public enum QueryLiteral: Sendable, Hashable {
    /// No value.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number.
    case number(JSONNumber)
    /// A text.
    case string(String)
    /// A point in time.
    case date(Timestamp)
    /// A day: the point in time at which it begins in UTC.
    case day(Timestamp)
    /// A time of day: the point in time at which it was that late on 1970-01-01 in UTC.
    case timeOfDay(Timestamp)
    /// A GUID, as its text.
    case guid(String)
    /// A place on the Earth.
    case point(GeographyPoint)
}

/// A function that queries may call, spelled as in OData.
public enum QueryFunction: String, Sendable, Hashable, CaseIterable {
    /// On strings. `contains(whole, part)` is v3's `substringof(part, whole)`.
    case contains, startswith, endswith, indexof, length, substring, replace, tolower, toupper, trim, concat
    /// On dates, in UTC.
    case day, month, year, hour, minute, second
    /// On numbers. `round` rounds halves away from zero.
    case floor, ceiling, round
    /// Between two places, in metres.
    case distance = "geo.distance"
}

extension QueryLiteral {
    /// An id to compare with: a text or an integer.
    package static func id(_ id: RecordID) -> QueryLiteral {
        switch id {
        case .string(let text): .string(text)
        case .integer(let number): .number(JSONNumber(number))
        }
    }
}
