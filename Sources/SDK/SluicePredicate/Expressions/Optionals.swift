internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Optionals: ?. flatMap ?? !

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        let outer = try translator.operand(wrapped)
        var inner = translator
        inner.bindings[variable.key] = outer
        let result = try inner.operand(transform)
        // Values are null if an operand is null. Conditions are never null, so they remember it.
        guard RHS.Output.self == Bool.self || RHS.Output.self == Bool?.self else { return result }
        if case .column = result { return result }
        return .optional(try inner.condition(transform), isNull: try translator.isNull(outer))
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .coalesced(try translator.operand(lhs), default: try translator.operand(rhs))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        try translator.operand(inner)
    }
}
