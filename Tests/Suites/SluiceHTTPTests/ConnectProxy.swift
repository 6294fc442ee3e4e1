import NIOCore
import NIOPosix
import Synchronization

/// A proxy that connects to servers by `CONNECT` and refuses everything else. It may ask for credentials, and may refuse
/// some of the connections.
final class ConnectProxy: Sendable {
    private let seen = Mutex<[String]>([])
    private let refusals: Mutex<[Int]>
    private let credentials: String?
    private let place = Mutex(0)

    /// The port on 127.0.0.1.
    var port: Int { place.withLock { $0 } }
    /// All that clients have said to the proxy itself.
    var heads: [String] { seen.withLock { $0 } }

    private init(credentials: String?, refusals: [Int]) {
        self.credentials = credentials
        self.refusals = Mutex(refusals)
    }

    /// Runs `body` with a proxy.
    ///
    /// - Parameters:
    ///   - credentials: the value of `Proxy-Authorization` that it asks for.
    ///   - refusals: the statuses of the answers to the first connections.
    static func run(
        credentials: String? = nil, refusals: [Int] = [], _ body: (ConnectProxy) async throws -> Void
    ) async throws {
        let proxy = ConnectProxy(credentials: credentials, refusals: refusals)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Head(proxy)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        proxy.place.withLock { $0 = channel.localAddress?.port ?? 0 }
        do {
            try await body(proxy)
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// Returns the status of the answer to a head.
    private func status(_ head: String) -> Int {
        seen.withLock { $0.append(head) }
        if let refusal = refusals.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return refusal }
        guard head.hasPrefix("CONNECT ") else { return 403 }
        guard let credentials else { return 200 }
        return head.lowercased().contains("proxy-authorization: \(credentials.lowercased())\r\n") ? 200 : 407
    }

    private final class Head: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let proxy: ConnectProxy
        private var head = ""

        init(_ proxy: ConnectProxy) { self.proxy = proxy }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            head += String(buffer: unwrapInboundIn(data))
            guard head.hasSuffix("\r\n\r\n") else { return }
            let status = proxy.status(head)
            let target = head.split(separator: " ").dropFirst().first?.split(separator: ":") ?? []
            let channel = context.channel
            guard status == 200, target.count == 2, let port = Int(target[1]) else {
                let answer = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
                channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
                return
            }
            ClientBootstrap(group: channel.eventLoop).connect(host: String(target[0]), port: port).whenComplete {
                result in
                guard case .success(let server) = result else { return channel.close(promise: nil) }
                _ = server.pipeline.addHandler(Pipe(channel)).flatMap { channel.pipeline.addHandler(Pipe(server)) }
                    .flatMap {
                        channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connected\r\n\r\n"))
                    }
            }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    /// Passes all bytes on.
    private final class Pipe: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let other: any Channel

        init(_ other: any Channel) { self.other = other }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            other.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
    }
}
