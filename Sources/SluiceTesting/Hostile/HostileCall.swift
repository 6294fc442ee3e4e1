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
    /// Reads the table online, page by page.
    case pages
    /// Reads the record `a` online.
    case lookup

    /// Whether it sends an operation of the queue.
    var isPush: Bool { [.insert, .update, .delete].contains(self) }
    /// The record that a push is about.
    var recordID: String { self == .insert ? "new" : "a" }
}
