internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Translates the parts of a `#Predicate` to parts of a query.
struct PredicateTranslator {
    /// The variable of the predicate that stands for the record.
    let record: PredicateExpressions.VariableID
    /// Returns the column for a key path of the record, followed by those of parts of optionals.
    let column: ([AnyKeyPath]) -> PropertyName?
    /// Returns the error for a key path without a column.
    let refusal: ([AnyKeyPath]) -> SluiceError
    /// The operands for the variables of inner closures.
    var bindings: [PredicateExpressions.VariableID: PredicateOperand] = [:]

    func operand(_ expression: some PredicateExpression) throws(SluiceError) -> PredicateOperand {
        if let known = expression as? any TranslatableExpression { return try known.operand(self) }
        throw PredicateRefusal.error(of: type(of: expression))
    }

    /// Returns the part as a value of a query.
    func value(_ expression: some PredicateExpression) throws(SluiceError) -> QueryExpression {
        try value(try operand(expression))
    }

    func value(_ operand: PredicateOperand) throws(SluiceError) -> QueryExpression {
        switch operand {
        case .column(let name, _): return name.operand
        case .value(let value): return .literal(try PredicateConstant.literal(value))
        case .expression(let expression), .optional(let expression, _): return expression
        case .record: throw PredicateRefusal.error("the record as a whole")
        case .path(let path): throw refusal(path)
        case .coalesced: throw PredicateRefusal.error("a ?? that is not beside a comparison or a condition itself")
        case .range: throw PredicateRefusal.error("a range outside of contains(_:)")
        }
    }

    // MARK: Conditions

    /// Returns the part as a condition.
    func condition(_ expression: some PredicateExpression) throws(SluiceError) -> QueryExpression {
        switch try operand(expression) {
        case .coalesced(let operand, let fallback):
            // Comparisons are never null, so that a surrounding `not` is correct.
            if case .value(let value) = fallback, let value = value as? Bool {
                let isNull = try isNull(operand)
                let held = try self.value(operand)
                if case .optional = operand { return value ? either(isNull, held) : both(not(isNull), held) }
                return .binary(value ? .ne : .eq, held, .literal(.bool(!value)))
            }
            return try compare(.eq, .coalesced(operand, default: fallback), .value(true))
        case let operand: return try value(operand)
        }
    }

    /// Returns the condition that the value is null.
    func isNull(_ operand: PredicateOperand) throws(SluiceError) -> QueryExpression {
        switch operand {
        case .optional(_, let isNull): isNull
        case .coalesced(let operand, let fallback): both(try isNull(operand), try isNull(fallback))
        default: .binary(.eq, try value(operand), .literal(.null))
        }
    }

    /// Returns a comparison, with `??` on either side resolved into its two cases.
    func compare(
        _ operation: QueryExpression.BinaryOperator, _ left: PredicateOperand, _ right: PredicateOperand
    ) throws(SluiceError) -> QueryExpression {
        switch (left, right) {
        case (.coalesced(let operand, let fallback), _):
            let isNull = try isNull(operand)
            return either(
                both(isNull, try compare(operation, fallback, right)),
                both(not(isNull), try compare(operation, operand, right)))
        case (_, .coalesced(let operand, let fallback)):
            let isNull = try isNull(operand)
            return either(
                both(isNull, try compare(operation, left, fallback)),
                both(not(isNull), try compare(operation, left, operand)))
        case (.optional, _), (_, .optional):
            if operation == .ne { return not(try compare(.eq, left, right)) }
            let isNull = (try isNull(left), try isNull(right))
            return either(
                both(isNull.0, isNull.1),
                both(both(not(isNull.0), not(isNull.1)), .binary(operation, try value(left), try value(right))))
        default: return .binary(operation, try value(left), try value(right))
        }
    }

    func not(_ condition: QueryExpression) -> QueryExpression { .unary(.not, condition) }

    func both(_ left: QueryExpression, _ right: QueryExpression) -> QueryExpression { .binary(.and, left, right) }

    func either(_ left: QueryExpression, _ right: QueryExpression) -> QueryExpression { .binary(.or, left, right) }
}
