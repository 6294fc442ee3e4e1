internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// && || ! == != < <= > >=

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(translator.both(try translator.condition(lhs), try translator.condition(rhs)))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(translator.either(try translator.condition(lhs), try translator.condition(rhs)))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(translator.not(try translator.condition(wrapped)))
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(try translator.compare(.eq, try translator.operand(lhs), try translator.operand(rhs)))
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(try translator.compare(.ne, try translator.operand(lhs), try translator.operand(rhs)))
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        let operation: QueryExpression.BinaryOperator =
            switch op {
            case .lessThan: .lt
            case .lessThanOrEqual: .le
            case .greaterThan: .gt
            case .greaterThanOrEqual: .ge
            @unknown default: throw PredicateRefusal.error("the comparison \(op)")
            }
        return .expression(try translator.compare(operation, try translator.operand(lhs), try translator.operand(rhs)))
    }
}
