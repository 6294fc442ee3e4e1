package import AsyncHTTPClient
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOSSL
public import SluiceCore
internal import Synchronization

/// Carries requests to servers over HTTP, with AsyncHTTPClient.
///
/// It follows no redirect, keeps no cookies, unpacks gzip and deflate, and enforces the request's limits: size of the
/// unpacked answer, deadline, slowest rate. Cancelling the task ends the exchange.
///
/// ```swift
/// let client = SluiceClient(endpoint: try Endpoint("http://127.0.0.1:8080"), transport: AsyncHTTPTransport())
/// ```
///
/// Transports share one pool of connections, which lives as long as the process. ``withOwnConnections(_:)`` provides a
/// transport with its own pool.
public struct AsyncHTTPTransport: Transport {
    /// The sending client, also for streams and other exchanges beside request and answer. It follows no redirect
    /// either.
    package let client: HTTPClient

    /// Creates a transport on the connections that all transports share.
    public init() { self.init(client: Self.shared) }

    /// Creates a transport that uses those files for TLS. Transports with the same files share their connections.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names an unusable file.
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
        // The size of the unpacked content is counted here, piece by piece, for each request by its own limit.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)),
            decompression: .enabled(limit: .none))
        // A refused connection is an answer of the network; the retry filter decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { ResponseGuard.add(to: $0) }
        configuration.http2StreamChannelDebugInitializer = { ResponseGuard.add(to: $0) }
        return configuration
    }

    /// Sends the request and waits for the whole answer.
    ///
    /// - Throws: ``SluiceError`` of code `network` (with the cause ``RequestNotSent`` if no connection was
    ///   established), `timeout`, `tooLarge`, `cancelled`, or `invalidArgument` for a request without scheme and
    ///   authority. No message holds the query or a header field.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
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
        return SyncResponse(Self.head(response), body: MessageBody(bytes: try await reader.read()))
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
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body.bytes)) }
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

/// Files for TLS beside the system's authorities: the client's proof of identity (mutual TLS), and further authorities
/// to trust. The server's certificate and name are verified in any case; nothing here switches that off.
public struct TLSFiles: Sendable, Hashable {
    /// The client's certificate and the intermediate ones up to its authority, in PEM; it needs ``key``.
    public var certificate: String?
    /// The certificate's private key, in PEM without a passphrase.
    public var key: String?
    /// Authorities that are trusted beside the system's, in PEM.
    public var authorities: String?

    /// Names files by their paths.
    public init(certificate: String? = nil, key: String? = nil, authorities: String? = nil) {
        (self.certificate, self.key, self.authorities) = (certificate, key, authorities)
    }

    /// Returns the TLS configuration made from the files.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file, and contains nothing of a key.
    func configuration() throws -> TLSConfiguration {
        guard (certificate == nil) == (key == nil) else {
            throw SluiceError(.invalidArgument, "TLS: a certificate needs its key, and a key its certificate")
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let certificate, let key {
            configuration.certificateChain = try Self.read(certificate, "certificates") {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
            configuration.privateKey = try Self.read(key, "private key") {
                .privateKey(try NIOSSLPrivateKey(file: $0, format: .pem))
            }
        }
        if let authorities {
            configuration.additionalTrustRoots = [
                .certificates(
                    try Self.read(authorities, "certificates") { try NIOSSLCertificate.fromPEMFile($0) })
            ]
        }
        return configuration
    }

    private static func read<Result>(_ path: String, _ what: String, _ body: (String) throws -> Result) throws -> Result
    {
        do {
            return try body(path)
        } catch {
            throw SluiceError(.invalidArgument, "TLS: \(path) cannot be read, or has no \(what) in PEM")
        }
    }

    /// The files' contents, compared so that renewed files are noticed.
    private var contents: [Data?] {
        [certificate, key, authorities].map { path in path.flatMap { FileManager.default.contents(atPath: $0) } }
    }

    /// Returns the connections of all transports with these contents. They are closed at the process's end: those of
    /// renewed files become idle, and the pool closes idle ones.
    func client(_ base: HTTPClient.Configuration) throws -> HTTPClient {
        let contents = contents
        return try Self.clients.withLock { clients in
            if let client = clients[contents] { return client }
            var configuration = base
            configuration.tlsConfiguration = try self.configuration()
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[contents] = client
            return client
        }
    }

    private static let clients = Mutex<[[Data?]: HTTPClient]>([:])
}

/// Collects an answer's body within the limits: counts the unpacked bytes, and watches the rate.
struct BodyReader: Sendable {
    let response: HTTPClientResponse
    let limits: SyncRequest.Limits
    /// The time at which the exchange must be over. The HTTP client's own deadline ends with the answer's head.
    let deadline: ContinuousClock.Instant
    let errors: TransportErrors

    /// The number of bytes received so far, shared by the reader and the watch.
    private final class Progress: Sendable {
        let bytes = Atomic<Int>(0)
    }

    func read() async throws -> [UInt8] {
        // Not for a packed body: its length says nothing about its unpacked size.
        let announced =
            Self.isPacked(response.headers) ? nil : response.headers.first(name: "Content-Length").flatMap(Int.init)
        if let announced, announced > limits.responseBytes, !isHeadOnly { throw tooLarge }
        let progress = Progress()
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await collect(announced: announced ?? 0, progress) }
                group.addTask { try await watch(progress) }
                group.addTask {
                    try await Pause.wait(for: deadline - .now)
                    throw errors.late
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
        } catch {
            throw errors.insideBody(error)
        }
    }

    /// Whether the body was packed in a format that the client unpacks.
    static func isPacked(_ headers: HTTPHeaders) -> Bool {
        headers[canonicalForm: "Content-Encoding"].contains { ["gzip", "deflate"].contains($0.lowercased()) }
    }

    private var isHeadOnly: Bool { errors.isHead || response.status == .notModified }

    private var tooLarge: SluiceError {
        errors.error(.tooLarge, limits.tooLarge)
    }

    private func collect(announced: Int, _ progress: Progress) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // A server's announced length reserves a limited amount of memory only.
        bytes.reserveCapacity(min(announced, 4 << 20))
        for try await piece in response.body {
            guard piece.readableBytes <= limits.responseBytes - bytes.count else { throw tooLarge }
            bytes.append(contentsOf: piece.readableBytesView)
            progress.bytes.store(bytes.count, ordering: .relaxed)
        }
        return bytes
    }

    /// Throws if, after the grace period, the average rate is below the slowest one allowed.
    private func watch(_ progress: Progress) async throws -> [UInt8] {
        let start = ContinuousClock.now
        let step = max(.milliseconds(10), min(limits.grace / 4, .seconds(1)))
        try await Pause.wait(for: limits.grace)
        while true {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if Double(progress.bytes.load(ordering: .relaxed)) < Double(limits.minimumRate) * seconds {
                throw errors.error(
                    .timeout, "the answer arrives at less than \(limits.minimumRate.counted("byte")) a second")
            }
            try await Pause.wait(for: step)
        }
    }
}
