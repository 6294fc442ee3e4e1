/// The result of a reconcile.
public struct ReconcileResult: Sendable, Hashable {
    /// The number of the query's local rows that were compared.
    public var compared = 0
    /// The number of rows fetched because they were missing here or had another version.
    public var stored = 0
    /// The number of rows removed, because the server no longer has them or because they left the query and no other
    /// query holds them.
    public var removed = 0
    /// The number of different rows left unchanged because changes of them wait in the queue.
    public var pending = 0
    /// Whether the server's digest sufficed to find the differing ranges; else its rows were listed.
    public var usedDigest = false
}
