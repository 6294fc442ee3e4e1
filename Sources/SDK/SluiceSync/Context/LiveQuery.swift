public import SluiceBase

/// The results of a query over a table of the local store: the current result, then each different one, with the
/// difference.
///
/// The query runs in the task that reads the sequence, and only when something was committed that can concern its
/// table. Several commits that come while nobody reads lead to one run.
///
/// ```swift
/// for try await update in todos.observe(Query("todos", order: [.init("text")])) {
///     print(update.records.count, "todos")
/// }
/// ```
public struct LiveQuery: AsyncSequence, Sendable {
    let context: SyncContext
    let query: Query

    /// One result of the query.
    public struct Update: Sendable, Hashable {
        /// The result. Its records have their id, whatever the query selects.
        public var records: [JSON]
        /// The difference from the previous result. For the first result all records are inserted.
        public var diff: QueryDiff
    }

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let context: SyncContext
        fileprivate let query: Query
        private let watch: TableWatch
        private var records: [JSON]?
        /// Whether a commit has not been read yet: before the first result, or after a read that failed.
        private var isDue = true

        fileprivate init(_ context: SyncContext, _ query: Query) {
            self.context = context
            self.query = query
            watch = TableWatch(context)
        }

        /// Waits for the next result; nil once the task is cancelled.
        ///
        /// - Throws: ``SluiceError`` of code `invalidQuery`, or of the store.
        public mutating func next() async throws -> Update? {
            while !Task.isCancelled {
                if !isDue {
                    guard await watch.next(concerning: [query.table]) else { return nil }
                    isDue = true
                }
                let query = query
                let new = try await context.store.read { try $0.records(matching: query) }
                let update = Update(records: new, diff: QueryDiff(from: records ?? [], to: new))
                let isFirst = records == nil
                (records, isDue) = (new, false)
                if isFirst || !update.diff.isEmpty { return update }
            }
            return nil
        }
    }

    /// Returns a reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(context, query) }
}

extension SyncTable {
    /// Returns the records that match, now and whenever a write, push, pull or purge of this context changes them.
    ///
    /// - Parameter query: its table is replaced by this one; nil means all records.
    public func observe(_ query: Query? = nil) -> LiveQuery {
        var query = local(query)
        if !query.select.isEmpty, !query.select.contains("id") { query.select.append("id") }
        return LiveQuery(context: context, query: query)
    }
}

/// Reports commits that can concern given tables to a reader of a context's store.
package struct TableWatch: Sendable {
    private let changes: Mailbox<ChangeBacklog>
    private let subscription: Subscription

    /// Records everything that is committed from now on.
    package init(_ context: SyncContext) {
        (changes, subscription) = context.hub.tables.subscribe(into: ChangeBacklog())
    }

    /// Waits for a commit that can concern one of the tables. Several that came while nobody waited count as one.
    ///
    /// - Returns: false once the task is cancelled.
    package func next(concerning tables: Set<String>) async -> Bool {
        while let batch = await changes.next() {
            var isDue = tables.contains(where: batch.concerns)
            while let further = changes.poll() { isDue = isDue || tables.contains(where: further.concerns) }
            if isDue { return true }
        }
        return false
    }
}
