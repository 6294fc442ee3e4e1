/// How often and after which pauses a request is sent again.
///
/// Sent again are requests that failed for the network (code `network` or `timeout`) or were answered 408, 429, 502,
/// 503 or 504: reads always, pushes always since each carries an operation that the server's answer identifies, and
/// other requests only where they cannot have had an effect (429, or no connection came about).
public struct RetryPolicy: Sendable, Hashable {
    /// How often a request is sent at the most; 1 means never again. Default 4.
    public var attempts: Int
    /// The longest pause before the second attempt; it doubles with each further one. Default 0.5 s.
    public var firstPause: Duration
    /// The longest pause before any attempt. Where a server's `Retry-After` asks for more, its answer is given back at
    /// once, for a caller who can wait that long: see ``SyncScheduler``. Default 30 s.
    public var maximumPause: Duration
    /// How many repeats a client may make on top of a tenth of its answered requests, whatever they are for: when a
    /// server fails altogether, each request is soon sent once only. Default 20.
    public var budget: Int

    /// A policy.
    public init(
        attempts: Int = 4, firstPause: Duration = .milliseconds(500), maximumPause: Duration = .seconds(30),
        budget: Int = 20
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.budget = budget
    }

    /// Every request is sent once.
    public static let never = RetryPolicy(attempts: 1)

    /// The pause after an attempt (0 is the first): a random part, at least the half, of the pause doubled each time,
    /// so that many clients do not come back at once; and no shorter than the server asked for.
    package func pause(after attempt: Int, random: Double, asked: Duration?) -> Duration {
        let doubled = firstPause * (1 << min(max(attempt, 0), 20))
        let limit = max(.zero, min(doubled, maximumPause))
        let jittered = limit * (0.5 + 0.5 * min(max(random, 0), 1))
        return min(max(jittered, asked ?? .zero), max(.zero, maximumPause))
    }
}
