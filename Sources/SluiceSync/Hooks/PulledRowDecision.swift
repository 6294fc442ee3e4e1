public import SluiceBase

/// What is to become of a row of the server's.
public enum PulledRowDecision: Sendable, Hashable {
    /// It is stored as it is.
    case keep
    /// This whole record is stored in its place. The id and what only the server sets have to be the row's own, or left
    /// out.
    case change(JSON)
    /// It is stored with these members, the members of an object, in the place of its own or added to them. Those that
    /// only the server sets have to be the row's own. It costs less than ``change(_:)`` where a page has many rows.
    case set(JSON)
    /// It is not stored. What is here of it goes as if it had left the query, unless changes of it wait.
    case drop(reason: String)
}
