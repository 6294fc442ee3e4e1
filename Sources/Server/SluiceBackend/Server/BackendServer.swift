internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import ServiceLifecycle
internal import SluiceCore

/// A listener for a ``Backend``. Several may serve one backend, at the same time or one after the other.
///
/// At its end its port is free and its connections are closed: idle ones at once, busy ones after their answer (or at
/// once if the task is cancelled).
public struct BackendServer: Service {
    private let backend: Backend
    private let host: String
    private let port: Int
    private let logger: Logger
    private let metrics: BackendMetrics
    private let onListening: @Sendable (Int) async -> Void
    /// The pages for the operator; nil for none.
    package var pages: OperatorPages?

    /// Creates a listener.
    ///
    /// - Parameters:
    ///   - backend: the tables to serve.
    ///   - host: the address to listen on.
    ///   - port: the port; 0 for any free one.
    ///   - logger: reports failures; nil for no log.
    ///   - metrics: the counters of requests, and the answer to `GET /metrics`.
    ///   - onListening: called with the port once connections are accepted.
    public init(
        backend: Backend, host: String = "127.0.0.1", port: Int = 0, logger: Logger? = nil,
        metrics: BackendMetrics = BackendMetrics(), onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.backend = backend
        self.host = host
        self.port = port
        self.metrics = metrics
        self.onListening = onListening
        if let logger {
            self.logger = logger
        } else {
            self.logger = Logger(label: "sluice.backend") { _ in SwiftLogNoOpLogHandler() }
        }
    }

    /// Serves until the task is cancelled or a graceful shutdown begins.
    ///
    /// - Throws: ``SluiceError`` of code `network` if the address cannot be listened on.
    public func run() async throws {
        let meters = BackendMeters(metrics.factory)
        let streams = OpenStreams(meters)
        let status = StatusRoutes(
            readiness: Readiness(backend.served.database), streams: streams, metrics: metrics.text)
        let limits = backend.configuration.limits
        let application = Application(
            responder: BackendResponder(
                backend: backend, streams: streams, status: status, meters: meters, pages: pages),
            server: ConnectionLimits(limits).server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    limits.connections ?? BackendConfiguration.Limits.usualConnections, logger: logger)),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { [backend, logger] group in
                group.addTask {
                    await backend.sweep { error in
                        logger.warning("expired records not removed", metadata: ["error": "\(error)"])
                    }
                }
                group.addTask { await streams.beat(backend.served.signals) }
                defer { group.cancelAll() }
                // The listener waits for the answers in progress, and a stream does not end by itself.
                try await withGracefulShutdownHandler {
                    try await application.run()
                } onGracefulShutdown: {
                    streams.end()
                    backend.served.signals.beat()
                }
            }
        } catch is CancellationError {
        } catch let error as IOError {
            throw SluiceError(
                .network, "cannot listen on \(host):\(port); is another program using the port?", cause: error)
        } catch is ServiceGroupError where Task.isCancelled {
            // The listener's group reports a cancelled service as ended early.
        }
    }
}

extension Backend {
    /// Serves on `host` and `port` until the task is cancelled or a graceful shutdown begins; see ``BackendServer``.
    public func serve(
        host: String = "127.0.0.1", port: Int = 0, logger: Logger? = nil,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        try await BackendServer(backend: self, host: host, port: port, logger: logger, onListening: onListening).run()
    }
}

/// Passes requests from the listener to the backend, and its answers back.
struct BackendResponder: HTTPResponder {
    let backend: Backend
    let streams: OpenStreams
    let status: StatusRoutes
    let meters: BackendMeters
    let pages: OperatorPages?

    func respond(to request: Hummingbird.Request, context: BackendContext) async throws -> Hummingbird.Response {
        if let answer = await status.reply(to: request.head) { return Self.response(answer) }
        let begun = ContinuousClock.now
        let proxies = ForwardedHead(proxies: backend.configuration.proxies)
        let request = Hummingbird.Request(
            head: proxies.head(request.head, from: context.channel.remoteAddress), body: request.body)
        let response = try await answer(request, context)
        meters.count(request.head, response.status, took: begun.duration(to: .now))
        return response
    }

