public import SluiceBase

/// What a client is made with besides endpoint, wire, transport and filters.
public struct ClientOptions: Sendable {
    /// Where tokens come from; nil means that requests carry none.
    public var tokenProvider: (any TokenProvider)?
    /// How tokens are sent. Default `X-ZUMO-AUTH`.
    public var tokenScheme: TokenScheme
    /// How long before a token expires it is refreshed, where the provider knows when it does. Default 60 s.
    public var tokenLead: Duration
    /// For how long a token that was fetched is not replaced again, even if the server refuses it: so that a server
    /// that refuses every token does not make the provider fetch one for each request. Default 10 s.
    public var tokenCoolDown: Duration
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
    /// Clock, pauses and chance of the retries, and the ids by which logs of client and server find together.
    public var environment: SyncEnvironment
    /// Waits for the deadline of an exchange. Throws when the task is cancelled.
    public var timer: @Sendable (Duration) async throws -> Void

    /// Options.
    public init(
        tokenProvider: (any TokenProvider)? = nil, tokenScheme: TokenScheme = .zumo,
        tokenLead: Duration = .seconds(60), tokenCoolDown: Duration = .seconds(10),
        retry: RetryPolicy = RetryPolicy(), limits: Limits = Limits(),
        systemProperties: SystemPropertySelection = SystemPropertySelection(),
        applicationKey: String? = nil, installationID: String? = nil,
        environment: SyncEnvironment = .system,
        timer: @escaping @Sendable (Duration) async throws -> Void = { try await Pause.wait(for: $0) }
    ) {
        self.tokenProvider = tokenProvider
        self.tokenScheme = tokenScheme
        self.tokenLead = tokenLead
        self.tokenCoolDown = tokenCoolDown
        self.retry = retry
        self.limits = limits
        self.systemProperties = systemProperties
        self.key = applicationKey.map { Secret($0) }
        self.installationID = installationID
        self.environment = environment
        self.timer = timer
    }
}
