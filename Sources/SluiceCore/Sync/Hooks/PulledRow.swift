/// A row of the server's that is about to be stored.
public struct PulledRow: Sendable, Hashable {
    /// The row's id.
    public var id: String
    /// The version the server gave it.
    public var version: String?
    /// When the server says it was last changed, as the server wrote it.
    public var updatedAt: String?
    /// Whether the server says that the row is deleted, or that it has left the query. Such a row is looked at only: it is
    /// kept whatever is decided.
    public var isTombstone: Bool
    /// The whole row.
    public var record: JSON

    package init(
        id: String, version: String? = nil, updatedAt: String? = nil, isTombstone: Bool = false, record: JSON
    ) {
        self.id = id
        self.version = version
        self.updatedAt = updatedAt
        self.isTombstone = isTombstone
        self.record = record
    }
}
