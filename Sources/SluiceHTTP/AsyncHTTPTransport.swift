package import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
public import SluiceCore

/// Carries requests to servers over HTTP, by AsyncHTTPClient.
///
/// It follows no redirect, keeps no cookies, unpacks gzip and deflate, and keeps to the request's limits: size of the
/// unpacked answer, deadline, slowest rate. Cancelling the task ends the exchange.
///
/// ```swift
/// let client = SluiceClient(endpoint: try Endpoint("http://127.0.0.1:8080"), transport: AsyncHTTPTransport())
/// ```
///
/// Transports share one pool of connections, which lives as long as the process. ``withOwnConnections(_:)`` gives one
/// with a pool of its own.
public struct AsyncHTTPTransport: Transport {
    /// What sends: for exchanges that are no request and answer, such as streams. It follows no redirect either.
    package let client: HTTPClient

    /// A transport on the connections that all transports share.
    public init() { self.init(client: Self.shared) }

    /// A transport that uses those files for TLS. Transports with the same files share their connections.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names a file that cannot be used.
    public init(tls: TLSFiles) throws { self.init(client: try tls.client(Self.configuration)) }

    private init(client: HTTPClient) { self.client = client }

    /// Runs `body` with a transport that has connections of its own, and closes them when it returns or throws.
    public static func withOwnConnections<Result: Sendable>(
        _ body: (AsyncHTTPTransport) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(AsyncHTTPTransport(client: client))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    // Never shut down: the pool closes idle connections by itself, and the process closes the rest.
    private static let shared = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

    private static var configuration: HTTPClient.Configuration {
        // The size of what comes out of the decompression is counted here, piece by piece, for each request by its own
        // limit.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)),
            decompression: .enabled(limit: .none))
        // A refused connection is an answer of the network; when to try again is the retry filter's business.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { ResponseGuard.add(to: $0) }
        configuration.http2StreamChannelDebugInitializer = { ResponseGuard.add(to: $0) }
        return configuration
    }

    /// Sends the request and waits for the whole answer.
    ///
    /// - Throws: ``SluiceError`` of code `network` (with the cause ``RequestNotSent`` where no connection came about),
    ///   `timeout`, `tooLarge`, `cancelled`, or `invalidArgument` for a request without scheme and authority. No
    ///   message holds the query or a header field.
    public func send(_ request: Request) async throws -> Response {
        let limits = request.context.limits
        let errors = TransportErrors(request)
        let outgoing = try Self.outgoing(request)
        let allowed = Self.bounded(limits.deadline)
        let deadline = ContinuousClock.now + allowed
        let response: HTTPClientResponse
        do {
            response = try await client.execute(outgoing, deadline: .now() + TimeAmount(allowed))
        } catch {
            throw errors.beforeHead(error)
        }
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
        return Response(Self.head(response), body: Body(bytes: try await reader.read()))
    }

    /// At most a year, so that no deadline overflows a clock.
    private static func bounded(_ duration: Duration) -> Duration { min(max(duration, .zero), .seconds(31_536_000)) }

    private static func outgoing(_ request: Request) throws -> HTTPClientRequest {
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
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body.bytes)) }
        return outgoing
    }

    private static func head(_ response: HTTPClientResponse) -> HTTPResponse {
        var head = HTTPResponse(
            status: .init(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase))
        // The body is unpacked: what the fields say of its packed form is true no longer.
        let isUnpacked = BodyReader.isPacked(response.headers)
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if isUnpacked && (name == .contentEncoding || name == .contentLength) { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        return head
    }
}
