internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// + - * / % and the sign.

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        let operation: QueryExpression.BinaryOperator =
            switch op {
            case .add: .add
            case .subtract: .sub
            case .multiply: .mul
            @unknown default: throw PredicateRefusal.error("the operator \(op)")
            }
        return .expression(.binary(operation, try translator.value(lhs), try translator.value(rhs)))
    }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(.binary(.div, try translator.value(lhs), try translator.value(rhs)))
    }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(.binary(.mod, try translator.value(lhs), try translator.value(rhs)))
    }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        var dividend = try translator.value(lhs)
        let divisor = try translator.value(rhs)
        // A record may hold 7.0 as 7, and between integers queries divide without a fraction.
        if !Self.isReal(dividend) && !Self.isReal(divisor), let one = JSON.Number(1.0) {
            dividend = .binary(.mul, dividend, .literal(.number(one)))
        }
        return .expression(.binary(.div, dividend, divisor))
    }

    private static func isReal(_ value: QueryExpression) -> Bool {
        guard case .literal(.number(let number)) = value else { return false }
        if case .int = number.storage { return false }
        return true
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .expression(.unary(.negate, try translator.value(wrapped)))
    }
}
