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
