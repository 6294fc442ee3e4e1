/// What a pull did.
public struct PullResult: Sendable, Hashable {
    /// How many rows were stored.
    public var stored = 0
    /// How many of those were here already as they came: a named pull asks again for the newest rows that it has, and
    /// one that has to read all rows reads those too that have not changed. Not counted where the page has changed rows
    /// before them, and in a first pull.
    public var unchanged = 0
    /// How many rows were removed: those that the server marks as deleted, and those that left the query and that no
    /// other query holds.
    public var deleted = 0
    /// How many rows were left alone because changes of theirs wait in the queue.
    public var pending = 0
    /// How many of those have changed on the server since the change was made here: a conflict that the next push
    /// will meet.
    public var conflicts = 0
    /// How many rows could not be stored; ``SyncContext/quarantine(table:)`` has them.
    public var quarantined = 0
    /// How many rows a hook has dropped; those that were here and that no other query holds are counted as removed too.
    public var dropped = 0
    /// How many pages were stored.
    public var pages = 0
    /// By what a named pull followed the server's changes; ``PullGrade/full`` means that it could not, and read all
    /// rows.
    public var grade: PullGrade?
    /// Why the pull did more than bring what is new; empty for most.
    public var reasons: [PullReason] = []
    /// The push that came first, where there was one.
    public var push: PushResult?
    /// The reconcile that came last, where there was one.
    public var reconcile: ReconcileResult?

    /// The result without its push and reconcile compares by its counts.
    public static func == (left: PullResult, right: PullResult) -> Bool { left.counts == right.counts }

    /// Hashes the counts.
    public func hash(into hasher: inout Hasher) { hasher.combine(counts) }

    /// A result of nothing.
    package init() {}

    /// The number of rows that came and were not here as they came, those of the reconcile at its end among them.
    package var brought: Int { stored - unchanged + (reconcile?.stored ?? 0) }
    /// The number of rows that went, likewise.
    package var removed: Int { deleted + (reconcile?.removed ?? 0) }

    private var counts: [Int] { [stored, deleted, pending, conflicts, quarantined, dropped, pages] }

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
