/// A place at which something becomes durable: between two of them a process may end, and nothing is lost.
///
/// ``SyncEnvironment/reached`` is told before and after each, so that a test can end the process there.
public enum CommitPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change: row and operation.
    case localChange
    /// An operation is sealed: its final body and its request id, before the first byte goes out.
    case sealed
    /// An answer is here, and nothing of it is stored yet.
    case answered
    /// What the answer means is stored: row, base and queue together.
    case applied
    /// A page's rows and the cursor after them.
    case page
    /// A query lets rows go.
    case membership
    /// The tables a store holds are changed.
    case schema
    /// A store's key is changed.
    case key

    /// On which side of a commit point something happens.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// Nothing of it is durable yet.
        case before
        /// All of it is.
        case after
    }
}
