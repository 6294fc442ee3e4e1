public import SluiceBase

extension PushResult {
    /// A failed operation without a conflict: the server refused it or failed, or no answer came.
    public struct Failure: Sendable, Hashable {
        /// The operation, as last sent.
        public var operation: TableOperation
        /// The record after the operation; nil for a delete.
        public var record: JSON?
        /// The reason.
        public var code: SluiceError.Code
        /// The reason, for a person; the server's own message where it sent one.
        public var message: String
        /// The status of the server's answer; nil where there was none.
        public var status: Int?
        /// The delay that the server asked for (`Retry-After`).
        public var retryAfter: Duration?
        /// The answer's body as the filters left it, up to its first 64 KiB; empty where there was none.
        public var body: [UInt8]
        /// Whether the server may have applied the operation despite the failure.
        public var mayBeApplied: Bool
        /// The operation's state if no hook decides: it stays `pending`, or is `parked`. After too many failures it is dead
        /// in either case: see ``SyncOptions/maximumAttempts``.
        public var state: TableOperation.State

        /// Whether the server could not be reached.
        public var isNetwork: Bool { code.isNetwork }
        /// Whether the credentials are the reason.
        public var isUnauthorized: Bool { code == .unauthorized || code == .forbidden }

        package init(
            operation: TableOperation, record: JSON?, code: SluiceError.Code, message: String, status: Int? = nil,
            retryAfter: Duration? = nil, body: [UInt8] = [], mayBeApplied: Bool = false,
            state: TableOperation.State = .pending
        ) {
            self.operation = operation
            self.record = record
            self.code = code
            self.message = message
            self.status = status
            self.retryAfter = retryAfter
            self.body = body
            self.mayBeApplied = mayBeApplied
            self.state = state
        }
    }
}
