/// Which of its stores a mixed store uses.
public enum WorkingMode: String, Sendable, Hashable, CaseIterable {
    /// The service alone.
    case online
    /// The device alone.
    case offline
    /// The device where it provably has the whole answer, else the service.
    case mixed
}
