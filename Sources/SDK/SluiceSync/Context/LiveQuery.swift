public import SluiceBase
internal import SluiceWire

/// The results of a query over a table of the local store: the current result, then each different one, with the
/// difference.
///
/// The query runs in the task that reads the sequence, and only when something was committed that can concern its
/// table. Several commits that come while nobody reads lead to one run.
///
/// ```swift
/// for try await update in todos.observe(TableQuery("todos", order: [.init("text")])) {
///     print(update.records.count, "todos")
/// }
/// ```
public struct LiveQuery<Record: Codable & Sendable>: AsyncSequence, Sendable {
    let table: SyncTable<Record>
    let query: TableQuery

    /// One result of the query.
    public struct Update: Sendable {
        /// The result, without the records that do not fit the type. JSON has its id, whatever the query selects.
        public var records: [Record]
        /// An error of code `invalidRecord` for each record of the result that does not fit the type.
        public var misfits: [SluiceError]
        /// The difference from the previous result. For the first result all records are inserted.
        public var diff: QueryDiff
    }

    /// Reads the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let table: SyncTable<Record>
        private let query: TableQuery
        private let watch: TableWatch
        /// The former result, and the part of it that fits the type.
        private var former: (all: [JSON], fitting: [JSON])?
        /// Whether a commit has not been read yet: before the first result, or after a read that failed.
        private var isDue = true

        fileprivate init(_ table: SyncTable<Record>, _ query: TableQuery) {
            (self.table, self.query) = (table, query)
            watch = TableWatch(table.context)
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
                let new = try await table.context.store.read { try $0.records(matching: query) }
                let diff = QueryDiff(from: former?.all ?? [], to: new)
                isDue = false
                if former == nil || !diff.isEmpty { return update(new, diff) }
            }
            return nil
        }

        /// Returns the result, which differs from the former one by `diff` where all records fit.
        private mutating func update(_ new: [JSON], _ diff: QueryDiff) -> Update {
            let sorted = table.coder.sorted(new)
            let old = former ?? ([], [])
            former = (new, sorted.fitting)
            let allFit = sorted.misfits.isEmpty && old.all.count == old.fitting.count
            return Update(
                records: sorted.records, misfits: sorted.misfits,
                diff: allFit ? diff : QueryDiff(from: old.fitting, to: sorted.fitting))
        }
    }

    /// Returns a reader of the results.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(table, query) }
}

/// JSON has no misfits, so that its results compare by their records and the difference.
extension LiveQuery.Update: Equatable, Hashable where Record == JSON {
    /// Whether both have the same records and the same difference.
    public static func == (left: Self, right: Self) -> Bool { left.records == right.records && left.diff == right.diff }

    /// Adds the records to a hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(records) }
}

extension SyncTable {
    /// Returns the records that match, now and whenever a write, push, pull or purge of this context changes them.
    ///
    /// - Parameter query: its table is replaced by this one, and its `select` counts for JSON alone; nil means all
    ///   records.
    public func observe(_ query: TableQuery? = nil) -> LiveQuery<Record> {
        var query = reading(query)
        if !query.select.isEmpty, !query.select.contains("id") { query.select.append("id") }
        return LiveQuery(table: self, query: query)
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