    private func answer(_ request: Hummingbird.Request, _ context: BackendContext) async throws -> Hummingbird.Response
    {
        let allowance: Allowance?
        do throws(Refusal) {
            allowance = try await backend.admit(request.head, from: context.channel.remoteAddress)
        } catch {
            return Self.response(backend.refuse(SluiceCore.SyncRequest(request.head), error))
        }
        let page = pages?.takes(request.head) == true ? pages : nil
        if page == nil, ChangeStream.isAsked(by: request.head) {
            switch await ChangeStream.begin(request.head, backend) {
            case .stream(let first, let stream): return streams.response(first, stream, context.channel)
            case .refusal(let answer): return Self.response(answer)
            }
        }
        var request = request
        var answer: SluiceCore.SyncResponse
        let most = page == nil ? backend.configuration.limits.bodyBytes : OperatorPages.mostBytes
        do {
            let body = try await request.collectBody(upTo: most)
            let (head, bytes) = try UnpackedBody.read(body, of: request.head, upTo: most)
            let whole = SluiceCore.SyncRequest(head, body: MessageBody(bytes: bytes))
            if let page {
                answer = await page.reply(to: whole)
            } else {
                answer = await backend.respond(to: whole, by: allowance)
                if ![.get, .head].contains(request.method) { answer.head.headerFields.append(UnpackedBody.offer) }
            }
        } catch let refusal as Refusal {
            answer = backend.refuse(SluiceCore.SyncRequest(request.head), refusal)
        } catch is NIOTooManyBytesError {
            answer = backend.refuse(
                SluiceCore.SyncRequest(request.head),
                Refusal(.contentTooLarge, "the body is larger than \(most) bytes"))
        }
        context.logger.debug(
            "answered",
            metadata: [
                "http.method": "\(request.method.rawValue)", "http.path": "\(request.uri.path)",
                "http.status": "\(answer.status)",
            ])
        return Self.response(answer)
    }

    private static func response(_ answer: SluiceCore.SyncResponse) -> Hummingbird.Response {
        let bytes = answer.body.bytes
        return Hummingbird.Response(
            status: answer.head.status, headers: answer.head.headerFields,
            body: bytes.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Backend {
    /// Admits or refuses a request before any other work. Nil if there is no rate limit.
    ///
    /// - Throws: ``Refusal`` (400, 429).
    func admit(_ head: HTTPRequest, from address: SocketAddress?) async throws(Refusal) -> Allowance? {
        try Self.checkHost(head)
        guard let limiter = served.limiter else { return nil }
        // Without a valid token the request counts for its address; the route refuses it later.
        let user = try? await served.authenticator?.principal(for: head.headerFields)?.user
        let allowance = Allowance(
            limiter: limiter, client: limiter.client(head, user: user, from: address))
        try allowance.pay()
        return allowance
    }

    /// Returns the refusal of a request that could not be read completely.
    func refuse(_ request: SluiceCore.SyncRequest, _ refusal: Refusal) -> SluiceCore.SyncResponse {
        if odata != nil, request.head.isOData { return ODataRoutes.response(to: refusal, request.head) }
        let wire = (try? ServerWire.of(request.head, RequestTarget(request.head))) ?? .azureV2
        return wire.response(to: refusal, asked: [])
    }
}

/// Restores the client's original request from a proxy's headers: `Forwarded` (RFC 7239), or else `X-Forwarded-Proto`,
/// `-Host` and `-Prefix`. Of several values the first comes from the client's side.
///
/// Only proxies trusted by the configuration count; the prefix of any other peer is removed, so that no later code uses
/// it.
struct ForwardedHead {
    let proxies: [AddressRange]

    func head(_ head: HTTPRequest, from peer: SocketAddress?) -> HTTPRequest {
        var head = head
        guard isTrusted(peer) else {
            if let name = ForwardedPrefix.field { head.headerFields[values: name] = [] }
            return head
        }
        let forwarded = Self.parameters(head.headerFields)
        func value(_ name: String, _ field: String) -> String? {
            forwarded[name] ?? HTTPField.Name(field).flatMap { head.headerFields[$0] }.map(Self.first)
        }
        if let scheme = value("proto", "X-Forwarded-Proto")?.lowercased(), ["http", "https"].contains(scheme) {
            head.scheme = scheme
        }
        if let host = value("host", "X-Forwarded-Host"), !host.isEmpty { head.authority = host }
        return head
    }

    private func isTrusted(_ peer: SocketAddress?) -> Bool {
        guard let peer else { return false }
        // A peer on a Unix socket is a proxy on this machine.
        guard let text = peer.ipAddress else { return true }
        return NetworkAddress(text).map { address in proxies.contains { $0.contains(address) } } ?? false
    }

    private static func first(_ list: String) -> String {
        String(list.split(separator: ",").first ?? "").filter { $0 != " " && $0 != "\t" }
    }

    /// Returns the parameters of the first element of `Forwarded`.
    private static func parameters(_ fields: HTTPFields) -> [String: String] {
        guard let name = HTTPField.Name("Forwarded"), let field = fields[name] else { return [:] }
        var parameters: [String: String] = [:]
        for pair in first(field).split(separator: ";") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { parameters[sides[0].lowercased()] = String(sides[1]).filter { $0 != "\"" } }
        }
        return parameters
    }
}
