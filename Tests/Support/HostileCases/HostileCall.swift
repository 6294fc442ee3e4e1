internal import SluiceCore

/// What a client does when it meets a hostile server. The table is `items`; the store holds its records `a` and `b`.
public enum HostileCall: String, Sendable, Hashable, CaseIterable {
    /// Pulls the table under a name, from where an earlier pull ended.
    case pull
    /// Pulls the table without a name.
    case pullAll = "full pull"
    /// Pushes a new record `new`.
    case insert
    /// Pushes a change of the record `a`.
    case update
    /// Pushes the deletion of the record `a`.
    case delete
    /// Pushes two new records, `new` and `second`, in one request.
    case batch
    /// Pulls the table under a name, from the change token of an earlier pull on.
    case track = "pull by tokens"
    /// Compares the rows that an earlier pull has brought with the server's.
    case reconcile
    /// Reads the table online, page by page.
    case pages
    /// Reads the record `a` online.
    case lookup

    /// Whether it sends an operation of the queue.
    var isPush: Bool { [.insert, .update, .delete, .batch].contains(self) }
    /// Whether it may bring rows into the store.
    var isPull: Bool { [.pull, .pullAll, .track, .reconcile].contains(self) }
    /// The records that a push is about.
    var recordIDs: [RecordID] {
        switch self {
        case .insert: ["new"]
        case .batch: ["new", "second"]
        case .update, .delete: ["a"]
        default: []
        }
    }
}
