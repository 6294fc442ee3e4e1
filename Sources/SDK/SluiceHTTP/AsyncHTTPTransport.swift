package import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
public import SluiceCore

/// Carries requests to servers over HTTP, with AsyncHTTPClient.
///
/// It follows no redirect, keeps no cookies, unpacks gzip and deflate, packs bodies with gzip for servers that take them
/// (RFC 7694), and enforces the request's limits: size of the unpacked answer, deadline, slowest rate. Cancelling the task
/// ends the exchange. Servers are reached through the proxies of the environment, or of ``ProxySettings``.
///
/// ```swift
/// let client = SluiceClient(endpoint: try Endpoint("http://127.0.0.1:8080"), transport: AsyncHTTPTransport())
/// ```
///
/// Transports share one pool of connections, which lives as long as the process. ``withOwnConnections(proxy:_:)`` provides a
/// transport with its own pool.
public struct AsyncHTTPTransport: Transport {
    private let connections: Connections
    private let proxy: ProxySettings

    /// Creates a transport on the connections that all transports share.
    ///
    /// - Parameter proxy: the proxies to servers; by default those of the environment.
    public init(proxy: ProxySettings = .environment) { self.init(.shared, proxy) }

    /// Creates a transport that uses those files for TLS. Transports with the same files share their connections.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names an unusable file.
    public init(tls: TLSFiles, proxy: ProxySettings = .environment) throws { self.init(try tls.connections(), proxy) }

    private init(_ connections: Connections, _ proxy: ProxySettings) {
        self.connections = connections
        self.proxy = proxy
    }

    /// Runs `body` with a transport that has connections of its own, and closes them when it returns or throws.
    public static func withOwnConnections<Result: Sendable>(
        proxy: ProxySettings = .environment, _ body: (AsyncHTTPTransport) async throws -> Result
    ) async throws -> Result {
        let connections = Connections()
        do {
            let result = try await body(AsyncHTTPTransport(connections, proxy))
            try await connections.close()
            return result
        } catch {
            try? await connections.close()
            throw error
        }
    }

    /// Returns the sending client for a server, also for streams and other exchanges beside request and answer. It
    /// follows no redirect.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a proxy whose address cannot be read.
    package func client(for endpoint: Endpoint) throws(SluiceError) -> HTTPClient {
        connections.client(through: try proxy.server(for: endpoint.authority, scheme: endpoint.scheme))
    }

    /// Sends the request and waits for the whole answer.
    ///
    /// - Throws: ``SluiceError`` of code `network` (with the cause ``RequestNotSent`` if no connection was
    ///   established), `timeout`, `tooLarge`, `cancelled`, or `invalidArgument` for a request without scheme and
    ///   authority. No message holds the query or a header field.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
        let server = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")"
        let isCoded = request.head.headerFields[.contentEncoding] != nil
        guard !isCoded, let packed = PackedBodies.shared.packed(request.body.bytes, for: server) else {
            return try await send(request, request.body.bytes, isPacked: false, to: server)
        }
        let response = try await send(request, packed, isPacked: true, to: server)
        guard response.head.status == .unsupportedMediaType else { return response }
        PackedBodies.shared.forget(server)
        return try await send(request, request.body.bytes, isPacked: false, to: server)
    }

    private func send(
        _ request: SyncRequest, _ body: [UInt8], isPacked: Bool, to server: String
    ) async throws -> SyncResponse {
        let limits = request.context.limits
        var outgoing = try Self.outgoing(request)
        if isPacked { outgoing.headers.add(name: "Content-Encoding", value: "gzip") }
        if !body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
        let through = try proxy.server(for: request.head.authority ?? "", scheme: request.head.scheme ?? "")
        let errors = TransportErrors(request, through: through)
        let allowed = Self.bounded(limits.deadline)
        let deadline = ContinuousClock.now + allowed
        let response: HTTPClientResponse
        do {
            response = try await connections.client(through: through).execute(
                outgoing, deadline: .now() + TimeAmount(allowed))
        } catch {
            throw errors.beforeHead(error)
        }
        PackedBodies.shared.learn(from: response.headers, of: server)
        guard (100...999).contains(Int(response.status.code)) else {
            throw errors.error(.network, "the server answered with a status that HTTP does not know")
        }
        guard response.headers[canonicalForm: "Transfer-Encoding"].allSatisfy({ $0.lowercased() == "chunked" }),
            response.headers[canonicalForm: "Transfer-Encoding"].count < 2,
            response.headers[canonicalForm: "Content-Encoding"].count < 2,
            response.headers[canonicalForm: "Content-Encoding"].allSatisfy({ coding in
                ["gzip", "deflate", "identity"].contains(coding.lowercased())
            })
        else { throw errors.error(.brokenProtocol, "the answer is encoded in a way that was not asked for") }
        let reader = BodyReader(response: response, limits: limits, deadline: deadline, errors: errors)
        var bytes = try await reader.read()
        // RFC 8259, section 8.1: a byte order mark before a document may be ignored.
        if response.headers.first(name: "Content-Type")?.lowercased().contains("json") == true,
            bytes.starts(with: [0xEF, 0xBB, 0xBF])
        {
            bytes.removeFirst(3)
        }
        return SyncResponse(Self.head(response), body: MessageBody(bytes: bytes))
    }

    /// At most a year, so that no deadline overflows a clock.
    private static func bounded(_ duration: Duration) -> Duration { min(max(duration, .zero), .seconds(31_536_000)) }

    private static func outgoing(_ request: SyncRequest) throws -> HTTPClientRequest {
        guard let scheme = request.head.scheme, let authority = request.head.authority else {
            throw SluiceError(.invalidArgument, "a request needs scheme and authority to be sent")
        }
        var outgoing = HTTPClientRequest(url: "\(scheme)://\(authority)\(request.head.path ?? "/")")
        outgoing.method = HTTPMethod(rawValue: request.head.method.rawValue)
        for field in request.head.headerFields {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        if !outgoing.headers.contains(name: "Accept-Encoding") {
            outgoing.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        return outgoing
    }

    private static func head(_ response: HTTPClientResponse) -> HTTPResponse {
        var head = HTTPResponse(
            status: .init(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase))
        // The body is unpacked: the fields about its packed form are no longer true.
        let isUnpacked = BodyReader.isPacked(response.headers)
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if isUnpacked && (name == .contentEncoding || name == .contentLength) { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        return head
    }
}
