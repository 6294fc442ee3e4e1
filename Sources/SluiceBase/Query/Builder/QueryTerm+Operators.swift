extension QueryTerm {
    private static func binary(
        _ operation: QueryExpression.BinaryOperator, _ left: QueryTerm, _ right: QueryTerm
    ) -> QueryTerm {
        QueryTerm(.binary(operation, left.expression, right.expression))
    }

    /// `eq`.
    public static func == (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.eq, left, right) }
    /// `ne`.
    public static func != (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.ne, left, right) }
    /// `gt`.
    public static func > (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.gt, left, right) }
    /// `ge`.
    public static func >= (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.ge, left, right) }
    /// `lt`.
    public static func < (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.lt, left, right) }
    /// `le`.
    public static func <= (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.le, left, right) }
    /// `and`.
    public static func && (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.and, left, right) }
    /// `or`.
    public static func || (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.or, left, right) }
    /// `not`.
    public static prefix func ! (term: QueryTerm) -> QueryTerm { QueryTerm(.unary(.not, term.expression)) }
    /// `add`.
    public static func + (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.add, left, right) }
    /// `sub`.
    public static func - (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.sub, left, right) }
    /// `mul`.
    public static func * (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.mul, left, right) }
    /// `div`: between integers, without the remainder.
    public static func / (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.div, left, right) }
    /// `mod`.
    public static func % (left: QueryTerm, right: QueryTerm) -> QueryTerm { binary(.mod, left, right) }
    /// The number with its sign changed.
    public static prefix func - (term: QueryTerm) -> QueryTerm { QueryTerm(.unary(.negate, term.expression)) }
}
