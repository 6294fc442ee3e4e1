internal import SluiceCore

/// The meaning of a part of a predicate during translation.
indirect enum PredicateOperand {
    /// The record.
    case record
    /// A part of the record without a column, by its key path and those of parts of optionals; a part of it may have a
    /// column.
    case path([AnyKeyPath])
    /// A part of the record that is a column, with its key paths.
    case column(PropertyName, [AnyKeyPath])
    /// A constant, or a value captured from outside.
    case value(Any)
    /// The result of operators and functions. Null if a necessary operand is null.
    case expression(QueryExpression)
    /// A condition on an optional: it has no value at all if the second condition holds.
    case optional(QueryExpression, isNull: QueryExpression)
    /// `??`.
    case coalesced(PredicateOperand, default: PredicateOperand)
    /// A range, each bound if there is one.
    case range(lower: PredicateOperand?, upper: PredicateOperand?, includesUpper: Bool)
}

/// An expression of a `#Predicate` that queries can express.
protocol TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand
}
