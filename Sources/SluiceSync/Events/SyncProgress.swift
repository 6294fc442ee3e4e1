/// How far a push or a pull has come.
public struct SyncProgress: Sendable, Hashable {
    /// What is being done.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// A push.
        case pushing
        /// A pull.
        case pulling
    }

    /// What is being done.
    public var step: Step
    /// The table of a pull; nil for a push, which is of all tables.
    public var table: String?
    /// How many rows a pull has dealt with, or how many operations of a push the server has answered.
    public var rows = 0
    /// How many bytes of bodies a pull has received, decoded, or a push has sent, repeats included.
    public var bytes = 0
    /// How many rows there will be in all, where that is known: for a push the operations that waited when it began.
    public var total: Int?
}
