internal import SluiceBase

/// The results of a query over a typed table, as ``LiveQuery`` gives them.
///
/// ```swift
/// for try await update in try context.table(Todo.self).observe() {
///     print(update.records.count, "todos")
/// }
/// ```
public struct TypedLiveQuery<Record: Codable & Sendable>: AsyncSequence, Sendable {
    /// One result of the query.
    public struct Update: Sendable {
        /// The result.
        public var records: [Record]
        /// What leads there from the result before it; for the first one all records are inserted.
        public var diff: QueryDiff
    }

    let base: LiveQuery
    let table: TypedSyncTable<Record>

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: LiveQuery.AsyncIterator
        fileprivate let table: TypedSyncTable<Record>

        /// Waits for the next result; nil once the task is cancelled.
        ///
        /// - Throws: ``SluiceError`` of code `invalidRecord` where a record does not fit the type, and then goes on with
        ///   the next result; of code `invalidQuery`, or of the store.
        public mutating func next() async throws -> Update? {
            guard let update = try await base.next() else { return nil }
            return Update(records: try update.records.map(table.value), diff: update.diff)
        }
    }

    /// A reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator(), table: table) }
}
