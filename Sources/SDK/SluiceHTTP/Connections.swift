internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTPCompression
internal import NIOSSL
internal import SluiceCore
internal import Synchronization

/// The pools of connections to servers: one without a proxy, and one for each proxy, made when it is first needed.
final class Connections: Sendable {
    /// Never closed: a pool closes idle connections by itself, and the process closes the rest.
    static let shared = Connections()

    private let tls: TLSConfiguration?
    private let clients = Mutex<[ProxyServer?: HTTPClient]>([:])

    init(tls: TLSConfiguration? = nil) { self.tls = tls }

    /// Returns the client with the connections through that proxy; nil is none.
    func client(through proxy: ProxyServer?) -> HTTPClient {
        clients.withLock { clients in
            if let client = clients[proxy] { return client }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(proxy))
            clients[proxy] = client
            return client
        }
    }

    /// Closes all connections.
    func close() async throws {
        for client in clients.withLock({ Array($0.values) }) { try await client.shutdown() }
    }

    private func configuration(_ proxy: ProxyServer?) -> HTTPClient.Configuration {
        // The size of the unpacked content is counted piece by piece, for each request by its own limit.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)),
            decompression: .enabled(limit: .none))
        configuration.tlsConfiguration = tls
        // A refused connection is an answer of the network; the retry filter decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { ResponseGuard.add(to: $0) }
        configuration.http2StreamChannelDebugInitializer = { ResponseGuard.add(to: $0) }
        configuration.proxy = proxy.map { proxy in
            .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.credentials.map { .basic(credentials: Base64.text($0.text.utf8)) })
        }
        return configuration
    }
}
