public import SluiceCore

/// A condition on a type's records, made of its key paths: `\Todo.done == false`.
///
/// It has the meaning of queries: strings compare by code point, and a comparison with null does not hold.
public struct RecordCondition<Record: QueryableRecord>: Sendable {
    /// The condition, or the reason why a query cannot express it.
    let expression: Result<QueryExpression, SluiceError>

    fileprivate init(_ operation: QueryExpression.BinaryOperator, _ path: PartialKeyPath<Record>, _ value: Any) {
        expression = Result { () throws(SluiceError) in
            .binary(
                operation, try Record.columns.name(of: path).operand, .literal(try PredicateConstant.literal(value)))
        }
    }

    private init(_ expression: Result<QueryExpression, SluiceError>) { self.expression = expression }

    private init(_ operation: QueryExpression.BinaryOperator, _ left: Self, _ right: Self) {
        expression = Result { () throws(SluiceError) in
            .binary(operation, try left.expression.get(), try right.expression.get())
        }
    }

    /// Both conditions.
    public static func && (left: Self, right: Self) -> Self { Self(.and, left, right) }
    /// At least one of the conditions.
    public static func || (left: Self, right: Self) -> Self { Self(.or, left, right) }
    /// The opposite.
    public static prefix func ! (condition: Self) -> Self { Self(condition.expression.map { .unary(.not, $0) }) }
}

extension KeyPath where Root: QueryableRecord {
    /// The property has the value.
    public static func == (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.eq, path, value)
    }

    /// The property has another value.
    public static func != (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.ne, path, value)
    }

    /// The property is less than the value.
    public static func < (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.lt, path, value)
    }

    /// The property is at most the value.
    public static func <= (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.le, path, value)
    }

    /// The property is greater than the value.
    public static func > (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.gt, path, value)
    }

    /// The property is at least the value.
    public static func >= (path: KeyPath<Root, Value>, value: Value) -> RecordCondition<Root> {
        RecordCondition(.ge, path, value)
    }
}
