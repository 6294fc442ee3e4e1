public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension QueryExpression {
    /// The filter that a `#Predicate` is.
    ///
    /// ```swift
    /// let filter = try QueryExpression(#Predicate<Person> { $0.age >= 18 && $0.name.starts(with: "A") })
    /// ```
    ///
    /// It means what queries mean, not what Swift does with the record: strings compare by code point, and a force
    /// unwrap of what is null matches nothing.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, with the key path for which the type states no column, or with
    ///   the construct that queries have no word for.
    public init<Record: QueryableRecord>(_ predicate: Predicate<Record>) throws(SluiceError) {
        let columns = Record.columns
        let translator = PredicateTranslator(
            record: predicate.variable.key, recordType: Record.self, column: { columns[$0] })
        self = try translator.condition(predicate.expression)
    }
}
