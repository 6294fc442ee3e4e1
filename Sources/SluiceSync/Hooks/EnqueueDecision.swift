public import SluiceBase

/// What is to become of a local change before it is stored.
public enum EnqueueDecision: Sendable, Hashable {
    /// It is stored as it is.
    case accept
    /// This whole record is stored in the place of that of an insert or update. Its id cannot be another, and what only
    /// the server sets is not taken from it.
    case change(JSON)
    /// It is not stored: the application's call throws an error of code `refusedByHook`.
    case reject(EnqueueRefusal)
    /// The row is stored and no operation: the server never hears of it. Refused where changes of the record wait in
    /// the queue, and in a group.
    case localOnly
}
