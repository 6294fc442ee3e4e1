/// What a request does to a table's records, as rules and hooks tell it apart.
public enum BackendOperation: String, Sendable, Hashable, CaseIterable {
    /// A list, or one record by its id.
    case read
    /// A new record.
    case insert
    /// A change of a record's properties, or their replacement.
    case update
    /// A delete, be it into a tombstone.
    case delete
    /// A tombstone made a record again.
    case undelete
}
