public import SluiceCore

/// What a client is allowed in a case: small enough that a case is over soon.
public struct HostileLimits: Sendable, Hashable {
    /// The bounds of each exchange.
    public var exchange: Limits
    /// How often a request is sent at the most.
    public var attempts: Int
    /// How many pages a pull may bring.
    public var pages: Int
    /// The most requests that the client may make in all.
    public var requests: Int
    /// The longest the client may take.
    public var duration: Duration
    /// How much memory the process may grow by at most, in bytes; nil where that is not looked at.
    public var memory: Int?

    /// Limits.
    public init(
        exchange: Limits = Limits(), attempts: Int = 2, pages: Int = 8, requests: Int = 12,
        duration: Duration = .seconds(20),
        memory: Int? = nil
    ) {
        self.exchange = exchange
        self.attempts = attempts
        self.pages = pages
        self.requests = requests
        self.duration = duration
        self.memory = memory
    }
}
