extension PullResult {
    /// The reason why a pull did more than fetch new rows.
    public enum Reason: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The server's clock was set since the last pull, back or forth: rows may have been written with times already
        /// pulled. The pull goes back, and ends with a reconcile.
        case clockWasSet
        /// Another or an unknown user has pulled the table into this store before. The pull starts over, and ends with a
        /// reconcile that removes the rows not visible to this user.
        case otherUser
        /// The server returns rows of one time in another order each time: this and every later pull reads all rows
        /// (``PullResult.Grade/full``).
        case noFixedOrder
        /// The server does not find rows by the times it wrote, for example because it reads them in another time zone:
        /// this and every later pull reads all rows (``PullResult.Grade/full``).
        case timesMisread
        /// The server refuses `$skip`, and too many rows have one time to read them without it: this and every later pull
        /// reads all rows (``PullResult.Grade/full``).
        case skipRefused

        /// Whether the reason leads to the grade ``PullResult.Grade/full``.
        package var explainsFull: Bool { [.noFixedOrder, .timesMisread, .skipRefused].contains(self) }

        /// The reason as text, for a person.
        public var description: String {
            switch self {
            case .clockWasSet:
                "the server's clock was set since the last pull, so all that is here was compared with the server's rows"
            case .otherUser:
                "another user has pulled this table into the store, so all of it was read and compared with the "
                    + "server's rows"
            case .noFixedOrder:
                "the server gives out rows of one time in another order each time, so all rows are read by each pull"
            case .timesMisread:
                "the server does not find rows by the times that it writes, so all rows are read by each pull"
            case .skipRefused:
                "the server refuses $skip, by which rows of one time are read, so all rows are read by each pull"
            }
        }
    }
}

/// The result of a pull.
public struct PullResult: Sendable, Hashable {
    /// The number of rows stored.
    public var stored = 0
    /// The number of stored rows that were already here unchanged. A named pull requests its newest rows again, and a
    /// pull of all rows reads unchanged ones too. They are not counted after changed rows of the same page, nor in a
    /// first pull.
    public var unchanged = 0
    /// The number of rows removed, because the server marks them as deleted or because they left the query and no other
    /// query holds them.
    public var deleted = 0
    /// The number of rows not written because changes of them wait in the queue.
    public var pending = 0
    /// The number of pending rows changed on the server since the local change: the next push will meet a conflict.
    public var conflicts = 0
    /// The number of rows that could not be stored; see ``SyncContext/quarantine(table:)``.
    public var quarantined = 0
    /// The number of rows dropped by hooks. Dropped rows that were here and are held by no other query also count as
    /// removed.
    public var dropped = 0
    /// The number of pages stored.
    public var pages = 0
    /// The method by which a named pull followed the server's changes. ``PullResult.Grade/full`` means that it could not
    /// follow them, and read all rows.
    public var grade: PullResult.Grade?
    /// The reasons why the pull did more than fetch new rows; usually empty.
    public var reasons: [PullResult.Reason] = []
    /// The push before the pull, if there was one.
    public var push: PushResult?
    /// The reconcile after the pull, if there was one.
    public var reconcile: ReconcileResult?

    /// Compares the counts, without the push and the reconcile.
    public static func == (left: PullResult, right: PullResult) -> Bool { left.numbers == right.numbers }

    /// Hashes the counts.
    public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }

    /// Makes an empty result.
    package init() {}

    /// The number of new or changed rows, including those of the reconcile.
    package var brought: Int { stored - unchanged + (reconcile?.stored ?? 0) }
    /// The number of removed rows, including those of the reconcile.
    package var removed: Int { deleted + (reconcile?.removed ?? 0) }

    private var numbers: [Int] { [stored, deleted, pending, conflicts, quarantined, dropped, pages] }

    mutating func add(_ outcome: PageCommit.Outcome) {
        stored += outcome.stored
        unchanged += outcome.unchanged
        deleted += outcome.deleted
        pending += outcome.pending
        conflicts += outcome.conflicts
        quarantined += outcome.quarantined
        dropped += outcome.dropped
    }
}
