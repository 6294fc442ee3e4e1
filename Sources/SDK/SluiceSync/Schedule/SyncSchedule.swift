public import SluiceBase

/// The queries and times of a scheduler.
///
/// ```swift
/// var schedule = SyncSchedule(pulls: [.init(TableQuery("todos"), named: "all")])
/// schedule.interval = .seconds(60)
/// ```
public struct SyncSchedule: Sendable {
    /// A query to pull at each full run.
    public struct Pull: Sendable, Hashable {
        /// The rows to pull.
        public var query: TableQuery
        /// The name of an incremental pull; nil brings all rows each time.
        public var name: String?

        /// A pull, with the arguments of ``SyncContext/pull(_:named:allowsMassRemoval:progress:)``.
        public init(_ query: TableQuery, named name: String? = nil) {
            self.query = query
            self.name = name
        }
    }

    /// The queries to pull, in that order, after a push of the whole queue.
    public var pulls: [Pull]
    /// The time between a successful run and the next full push and pull, varied at random by up to a tenth. Default 5
    /// minutes.
    public var interval: Duration
    /// The time between a local write and its push; writes in between are sent with it. Default 1 s.
    public var changeDelay: Duration
    /// The longest pause after a first failure; it doubles with each further one. The pause itself is a random time
    /// between zero and that length. Default 1 s.
    public var firstPause: Duration
    /// The longest pause after any failure. Default 5 minutes.
    public var maximumPause: Duration
    /// The time over which clients are spread that the same event wakes: the end of a server's `Retry-After`, the
    /// return of a network, a start. A fleet of n clients then makes at most about n divided by this many runs a
    /// second. Default 5 s.
    public var spread: Duration
    /// The bounds of the pause that a server may ask for by `Retry-After`. Default 1 s to 1 hour.
    public var retryAfter: ClosedRange<Duration>

    /// A schedule.
    public init(
        pulls: [Pull] = [], interval: Duration = .seconds(300), changeDelay: Duration = .seconds(1),
        firstPause: Duration = .seconds(1), maximumPause: Duration = .seconds(300), spread: Duration = .seconds(5),
        retryAfter: ClosedRange<Duration> = .seconds(1) ... .seconds(3600)
    ) {
        self.pulls = pulls
        self.interval = interval
        self.changeDelay = changeDelay
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.spread = spread
        self.retryAfter = retryAfter
    }
}

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
