/// The rules for sending a request again: the number of attempts and the pauses.
///
/// A request is sent again if it failed for the network (code `network` or `timeout`) or was answered 408, 429, 502,
/// 503 or 504. Reads always are, and so are pushes, because each carries an operation that the server's answer
/// identifies. Other requests are only if they cannot have had an effect (429, or no connection).
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of sends of a request; 1 means no repeats. Default 4.
    public var attempts: Int
    /// The longest pause before the second attempt; it doubles with each further one. Default 0.5 s.
    public var firstPause: Duration
    /// The longest pause before any attempt. If a server's `Retry-After` asks for more, its answer is returned at
    /// once, for a caller that can wait that long: see ``SyncScheduler``. Default 30 s.
    public var maximumPause: Duration
    /// The number of repeats that a client may make in addition to a tenth of its answered requests. So when a server
    /// fails altogether, each request is soon sent only once. Default 20.
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

    /// A policy that sends every request once.
    public static let never = RetryPolicy(attempts: 1)

    /// Returns the pause after an attempt (0 is the first). It is a random part, at least half, of a pause that
    /// doubles each time, so that many clients do not come back at once. It is no shorter than the server asked for.
    package func pause(after attempt: Int, random: Double, asked: Duration?) -> Duration {
        let doubled = firstPause * (1 << min(max(attempt, 0), 20))
        let limit = max(.zero, min(doubled, maximumPause))
        let jittered = limit * (0.5 + 0.5 * min(max(random, 0), 1))
        return min(max(jittered, asked ?? .zero), max(.zero, maximumPause))
    }
}
