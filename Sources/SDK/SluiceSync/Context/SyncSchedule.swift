public import SluiceBase

/// What a scheduler keeps in step, and when.
///
/// ```swift
/// var schedule = SyncSchedule(pulls: [.init(Query("todos"), named: "all")])
/// schedule.interval = .seconds(60)
/// ```
public struct SyncSchedule: Sendable {
    /// A query to pull at each full run.
    public struct Pull: Sendable, Hashable {
        /// Which rows.
        public var query: Query
        /// The name of an incremental pull; nil brings all rows each time.
        public var name: String?

        /// A pull, as ``SyncContext/pull(_:named:allowsMassRemoval:progress:)`` does it.
        public init(_ query: Query, named name: String? = nil) {
            self.query = query
            self.name = name
        }
    }

    /// The queries to pull, in that order, after a push of all that waits.
    public var pulls: [Pull]
    /// How long after a run that went well everything is pushed and pulled again; a tenth of it more or less by chance.
    /// Default 5 minutes.
    public var interval: Duration
    /// How long after a local write it is pushed, with what else was written meanwhile. Default 1 s.
    public var changeDelay: Duration
    /// The longest pause after a first failure; it doubles with each further one. The pause itself is a random part of
    /// that, from nothing to all of it. Default 1 s.
    public var firstPause: Duration
    /// The longest pause after any failure. Default 5 minutes.
    public var maximumPause: Duration
    /// The time over which clients spread that are woken by the same event: the end of a server's `Retry-After`, the
    /// return of a network, a start. A fleet of n clients then comes at no more than about n divided by this.
    /// Default 5 s.
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
