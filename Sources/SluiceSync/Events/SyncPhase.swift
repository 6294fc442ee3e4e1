public import SluiceBase

/// What a sync context is doing.
public enum SyncPhase: Sendable, Hashable {
    /// Nothing, and nothing needs anyone.
    case idle
    /// Nothing: the server could not be reached the last time it was tried.
    case offline
    /// A pull runs.
    case pulling
    /// A push runs.
    case pushing
    /// A schedule waits after a failure, or because the server asked it to, until that time at the latest.
    case waiting(until: Timestamp)
    /// Nothing, and so many operations are held until someone decides.
    case needsAttention(Int)
}
