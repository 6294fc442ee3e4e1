internal import SluiceBase

/// The access to one backend: its address, its wire, and the chain of filters in front of a transport.
///
/// A client is a value. ``with(_:)`` returns another client and does not change this one.
///
/// ```swift
/// let client = SluiceClient(endpoint: try Endpoint("https://example.net/app"), transport: AsyncHTTPTransport())
/// let logging = client.with(RequestLog())
/// ```
public struct SluiceClient: Sendable {
    /// The backend's address.
    public let endpoint: Endpoint
    /// The backend's wire.
    public let dialect: Dialect
    /// The caller's own filters, the outermost first.
    public let filters: [any RequestFilter]
    /// The options of the client.
    public let options: ClientOptions
    /// The built-in filters around the caller's, and the transport.
    public let chain: FilterChain
    /// The pace of requests that the server's answers ask for.
    package let pace: ServerPace
    /// The credentials of its requests, which no error may hold.
    package let credentials: CredentialBook
    private let refresh: TokenRefresh?
    /// The innermost filters, around each request on the wire.
    private let wireFilters: [any RequestFilter]

    /// A client.
    ///
    /// From the outside in a request passes: correlation id, retry, authentication, `filters`, system properties, lift
    /// of the version, strip of the system properties, client headers, limits, transport. At both ends credentials are
    /// removed from errors. So the caller's filters see every attempt, and every system field before
    /// it leaves the body.
    ///
    /// The first of `filters` is the outermost.
    public init(
        endpoint: Endpoint, dialect: Dialect = .azureV2, transport: any Transport, filters: [any RequestFilter] = [],
        options: ClientOptions = ClientOptions()
    ) {
        self.init(
            endpoint: endpoint, dialect: dialect, transport: dialect.adapter?(endpoint, transport) ?? transport,
            filters: filters, options: options,
            pace: ServerPace(budget: options.retry.budget), credentials: CredentialBook(),
            refresh: options.tokenProvider.map { TokenRefresh($0, options) })
    }

    /// - Parameter transport: with the dialect's adapter around it.
    private init(
        endpoint: Endpoint, dialect: Dialect, transport: any Transport, filters: [any RequestFilter],
        options: ClientOptions, pace: ServerPace, credentials: CredentialBook, refresh: TokenRefresh?,
        inner: [any RequestFilter]? = nil
    ) {
        self.endpoint = endpoint
        self.dialect = dialect
        self.filters = filters
        self.options = options
        self.pace = pace
        self.credentials = credentials
        self.refresh = refresh
        wireFilters = [
            Metering(), HideCredentials(book: credentials, idColumn: dialect.columns.id, isInnermost: true),
            LimitsFilter(limits: options.limits, timer: options.timer),
        ]
        var links: [any RequestFilter] = [
            HideCredentials(book: credentials, idColumn: dialect.columns.id, isInnermost: false),
            CorrelationID(makeID: options.environment.makeID),
            Retry(policy: options.retry, environment: options.environment, pace: pace),
        ]
        if let refresh {
            links.append(
                Authentication(
                    refresh: refresh, scheme: options.tokenScheme, endpoint: endpoint, credentials: credentials))
        }
        links += filters
        links += [
            SystemProperties(dialect: dialect, selection: options.systemProperties), LiftVersion(dialect: dialect),
            StripSystemProperties(dialect: dialect),
            ClientHeaders(
                dialect: dialect, endpoint: endpoint, applicationKey: options.applicationKey.map { Secret($0) },
                installationID: options.installationID),
        ]
        chain = FilterChain(links + (inner ?? wireFilters), transport: transport)
    }

    /// Returns a client with one more filter, inside of the existing ones. This client does not change. The two share
    /// as changing state only the token provider, so that a token is refreshed once for both, and the pace that the
    /// server's answers ask for.
    public func with(_ filter: any RequestFilter) -> SluiceClient {
        SluiceClient(
            endpoint: endpoint, dialect: dialect, transport: chain.transport, filters: filters + [filter],
            options: options, pace: pace, credentials: credentials, refresh: refresh)
    }

    /// Returns the same client with another inner end of its chain, which gets the filters' final requests. The wire's
    /// adapter is not added again, because `chain.transport` has it already.
    package func sending(through transport: any Transport) -> SluiceClient {
        SluiceClient(
            endpoint: endpoint, dialect: dialect, transport: transport,
            filters: filters, options: options, pace: pace, credentials: credentials, refresh: refresh)
    }

    /// Returns the client of a push: its chain ends with the seal and a transport that sends pages through the innermost
    /// filters.
    package func pushing(
        _ seal: any PageFilter, through end: (_ wire: FilterChain) -> any PageTransport
    ) -> SluiceClient {
        SluiceClient(
            endpoint: endpoint, dialect: dialect, transport: end(FilterChain(wireFilters, transport: chain.transport)),
            filters: filters, options: options, pace: pace, credentials: credentials, refresh: refresh, inner: [seal])
    }

    /// Whether its own filters take the requests of a page together.
    package var takesPages: Bool { filters.allSatisfy(\.takesPages) }

    /// Sends a request through the chain. An answer of any status is an answer.
    ///
    /// - Throws: ``SluiceError`` of code `network`, `timeout`, `cancelled`, `tooLarge`, `unauthorized` (the token
    ///   provider failed), or `filter`; and the filters' own errors.
    public func send(_ request: SyncRequest) async throws -> SyncResponse { try await chain.send(request) }
}
