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
        case .record: return translator.column([path]).map { .column($0, [path]) } ?? .path([path])
        case .path(let outer), .column(_, let outer):
            if let column = translator.column(outer + [path]) { return .column(column, outer + [path]) }
        default: break
        }
        if let part = try Self.part(path, of: operand, translator) { return .expression(part) }
        if case .path(let outer) = operand { return .path(outer + [path]) }
        throw PredicateRefusal.error(of: path)
    }

    /// Translates properties of a value for which queries have a function.
    private static func part(
        _ path: AnyKeyPath, of operand: PredicateOperand, _ translator: PredicateTranslator
    ) throws(SluiceError) -> QueryExpression? {
        if case .path = operand { return nil }
        if path == \String.count { return .call(.length, [try translator.value(operand)]) }
        if path == \String.isEmpty {
            return .binary(.eq, .call(.length, [try translator.value(operand)]), .literal(.number(JSON.Number(0))))
        }
        return nil
    }
}

// contains, starts(with:), ranges.

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        let element = try translator.operand(element)
        switch try translator.operand(sequence) {
        case .range(let lower, let upper, let includesUpper):
            return .expression(try translator.isWithin(lower, upper, includesUpper, element))
        case .value(let value):
            guard !(value is any StringProtocol), let values = value as? any Sequence else { break }
            var literals: [TableQuery.Literal] = []
            for value in values.map({ $0 as Any }) { literals.append(try PredicateConstant.literal(value)) }
            return .expression(
                literals.isEmpty ? .literal(.bool(false)) : .membership(try translator.value(element), literals))
        case let text where LHS.Output.self == String.self:
            return .expression(.call(.contains, [try translator.value(text), try translator.value(element)]))
        // A list of the record's: `tags/any(e:e eq 'new')`.
        case .column(let name, _):
            let item = TableQuery.Path(.variable("e"), [])
            let found = TableQuery.Lambda("e", .binary(.eq, .path(item), try translator.value(element)))
            let steps = name.operandSteps + [.any(found)]
            return .expression(.path(TableQuery.Path(.record, steps)))
        default: break
        }
        throw PredicateRefusal.error("contains(_:) of a \(LHS.Output.self) that is no list of constants")
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        guard Base.Output.self == String.self, Other.Output.self == String.self else {
            throw PredicateRefusal.error("contains(_:) of a collection that is no text")
        }
        return .expression(.call(.contains, [try translator.value(base), try translator.value(other)]))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        guard Base.Output.self == String.self, Prefix.Output.self == String.self else {
            throw PredicateRefusal.error("starts(with:) of a sequence that is no text")
        }
        return .expression(.call(.startswith, [try translator.value(base), try translator.value(prefix)]))
    }
}

extension PredicateExpressions.Range: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .range(lower: try translator.operand(lower), upper: try translator.operand(upper), includesUpper: false)
    }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        .range(lower: try translator.operand(lower), upper: try translator.operand(upper), includesUpper: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand {
        guard case .range(let lower, let upper, let includesUpper) = try translator.operand(range) else {
            throw PredicateRefusal.error("a range of type \(RangeExpression.Output.self)")
        }
        let element = try translator.operand(element)
        return .expression(try translator.isWithin(lower, upper, includesUpper, element))
    }
}

extension PredicateTranslator {
    /// Returns the condition that the element is within the existing bounds.
    func isWithin(
        _ lower: PredicateOperand?, _ upper: PredicateOperand?, _ includesUpper: Bool, _ element: PredicateOperand
    ) throws(SluiceError) -> QueryExpression {
        var conditions: [QueryExpression] = []
        if let lower { conditions.append(try compare(.ge, element, lower)) }
        if let upper { conditions.append(try compare(includesUpper ? .le : .lt, element, upper)) }
        guard let first = conditions.first else { return .literal(.bool(true)) }
        return conditions.dropFirst().reduce(first, both)
    }
}

/// A range that was created outside of the predicate.
protocol RangeOperand {
    var operand: PredicateOperand { get }
}

extension Range: RangeOperand {
    var operand: PredicateOperand {
        .range(lower: .value(lowerBound), upper: .value(upperBound), includesUpper: false)
    }
}

extension ClosedRange: RangeOperand {
    var operand: PredicateOperand { .range(lower: .value(lowerBound), upper: .value(upperBound), includesUpper: true) }
}

extension PartialRangeFrom: RangeOperand {
    var operand: PredicateOperand { .range(lower: .value(lowerBound), upper: nil, includesUpper: false) }
}

extension PartialRangeThrough: RangeOperand {
    var operand: PredicateOperand { .range(lower: nil, upper: .value(upperBound), includesUpper: true) }
}

extension PartialRangeUpTo: RangeOperand {
    var operand: PredicateOperand { .range(lower: nil, upper: .value(upperBound), includesUpper: false) }
}
