public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TypedTransactionTable where Record: QueryableRecord {
    /// Returns the records that match the predicate, including the transaction's changes so far.
    ///
    /// ```swift
    /// try await context.write { transaction in
    ///     let people = try transaction.table(Person.self)
    ///     for minor in try people.records(where: #Predicate { $0.age < 18 }) { try people.delete(id: minor.id ?? "") }
    /// }
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a predicate that cannot be a query, or of the store.
    public func records(where predicate: Predicate<Record>) throws -> [Record] {
        try records(matching: Query(name, where: predicate))
    }

    /// Returns the number of records that match the predicate, including the transaction's changes so far.
    ///
    /// - Throws: as ``records(where:)``.
    public func count(where predicate: Predicate<Record>) throws -> Int {
        try count(matching: Query(name, where: predicate))
    }
}
