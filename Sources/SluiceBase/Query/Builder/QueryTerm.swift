/// A part of a query being written in Swift: a property, a constant, or what operators make of them.
///
/// ```swift
/// let query = Query("movies")
///     .where(column("year") >= 1990 && !column("title").startsWith("The "))
///     .sorted(by: "title")
/// ```
///
/// The operators mean what they do in OData; see ``Query/where(_:)``. A constant of any kind stands for itself, and
/// `nil` for null.
public struct QueryTerm: Sendable {
    /// The tree.
    public var expression: QueryExpression

    /// A tree as a part of another.
    public init(_ expression: QueryExpression) { self.expression = expression }

    /// A text from a variable.
    public init(_ text: String) { self.init(.literal(.string(text))) }

    /// A number from a variable.
    public init(_ number: Int) { self.init(.literal(.number(JSONNumber(Int64(number))))) }

    /// A number from a variable; null if it is not finite.
    public init(_ number: Double) { self.init(.literal(JSONNumber(number).map(QueryLiteral.number) ?? .null)) }

    /// A truth value from a variable.
    public init(_ value: Bool) { self.init(.literal(.bool(value))) }

    /// A point in time.
    public init(_ date: Timestamp) { self.init(.literal(.date(date))) }

    /// A place on the Earth.
    public init(_ point: GeographyPoint) { self.init(.literal(.point(point))) }

    /// The day, in UTC, of a point in time. It compares as the moment at which the day begins.
    public static func day(_ date: Timestamp) -> QueryTerm { QueryTerm(.literal(.day(date.beginningOfDay))) }

    /// A time of day, as `18:33`, `18:33:45` or `18:33:45.876`; nil for another text.
    public static func timeOfDay(_ text: String) -> QueryTerm? {
        Timestamp(timeOfDay: text).map { QueryTerm(.literal(.timeOfDay($0))) }
    }

    /// A GUID, as `0f8fad5b-d9cb-469f-a165-70867728950e`; nil for another text. It equals texts that are that GUID
    /// in small letters or in capitals.
    public static func guid(_ text: String) -> QueryTerm? {
        text.isGUID ? QueryTerm(.literal(.guid(text))) : nil
    }
}

/// The property of that name, to write a query with.
public func column(_ name: PropertyName) -> QueryTerm { QueryTerm(.column(name)) }

extension QueryTerm: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self.init(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(.literal(.number(JSONNumber(value)))) }
    /// A number.
    public init(floatLiteral value: Double) { self.init(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Null.
    public init(nilLiteral: ()) { self.init(.literal(.null)) }
}
