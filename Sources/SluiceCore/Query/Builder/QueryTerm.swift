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
}

/// The property of that name, to write a query with.
public func column(_ name: String) -> QueryTerm { QueryTerm(.column(name)) }

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
