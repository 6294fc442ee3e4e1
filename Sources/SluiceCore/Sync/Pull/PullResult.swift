/// What a pull did.
public struct PullResult: Sendable, Hashable {
    /// How many rows were stored.
    public var stored = 0
    /// How many rows were removed because the server marks them as deleted.
    public var deleted = 0
    /// How many rows were left alone because changes of theirs wait in the queue.
    public var pending = 0
    /// How many pages were stored.
    public var pages = 0
    /// The push that came first, where there was one.
    public var push: PushResult?

    /// The result without its push compares by its counts.
    public static func == (left: PullResult, right: PullResult) -> Bool {
        (left.stored, left.deleted, left.pending, left.pages) == (
            right.stored, right.deleted, right.pending, right.pages
        )
    }

    /// Hashes the counts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(stored)
        hasher.combine(deleted)
        hasher.combine(pending)
        hasher.combine(pages)
    }
}

/// How far a pull has come.
struct PullProgress: Sendable, Hashable {
    /// The table.
    var table: String
    /// How many rows have been dealt with so far.
    var rows: Int
}
