public import SluiceBase

/// The way to one backend: its address, its wire, and the chain of filters in front of a transport.
///
/// A client is a value. ``with(_:)`` gives another client and leaves this one as it was.
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
    /// The caller's own filters, as they were given; ``filterOrder()`` is their order.
    public let filters: [any Filter]
    /// What the client was made with.
    public let options: ClientOptions
    /// The built-in filters around the caller's, and the transport.
    public let chain: FilterChain
    /// What the server's answers show about the pace at which it wants to be asked.
    package let pace: ServerPace
    /// The credentials of its requests, which no error may hold.
    package let credentials: CredentialBook
    private let refresh: TokenRefresh?

    /// A client.
    ///
    /// From the outside in a request passes: correlation id, retry, authentication, `filters`, system properties,
    /// lift of the version, strip of the system properties, client headers, seal, limits, transport; at both ends the
    /// credentials are taken out of errors. So the caller's
    /// filters see every attempt, and every system field before it leaves the body.
    ///
    /// The first of `filters` is the outermost. A ``PlacedFilter`` among them stands where its placement puts it,
    /// whatever its place in the list; the others keep their order, in the band `default`. Where the placements
    /// contradict each other, every request fails with the reason, which ``filterOrder()`` throws too.
    public init(
        endpoint: Endpoint, dialect: Dialect = .azureV2, transport: any Transport, filters: [any Filter] = [],
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
        endpoint: Endpoint, dialect: Dialect, transport: any Transport, filters: [any Filter],
        options: ClientOptions, pace: ServerPace, credentials: CredentialBook, refresh: TokenRefresh?
    ) {
        self.endpoint = endpoint
        self.dialect = dialect
        self.filters = filters
        self.options = options
        self.pace = pace
        self.credentials = credentials
        self.refresh = refresh
        let hiding = HideCredentials(book: credentials, idColumn: dialect.columns.id)
        var links: [any Filter] = [
            hiding, CorrelationID(makeID: options.environment.makeID),
            Retry(policy: options.retry, environment: options.environment, pace: pace),
        ]
        if let refresh {
            links.append(
                Authentication(
                    refresh: refresh, scheme: options.tokenScheme, endpoint: endpoint, credentials: credentials))
        }
        do throws(SluiceError) {
            links += try FilterOrder.resolve(filters).map(\.link)
        } catch {
            links.append(FailedOrder(error: error))
        }
        links += [
            SystemProperties(dialect: dialect, selection: options.systemProperties), LiftVersion(dialect: dialect),
            StripSystemProperties(dialect: dialect),
            ClientHeaders(
                dialect: dialect, endpoint: endpoint, applicationKey: options.applicationKey.map { Secret($0) },
                installationID: options.installationID),
            Seal(), Metering(), hiding, LimitsFilter(limits: options.limits, timer: options.timer),
        ]
        chain = FilterChain(links, transport: transport)
    }

    /// The caller's own filters as requests pass them, the outermost first, each with the reason for its place. Call it
    /// once where placements come from outside of the program.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where they contradict each other: see
    ///   ``ChainOrder/resolve(_:known:narrowestFirst:)``.
    public func filterOrder() throws(SluiceError) -> [Ordered<any Filter>] { try FilterOrder.resolve(filters) }

    /// A client with one filter more: inside of those that are there, or where it is placed. This one stays as it is.
    /// The two share nothing that changes but the token provider, so that a token is refreshed once for both, and what
    /// the server's answers show about its pace.
    public func with(_ filter: any Filter) -> SluiceClient {
        SluiceClient(
            endpoint: endpoint, dialect: dialect, transport: chain.transport, filters: filters + [filter],
            options: options, pace: pace, credentials: credentials, refresh: refresh)
    }

    /// The same client with another inner end of its chain, which takes requests as the filters make them: the wire's
    /// adapter is not put around it again, for `chain.transport` has it already.
    package func sending(through transport: any Transport) -> SluiceClient {
        SluiceClient(
            endpoint: endpoint, dialect: dialect, transport: transport,
            filters: filters, options: options, pace: pace, credentials: credentials, refresh: refresh)
    }

    /// Sends a request through the chain. An answer of any status is an answer.
    ///
    /// - Throws: ``SluiceError`` of code `network`, `timeout`, `cancelled`, `tooLarge`, `unauthorized` (the token
    ///   provider failed), or `filter`; and what the filters throw.
    public func send(_ request: Request) async throws -> Response { try await chain.send(request) }
}
