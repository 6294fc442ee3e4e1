internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Variables, constants and key paths.

extension PredicateExpressions.Variable: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        if key == translator.record { return .record }
        guard let operand = translator.bindings[key] else { throw PredicateRefusal.error("a second variable") }
        return operand
    }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        (value as? any RangeOperand)?.operand ?? .value(value)
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .value(Wrapped?.none as Any)
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        let path: AnyKeyPath = keyPath
        let operand = try translator.operand(root)
        switch operand {
        case .value(let value):
            guard let value = value as? Root.Output else { throw PredicateRefusal.error(of: path) }
            return .value(value[keyPath: keyPath])
        case .record: return translator.column(path).map { .column($0, path) } ?? .path(path)
        case .path(let outer), .column(_, let outer):
            if let whole = outer.appending(path: path), let column = translator.column(whole) {
                return .column(column, whole)
            }
        default: break
        }
        if let part = try Self.part(path, of: operand, translator) { return .expression(part) }
        if case .path(let outer) = operand, let whole = outer.appending(path: path) { return .path(whole) }
        throw PredicateRefusal.error(of: path)
    }

    /// What queries have a function for.
    private static func part(
        _ path: AnyKeyPath, of operand: PredicateOperand, _ translator: PredicateTranslator
    ) throws(SluiceError) -> QueryExpression? {
        if case .path = operand { return nil }
        if path == \String.count { return .call(.length, [try translator.value(operand)]) }
        if path == \String.isEmpty {
            return .binary(.eq, .call(.length, [try translator.value(operand)]), .literal(.number(JSONNumber(0))))
        }
        return nil
    }
}
