/// What a reconcile found.
public struct ReconcileResult: Sendable, Hashable {
    /// How many rows the query holds here were compared.
    public var compared = 0
    /// How many rows were missing here or had another version, and were brought.
    public var stored = 0
    /// How many rows were removed: the server has them no longer, or they left the query and no other query holds them.
    public var removed = 0
    /// How many rows differ and were left alone, because changes of theirs wait in the queue.
    public var pending = 0
    /// Whether the server's digest was enough to find the places that differ; else its rows were listed.
    public var usedDigest = false
}
