public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Some of the records of a sync table, in an order.
///
/// ```swift
/// let next = try context.table(Todo.self).where(\.done == false).order(by: \.text).limit(20)
/// let page = try await next.records()
/// for try await update in try next.observe() { print(update.records.count) }
/// ```
///
/// A key path without a column, or a value that a query cannot hold, is reported by the call that reads.
public struct TableSelection<Record: Codable & Sendable & QueryableRecord>: Sendable {
    /// The table.
    public let table: SyncTable<Record>
    private var selected: Result<TableQuery, SluiceError>

    fileprivate init(_ table: SyncTable<Record>) {
        self.table = table
        selected = .success(TableQuery(table.name))
    }

    /// The query of these records.
    public var query: TableQuery { get throws(SluiceError) { try selected.get() } }

    private func changed(_ change: (TableQuery) throws(SluiceError) -> TableQuery) -> Self {
        var selection = self
        selection.selected = Result { () throws(SluiceError) in try change(try selected.get()) }
        return selection
    }

    /// Returns the selection of those that meet the condition too: `\.done == false && \.due < today`.
    public func `where`(_ condition: RecordCondition<Record>) -> Self {
        changed { query throws(SluiceError) in query.where(TableQuery.Term(try condition.expression.get())) }
    }

    /// Returns the selection of those that match the predicate too.
    public func `where`(_ predicate: Predicate<Record>) -> Self {
        changed { query throws(SluiceError) in try query.where(predicate) }
    }

    /// Returns the selection sorted by a property, after the present order.
    public func order(by path: PartialKeyPath<Record>, descending: Bool = false) -> Self {
        changed { query throws(SluiceError) in try query.sorted(by: path, descending: descending) }
    }

    /// Returns the selection of the first `count` records.
    public func limit(_ count: Int) -> Self { changed { query in query.taking(count) } }

    /// Returns the selection without the first `count` records.
    public func skip(_ count: Int) -> Self { changed { query in query.skipping(count) } }

    /// Returns the records, without those that do not fit the type: ``results()`` reports them.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
    public func records() async throws -> [Record] { try await table.records(matching: query) }

    /// Returns the first record; nil if there is none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`, `invalidRecord` if that record does not fit the type, or of the
    ///   store.
    public func first() async throws -> Record? { try await limit(1).results().first?.get() }

    /// Returns each record, or the reason why it does not fit the type.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or of the store.
    public func results() async throws -> [Result<Record, SluiceError>] { try await table.results(matching: query) }

    /// Returns the number of records of the selection, including those that do not fit the type.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or of the store.
    public func count() async throws -> Int {
        let query = try query
        let left = max(0, try await table.count(matching: query) - query.skip)
        return min(left, query.top ?? left)
    }

    /// Observes the records: the current ones, and each change.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery`.
    public func observe() throws(SluiceError) -> LiveQuery<Record> { table.observe(try query) }
}

extension SyncTable where Record: QueryableRecord {
    /// Returns the selection of the records that meet the condition: `\.done == false`.
    public func `where`(_ condition: RecordCondition<Record>) -> TableSelection<Record> {
        TableSelection(self).where(condition)
    }

    /// Returns the selection of the records that match the predicate.
    public func `where`(_ predicate: Predicate<Record>) -> TableSelection<Record> {
        TableSelection(self).where(predicate)
    }

    /// Returns the selection of all records, sorted by a property.
    public func order(by path: PartialKeyPath<Record>, descending: Bool = false) -> TableSelection<Record> {
        TableSelection(self).order(by: path, descending: descending)
    }
}
