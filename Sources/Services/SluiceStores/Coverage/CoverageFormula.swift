internal import SluiceBase

/// A condition on one record that is true or false, made of conditions on single properties.
///
/// A filter has three values. A formula states that its value is one of some of them. So "the record is not in the
/// request" (false or null) is a formula like "it is" (true).
indirect enum CoverageFormula: Sendable {
    case truth(Bool)
    case and([CoverageFormula])
    case or([CoverageFormula])
    /// The property's value is in the set.
    case column(PropertyName, ValueSet)
    /// A part of a filter about which only one fact is known: it has one value for one record.
    case unknown(Condition, Truths)

    /// A part of a filter, as its text: two are the same only if their bytes are, as texts in queries are compared.
    struct Condition: BytewiseText {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Some of the three values.
    struct Truths: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let isTrue = Truths(rawValue: 1)
        static let isFalse = Truths(rawValue: 2)
        static let isNull = Truths(rawValue: 4)
        static let all: Truths = [.isTrue, .isFalse, .isNull]

        /// The values whose negation is among these.
        var negated: Truths {
            var negated: Truths = contains(.isNull) ? .isNull : []
            if contains(.isTrue) { negated.insert(.isFalse) }
            if contains(.isFalse) { negated.insert(.isTrue) }
            return negated
        }
    }
}

/// Converts filters to formulas.
struct CoverageFormulas {
    let schema: TableSchema?
    /// Properties that the record is assumed to lack, so that they are null.
    var absent: Set<PropertyName> = []

    /// Returns the formula that the filter's value is one of the given ones.
    func formula(_ expression: QueryExpression, is wanted: CoverageFormula.Truths) -> CoverageFormula {
        if wanted == .all { return .truth(true) }
        if wanted.isEmpty { return .truth(false) }
        switch expression {
        case .literal(.bool(let value)): return .truth(wanted.contains(value ? .isTrue : .isFalse))
        case .literal(.null): return .truth(wanted.contains(.isNull))
        case .unary(.not, let operand): return formula(operand, is: wanted.negated)
        case .binary(.and, let left, let right): return junction(left, right, wanted, decidedBy: .isFalse)
        case .binary(.or, let left, let right): return junction(left, right, wanted, decidedBy: .isTrue)
        case .binary(let operation, let left, let right) where operation.isComparison:
            return comparison(operation, left, right, expression, wanted)
        case .binary(.isIn, let operand, .list(let elements)):
            let terms = elements.map { QueryExpression.binary(.eq, operand, $0) }
            return twoValued(wanted) {
                .or(terms.map { formula($0, is: .isTrue) })
            } no: {
                .and(terms.map { formula($0, is: .isFalse) })
            }
        case .membership(let operand, let literals): return membership(operand, literals, expression, wanted)
        case .call(.startswith, let arguments): return prefix(arguments, expression, wanted)
        default:
            guard let name = expression.property else { return unknown(expression, wanted) }
            let all = ValueSet.all(of: type(name))
            var yes = ValueSet.empty
            if wanted.contains(.isTrue), all.bools.contains(true) { yes.bools.insert(true) }
            if wanted.contains(.isFalse), all.bools.contains(false) { yes.bools.insert(false) }
            let others = { (set: ValueSet) in
                var set = set
                set.bools = []
                return set
            }
            if !wanted.contains(.isNull) { return column(name, yes) }
            var set = others(all)
            set.bools = yes.bools
            return column(name, set)
        }
    }

    /// `and`, which one false side decides, or `or`, which one true side decides.
    private func junction(
        _ left: QueryExpression, _ right: QueryExpression, _ wanted: CoverageFormula.Truths,
        decidedBy deciding: CoverageFormula.Truths
    ) -> CoverageFormula {
        let other = deciding.negated
        func both(_ truths: CoverageFormula.Truths) -> CoverageFormula {
            .and([formula(left, is: truths), formula(right, is: truths)])
        }
        func either(_ truths: CoverageFormula.Truths) -> CoverageFormula {
            .or([formula(left, is: truths), formula(right, is: truths)])
        }
        switch wanted {
        case deciding: return either(deciding)
        case other: return both(other)
        case .isNull: return .and([both([other, .isNull]), either([deciding, .isNull])])
        case [deciding, .isNull]: return either([deciding, .isNull])
        case [other, .isNull]: return both([other, .isNull])
        default: return .or([either(deciding), both(other)])
        }
    }

    /// A condition that is never null.
    private func twoValued(
        _ wanted: CoverageFormula.Truths, yes: () -> CoverageFormula, no: () -> CoverageFormula
    ) -> CoverageFormula {
        switch (wanted.contains(.isTrue), wanted.contains(.isFalse)) {
        case (true, true): .truth(true)
        case (true, false): yes()
        case (false, true): no()
        case (false, false): .truth(false)
        }
    }

