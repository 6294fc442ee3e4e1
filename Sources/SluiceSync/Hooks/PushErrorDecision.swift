public import SluiceBase

/// What is to become of an operation that did not go through.
///
/// What the queue does not allow, such as a change of kind while other changes of the record wait, is not done: the
/// operation is then kept as it would be without hooks, and its reason says so. Where the push ends for all operations,
/// as without a network, it ends whatever is decided about one.
public enum PushErrorDecision: Sendable, Hashable {
    /// The next hook is asked; after the last one the engine does what it does without hooks.
    case next
    /// It stays pending and is not sent before so long is over; zero tries it again in this push, up to five times. A
    /// failure that counts still counts: at ``SyncOptions/maximumAttempts`` in a row the operation is dead.
    case retry(after: Duration)
    /// It is given up, as by ``SyncQueue/discard(_:revision:goesOnElsewhere:)``: the record is as the server last had
    /// it, and the audit keeps what was given up.
    case cancelAndDiscard
    /// It is given up, and this whole record is what the application sees from now on, until the server's changes. The
    /// audit keeps what was given up. Refused where later changes of the record wait.
    case cancelAndUpdate(JSON)
    /// It becomes an operation of that kind, with that whole record or the one it has, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``, and is sent again. An update stays one where only the record is
    /// to be another.
    case changeKind(TableOperation.Kind, JSON?)
    /// It is held with that reason until someone decides.
    case quarantine(reason: String)
    /// It stays as it would without hooks, and the rest of this push is not done.
    case abort
}
