public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SyncTable where Record: QueryableRecord {
    /// Returns the records that match the predicate.
    ///
    /// ```swift
    /// let minors = try await context.table(Person.self).records(where: #Predicate { $0.age < 18 })
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a predicate that cannot be a query, or of the store.
    public func records(where predicate: Predicate<Record>) async throws -> [Record] {
        try await records(matching: TableQuery(name, where: predicate))
    }

    /// Returns the number of records that match the predicate.
    ///
    /// - Throws: as ``records(where:)``.
    public func count(where predicate: Predicate<Record>) async throws -> Int {
        try await count(matching: TableQuery(name, where: predicate))
    }

    /// Observes the records that match the predicate: the current ones, and each change.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a predicate that cannot be a query.
    public func observe(where predicate: Predicate<Record>) throws(SluiceError) -> LiveQuery<Record> {
        observe(try TableQuery(name, where: predicate))
    }

    /// Pulls the server's rows that match the predicate: see ``SyncContext/pull(_:named:allowsMassRemoval:progress:)``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a predicate that cannot be a query; as
    ///   ``pull(_:named:allowsMassRemoval:)``.
    @discardableResult
    public func pull(
        where predicate: Predicate<Record>, named queryName: String? = nil, allowsMassRemoval: Bool = false
    ) async throws -> PullResult {
        try await pull(TableQuery(name, where: predicate), named: queryName, allowsMassRemoval: allowsMassRemoval)
    }
}

extension TransactionTable where Record: QueryableRecord {
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
        try records(matching: TableQuery(name, where: predicate))
    }

    /// Returns the number of records that match the predicate, including the transaction's changes so far.
    ///
    /// - Throws: as ``records(where:)``.
    public func count(where predicate: Predicate<Record>) throws -> Int {
        try count(matching: TableQuery(name, where: predicate))
    }
}