    private func comparison(
        _ operation: QueryExpression.BinaryOperator, _ left: QueryExpression, _ right: QueryExpression,
        _ whole: QueryExpression, _ wanted: CoverageFormula.Truths
    ) -> CoverageFormula {
        if case .literal(let first) = left, case .literal(let second) = right {
            let holds = QueryOperators.compare(operation, QueryValue(first), QueryValue(second))
            return .truth(wanted.contains(holds ? .isTrue : .isFalse))
        }
        if case .literal(let constant) = left, let turned = operation.turned {
            return comparison(turned, right, .literal(constant), whole, wanted)
        }
        guard case .literal(let constant) = right else {
            return unknown(whole, wanted.intersection([.isTrue, .isFalse]))
        }
        if let name = left.property, let set = ValueSet(operation, QueryValue(constant), of: type(name)) {
            return twoValued(wanted) {
                column(name, set)
            } no: {
                column(name, set.complement(of: type(name)))
            }
        }
        // A condition compared with true or false.
        if case .bool(let value) = constant, operation == .eq || operation == .ne, left.isCondition {
            let truths: CoverageFormula.Truths = value ? .isTrue : .isFalse
            let others = CoverageFormula.Truths.all.subtracting(truths)
            return twoValued(wanted) {
                formula(left, is: operation == .eq ? truths : others)
            } no: {
                formula(left, is: operation == .eq ? others : truths)
            }
        }
        return unknown(whole, wanted.intersection([.isTrue, .isFalse]))
    }

    private func membership(
        _ operand: QueryExpression, _ literals: [TableQuery.Literal], _ whole: QueryExpression,
        _ wanted: CoverageFormula.Truths
    ) -> CoverageFormula {
        guard let name = operand.property else { return unknown(whole, wanted.intersection([.isTrue, .isFalse])) }
        var sets: [ValueSet] = []
        for literal in literals {
            guard let set = ValueSet(.eq, QueryValue(literal), of: type(name)) else {
                return unknown(whole, wanted.intersection([.isTrue, .isFalse]))
            }
            if let last = sets.last, let joined = last.union(set, of: type(name)) {
                sets[sets.count - 1] = joined
            } else {
                sets.append(set)
            }
        }
        return twoValued(wanted) {
            .or(sets.map { column(name, $0) })
        } no: {
            .and(sets.map { column(name, $0.complement(of: type(name))) })
        }
    }

    private func prefix(
        _ arguments: [QueryExpression], _ whole: QueryExpression, _ wanted: CoverageFormula.Truths
    ) -> CoverageFormula {
        guard arguments.count == 2, let name = arguments[0].property, case .literal(.string(let text)) = arguments[1]
        else { return unknown(whole, wanted) }
        let type = type(name)
        let all = ValueSet.all(of: type)
        // The function is null for values that are no text; a date column has no texts.
        if all.texts.isEmpty { return .truth(wanted.contains(.isNull)) }
        var parts: [CoverageFormula] = []
        if wanted.contains(.isTrue) { parts.append(column(name, ValueSet(prefix: text, of: type))) }
        if wanted.contains(.isFalse) { parts.append(column(name, ValueSet(withoutPrefix: text, of: type))) }
        if wanted.contains(.isNull) {
            var others = all
            (others.texts, others.moments, others.hasOtherTexts) = (.empty, .empty, false)
            parts.append(column(name, others))
        }
        return .or(parts)
    }

    private func type(_ name: PropertyName) -> TableSchema.ColumnType? {
        name == "id" ? .string : schema?.column(name)?.type
    }

    private func column(_ name: PropertyName, _ set: ValueSet) -> CoverageFormula {
        guard absent.contains(name) else { return .column(name, set) }
        return .truth(set.hasNull)
    }

    private func unknown(_ expression: QueryExpression, _ wanted: CoverageFormula.Truths) -> CoverageFormula {
        if wanted.isEmpty { return .truth(false) }
        // A condition on an absent property may differ from the same one elsewhere, and may have any value.
        guard absent.isDisjoint(with: expression.columns) else { return .truth(true) }
        return .unknown(CoverageFormula.Condition(expression.odata(.v4)), wanted)
    }
}

extension QueryExpression {
    /// The single property that the expression consists of.
    fileprivate var property: PropertyName? {
        switch self {
        case .column(let name): return name
        case .path(let path) where path.steps.count == 1 && (path.root == .it || path.root == .record):
            if case .property(let name) = path.steps[0] { return name }
            return nil
        default: return nil
        }
    }

    /// Whether the value is true, false or null for any record.
    fileprivate var isCondition: Bool {
        switch self {
        case .unary(.not, _), .membership: true
        case .binary(let operation, _, _): operation.isComparison || operation == .and || operation == .or
        case .call(let function, _): [.contains, .startswith, .endswith, .matchesPattern].contains(function)
        default: false
        }
    }
}

extension QueryExpression.BinaryOperator {
    fileprivate var isComparison: Bool {
        switch self {
        case .eq, .ne, .gt, .ge, .lt, .le: true
        default: false
        }
    }

    /// The operator with its sides exchanged.
    fileprivate var turned: QueryExpression.BinaryOperator? {
        switch self {
        case .eq, .ne: self
        case .gt: .lt
        case .ge: .le
        case .lt: .gt
        case .le: .ge
        default: nil
        }
    }
}

extension ValueSet {
    /// Returns both sets together; nil if one is about the moments of texts.
    fileprivate func union(_ other: ValueSet, of type: TableSchema.ColumnType?) -> ValueSet? {
        let isPlain = { (set: ValueSet) in set.texts.isEmpty || (set.hasOtherTexts && set.moments.complement.isEmpty) }
        guard type == .date || (isPlain(self) && isPlain(other)) else { return nil }
        return ValueSet(
            hasNull: hasNull || other.hasNull, bools: bools.union(other.bools), numbers: numbers.union(other.numbers),
            texts: texts.union(other.texts), moments: moments.union(other.moments),
            hasOtherTexts: hasOtherTexts || other.hasOtherTexts, hasOther: hasOther || other.hasOther)
    }
}
