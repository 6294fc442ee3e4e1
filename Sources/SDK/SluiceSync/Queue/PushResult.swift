public import SluiceBase

/// How a push ended. No error is thrown for failures of network, server or conflicts: they are reported here, and what
/// was not sent waits in the queue.
public struct PushResult: Sendable {
    /// Why a push ended.
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
        /// Something else ended it: see ``PushResult/error``.
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

    /// Why it ended.
    public var end: End
    /// The error that ended it early.
    public var error: SluiceError?
    /// How many operations reached the server.
    public var applied: Int
    /// How many conflicts were met.
    public var conflicts: Int
    /// The operations that were tried and did not go through, as they now stand in the queue.
    public var failures: [TableOperation]
    /// How many operations are left in the queue, whatever their state.
    public var remaining: Int
    /// How many of those came while it ran and wait for the next push: one sends what is queued when it begins,
    /// and once what comes after that on the same records.
    public var waiting = 0
    /// How many operations a hook has put off: they are no failures.
    public var postponed = 0
    /// How many operations in the queue are another user's: this push did not look at them, nor at what waits for them.
    public var ofOthers = 0
    /// When the first of those is due that wait for a time.
    var nextDue: Timestamp?

    /// Whether everything that was queued has reached the server.
    public var isClean: Bool { end == .completed && failures.isEmpty && remaining == 0 }
}

/// Why a push ended.
enum PushEnd: Sendable {
    /// All that could be sent was sent.
    case completed
    /// It ended early, for that reason.
    case stopped(SluiceError)
}
