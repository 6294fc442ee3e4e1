public import SluiceBase

/// The options of a client, besides endpoint, wire, transport and filters.
public struct ClientOptions: Sendable {
    /// The source of tokens; nil means that requests carry none.
    public var tokenProvider: (any TokenProvider)?
    /// The header field for tokens. Default `X-ZUMO-AUTH`.
    public var tokenScheme: ClientOptions.TokenScheme
    /// The time before a token's expiry at which it is refreshed, if the provider knows the expiry. Default 60 s.
    public var tokenLead: Duration
    /// The time for which a new token is not replaced again, even if the server refuses it. So a server that refuses
    /// every token does not make the provider fetch one for each request. Default 10 s.
    public var tokenCoolDown: Duration
    /// The rules for sending requests again.
    public var retry: RetryPolicy
    /// The limits of each exchange.
    public var limits: SyncRequest.Limits
    /// The system columns to request, on a wire that sends them only on request.
    public var systemProperties: SystemProperty.Selection
    /// The key that identifies an application to Mobile Services, sent as `X-ZUMO-APPLICATION` only on the `azure-v1`
    /// wire, and only to the endpoint's own origin. No description of the options shows it.
    public var applicationKey: String? {
        get { key?.text }
        set { key = newValue.map { Secret($0) } }
    }
    private var key: Secret?
    /// An id of this installation, sent as `X-ZUMO-INSTALLATION-ID` to the endpoint's own origin: a UUID that the
    /// application makes once and keeps. Nil, the default, sends none.
    public var installationID: String?
    /// The clock, pauses and random numbers of the retries, and the ids that connect logs of client and server.
    public var environment: SyncEnvironment
    /// Waits for the deadline of an exchange. Throws when the task is cancelled.
    public var timer: @Sendable (Duration) async throws -> Void

    /// Options.
    public init(
        tokenProvider: (any TokenProvider)? = nil, tokenScheme: ClientOptions.TokenScheme = .zumo,
        tokenLead: Duration = .seconds(60), tokenCoolDown: Duration = .seconds(10),
        retry: RetryPolicy = RetryPolicy(), limits: SyncRequest.Limits = SyncRequest.Limits(),
        systemProperties: SystemProperty.Selection = SystemProperty.Selection(),
        applicationKey: String? = nil, installationID: String? = nil,
        environment: SyncEnvironment = .system,
        timer: @escaping @Sendable (Duration) async throws -> Void = { try await SyncEnvironment.wait(for: $0) }
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
