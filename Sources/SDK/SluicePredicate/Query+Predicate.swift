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
