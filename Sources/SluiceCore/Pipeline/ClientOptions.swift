/// What a client is made with besides endpoint, wire, transport and filters.
public struct ClientOptions: Sendable {
    /// Where tokens come from; nil means that requests carry none.
    public var tokenProvider: (any TokenProvider)?
    /// How tokens are sent. Default `X-ZUMO-AUTH`.
    public var tokenScheme: TokenScheme
    /// When requests are sent again.
    public var retry: RetryPolicy
    /// The bounds of each exchange.
    public var limits: Limits
    /// Which system columns to ask for, on a wire that gives them only when asked.
    public var systemProperties: SystemPropertySelection
    /// The key by which Mobile Services knows an application, sent as `X-ZUMO-APPLICATION` on the `azure-v1` wire
    /// alone, and to the endpoint's own origin alone. No description of the options shows it.
    public var applicationKey: String? {
        get { key?.text }
        set { key = newValue.map { Secret($0) } }
    }
    private var key: Secret?
    /// An id of this installation, sent as `X-ZUMO-INSTALLATION-ID` to the endpoint's own origin: a UUID that the
    /// application makes once and keeps. Nil, the default, sends none.
    public var installationID: String?
    /// Makes the ids by which logs of client and server find together.
    public var makeCorrelationID: @Sendable () -> String
    /// The time, for `Retry-After` with a date.
    public var now: @Sendable () -> Timestamp
    /// Waits between attempts. Throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Waits for the deadline of an exchange. Throws when the task is cancelled.
    public var timer: @Sendable (Duration) async throws -> Void
    /// Numbers from 0 to 1 for the pauses between attempts.
    public var random: @Sendable () -> Double

    /// Options. A test brings its own clock and randomness.
    public init(
        tokenProvider: (any TokenProvider)? = nil, tokenScheme: TokenScheme = .zumo,
        retry: RetryPolicy = RetryPolicy(), limits: Limits = Limits(),
        systemProperties: SystemPropertySelection = SystemPropertySelection(),
        applicationKey: String? = nil, installationID: String? = nil,
        makeCorrelationID: @escaping @Sendable () -> String = SyncEnvironment.system.makeID,
        now: @escaping @Sendable () -> Timestamp = SyncEnvironment.system.now,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        timer: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.tokenProvider = tokenProvider
        self.tokenScheme = tokenScheme
        self.retry = retry
        self.limits = limits
        self.systemProperties = systemProperties
        self.key = applicationKey.map { Secret($0) }
        self.installationID = installationID
        self.makeCorrelationID = makeCorrelationID
        self.now = now
        self.sleep = sleep
        self.timer = timer
        self.random = random
    }
}
