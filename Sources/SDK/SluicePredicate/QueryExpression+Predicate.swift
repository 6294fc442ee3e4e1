public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension QueryExpression {
    /// Translates a `#Predicate` to a filter.
    ///
    /// ```swift
    /// let filter = try QueryExpression(#Predicate<Person> { $0.age >= 18 && $0.name.starts(with: "A") })
    /// ```
    ///
    /// It has the meaning of queries, not Swift's: strings compare by code point, and a force unwrap of null matches
    /// nothing.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, with the key path without a declared column, or with the
    ///   construct that queries cannot express.
    public init<Record: QueryableRecord>(_ predicate: Predicate<Record>) throws(SluiceError) {
        let columns = Record.columns
        let translator = PredicateTranslator(
            record: predicate.variable.key, column: { columns.column(of: $0) }, refusal: { columns.refusal(of: $0) })
        self = try translator.condition(predicate.expression)
    }
}
