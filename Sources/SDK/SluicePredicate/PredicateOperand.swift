internal import SluiceCore

/// What a part of a predicate amounts to while it is translated.
indirect enum PredicateOperand {
    /// The record.
    case record
    /// A part of the record that no column is stated for; a part of it may have one.
    case path(AnyKeyPath)
    /// A part of the record that is a column.
    case column(PropertyName, AnyKeyPath)
    /// A constant, or a value captured from outside.
    case value(Any)
    /// What operators and functions make of others. Null where one that it needs is null.
    case expression(QueryExpression)
    /// A condition on something optional: it has no value at all where the second condition holds.
    case optional(QueryExpression, isNull: QueryExpression)
    /// `??`.
    case coalesced(PredicateOperand, default: PredicateOperand)
    /// A range, each bound if there is one.
    case range(lower: PredicateOperand?, upper: PredicateOperand?, includesUpper: Bool)
}

/// An expression of a `#Predicate` that queries have words for.
protocol TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand
}
