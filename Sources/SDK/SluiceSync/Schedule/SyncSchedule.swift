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
