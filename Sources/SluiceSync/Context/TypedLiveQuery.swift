public import SluiceBase

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
        /// The result, without the records that do not fit the type.
        public var records: [Record]
        /// An error of code `invalidRecord` for each record of the result that does not fit the type.
        public var misfits: [SluiceError]
        /// What leads there from the result before it; for the first one all records are inserted.
        public var diff: QueryDiff
    }

    let base: LiveQuery
    let typed: TypedRecords<Record>

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: LiveQuery.AsyncIterator
        fileprivate let typed: TypedRecords<Record>
        private var former: [JSON] = []

        fileprivate init(base: LiveQuery.AsyncIterator, typed: TypedRecords<Record>) {
            self.base = base
            self.typed = typed
        }

        /// Waits for the next result; nil once the task is cancelled.
        ///
        /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
        public mutating func next() async throws -> Update? {
            guard let update = try await base.next() else { return nil }
            let sorted = typed.sorted(update.records)
            defer { former = sorted.fitting }
            return Update(
                records: sorted.records, misfits: sorted.misfits, diff: QueryDiff(from: former, to: sorted.fitting))
        }
    }

    /// A reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator(), typed: typed) }
}
