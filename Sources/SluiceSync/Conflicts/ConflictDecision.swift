public import SluiceBase

/// What is to become of a conflict.
public enum ConflictDecision: Sendable, Hashable {
    /// The server's record stands; the local change is given up (and noted in the audit).
    case server
    /// The local record is sent again, on top of the server's version. It is never sent without a version.
    case client
    /// This record is stored locally and sent on top of the server's version. The id and what only the server sets
    /// are not taken from it.
    case merge(JSON)
    /// The record is deleted here and on the server.
    case delete
    /// The local change is given up, as with ``server``; the reason is that the change is unwanted, not that the server
    /// is right.
    case discard
    /// The operation waits for the next push.
    case `defer`
    /// The operation is held until someone decides: it stays visible in the queue, and nothing is lost.
    case ask
    /// The operation is held, and the rest of this push is not done.
    case abort
    /// The next handler is asked; after the last one the configured policy.
    case next

    /// Whether the operation then carries something that its maker did not write.
    var speaks: Bool {
        switch self {
        case .merge, .delete: true
        default: false
        }
    }
}
