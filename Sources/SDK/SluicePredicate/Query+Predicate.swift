public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TableQuery {
    /// Selects the records of `table` that match the predicate.
    ///
    /// ```swift
    /// let adults = try TableQuery("people", where: #Predicate<Person> { $0.age >= 18 }).sorted(by: \Person.name)
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`; see `QueryExpression(_:)`.
    public init<Record: QueryableRecord>(
        _ table: String, where predicate: Predicate<Record>
    ) throws(SluiceError) {
        self.init(table, filter: try QueryExpression(predicate))
    }

    /// Selects the records of the type's own table that match the predicate:
    /// `TableQuery(Person.self, where: #Predicate { … })`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`; see `QueryExpression(_:)`.
    public init<Record: QueryableRecord & SyncRecord>(
        _ type: Record.Type, where predicate: Predicate<Record>? = nil
    ) throws(SluiceError) {
        if let predicate {
            try self.init(type.tableName, where: predicate)
        } else {
            self.init(type.tableName)
        }
    }

    /// Returns the query with a further condition: records must match it and the earlier ones.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`; see `QueryExpression(_:)`.
    public func `where`<Record: QueryableRecord>(_ predicate: Predicate<Record>) throws(SluiceError) -> TableQuery {
        `where`(TableQuery.Term(try QueryExpression(predicate)))
    }
}
