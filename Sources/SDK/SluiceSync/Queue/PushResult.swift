public import SluiceBase

/// The outcome of a push. Failures of network or server and conflicts are reported here, not thrown; unsent operations
/// wait in the queue.
public struct PushResult: Sendable {
    /// The reason for the end of a push.
    public struct End: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String { case completed, network, unauthorized, store, cancelled, aborted, failed }
        private let name: Name

        /// Every operation was tried. Some may have failed: see ``PushResult/failures``.
        public static let completed = End(name: .completed)
        /// The server could not be reached.
        public static let network = End(name: .network)
        /// The server did not accept the credentials, renewed ones included.
        public static let unauthorized = End(name: .unauthorized)
        /// The local store failed.
        public static let store = End(name: .store)
        /// The task was cancelled.
        public static let cancelled = End(name: .cancelled)
        /// A conflict handler ended the push.
        public static let aborted = End(name: .aborted)
        /// Another error ended it: see ``PushResult/error``.
        public static let failed = End(name: .failed)

        /// The end's name.
        public var description: String { name.rawValue }

        init(_ end: PushEnd) {
            switch end {
            case .completed: self = .completed
            case .stopped(let error) where error.code.isNetwork: self = .network
            case .stopped(let error) where error.code.isStore: self = .store
            case .stopped(let error):
                switch error.code {
                case .unauthorized: self = .unauthorized
                case .cancelled: self = .cancelled
                case .aborted: self = .aborted
                default: self = .failed
                }
            }
        }

        private init(name: Name) { self.name = name }
    }

    /// The reason for the end.
    public var end: End
    /// The error that ended the push early.
    public var error: SluiceError?
    /// The number of operations that reached the server.
    public var applied: Int
    /// The number of conflicts.
    public var conflicts: Int
    /// The operations that were tried and failed, in their current state in the queue.
    public var failures: [TableOperation]
    /// The number of operations left in the queue, in any state.
    public var remaining: Int
    /// The number of those that the next push can send at once: queued during this one, or moved after others by a
    /// decision. A push sends the operations queued at its start, and then once the later ones on the same records.
    /// 0 where the push ended early.
    public var waiting = 0
    /// The number of operations that a hook has postponed; they are no failures.
    public var postponed = 0
    /// The number of other users' operations in the queue. This push skipped them, and the operations that depend on
    /// them.
    public var ofOthers = 0
    /// The earliest time at which a postponed operation is due.
    var nextDue: Timestamp?

    /// Whether everything that was queued has reached the server.
    public var isClean: Bool { end == .completed && failures.isEmpty && remaining == 0 }
}

/// The reason for the end of a push.
enum PushEnd: Sendable {
    /// All sendable operations were sent.
    case completed
    /// The push ended early, with that error.
    case stopped(SluiceError)
}
