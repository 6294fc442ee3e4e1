public import SluiceBase

extension SyncScheduler {
    /// The results of one run of a scheduler.
    public struct Run: Sendable {
        /// The time at which the run began.
        public var startedAt: Timestamp
        /// The push; nil if it could not begin.
        public var push: PushResult?
        /// The pulls that went through, in the schedule's order.
        public var pulls: [PullResult] = []
        /// The errors of the push and of pulls, in the order of the run; each names its table. A failed table stops no
        /// other. An operation that failed is none of them: see ``failures``.
        public internal(set) var errors: [SluiceError] = []
        /// The first error; nil if push and pulls went through.
        public var error: SluiceError? { errors.first }
        /// The push, and those before the pulls.
        package var pushes: [PushResult] { ([push] + pulls.map(\.push)).compactMap { $0 } }
        /// The operations that the run tried and that failed, without the one that an error of a push reports.
        public var failures: [TableOperation] { pushes.flatMap(\.otherFailures) }
        /// The first reason for which the run is no success: an error, or an operation that failed.
        public var failure: SluiceError? { error ?? pushes.lazy.compactMap(\.failure).first }
        /// The time that it took.
        public internal(set) var duration: Duration = .zero
        /// The time of the next run, if nothing happens before.
        public var next: Timestamp

        /// A run that has just begun.
        init(startedAt: Timestamp) {
            self.startedAt = startedAt
            next = startedAt
        }
    }
}

extension PushResult {
    /// The first reason for which the push is no success: an error, or an operation that failed.
    package var failure: SluiceError? { error ?? failures.first.map { SluiceError(failureOf: $0) } }
    /// The operations that failed, without the one whose failure ended the push.
    package var otherFailures: [TableOperation] {
        failures.filter { error == nil || $0.recordID != error?.recordID }
    }
}

extension SluiceError {
    /// The reason for which an operation failed.
    fileprivate init(failureOf operation: TableOperation) {
        let failure = operation.failure
        self.init(
            failure?.reason ?? .serverFailure, failure?.message ?? "it did not go through", table: operation.table,
            recordID: operation.recordID, operationID: operation.id, status: failure?.status)
    }
}
