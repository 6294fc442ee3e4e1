import NIOCore
import NIOPosix
import Synchronization

/// A server that reads one request's head and then writes the bytes it was told, piece by piece, and closes or stays.
/// It can do what no HTTP library would.
final class RawServer: Sendable {
    /// What is done after a request's head has come.
    enum Act: Sendable {
        case write([UInt8])
        case pause(TimeAmount)
        case close

        static func text(_ text: String) -> Act { .write(Array(text.utf8)) }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let acts: [Act]
        let received: @Sendable (String) -> Void
        var head = ""
        var isAnswered = false

        init(_ acts: [Act], _ received: @escaping @Sendable (String) -> Void) {
            self.acts = acts
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            head += String(buffer: unwrapInboundIn(data))
            guard !isAnswered, head.contains("\r\n\r\n") else { return }
            isAnswered = true
            received(head)
            Self.run(acts[...], context.channel)
        }

        static func run(_ acts: ArraySlice<Act>, _ channel: any Channel) {
            guard let act = acts.first else { return }
            let rest = acts.dropFirst()
            switch act {
            case .write(let bytes):
                channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenSuccess { run(rest, channel) }
            case .pause(let time):
                channel.eventLoop.scheduleTask(in: time) { run(rest, channel) }
            case .close: channel.close(promise: nil)
            }
        }
    }

    /// What the connections' handlers have read.
    private final class Seen: Sendable {
        private let heads = Mutex<[String]>([])
        var all: [String] { heads.withLock { $0 } }
        func add(_ head: String) { heads.withLock { $0.append(head) } }
    }

    private let seen: Seen
    /// The port on 127.0.0.1.
    let port: Int
    /// The heads of the requests so far.
    var requests: [String] { seen.all }

    private init(seen: Seen, port: Int) {
        self.seen = seen
        self.port = port
    }

    /// Runs `body` with a server that does `acts` on each connection.
    static func run(_ acts: [Act], _ body: (RawServer) async throws -> Void) async throws {
        let seen = Seen()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(acts) { seen.add($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = RawServer(seen: seen, port: channel.localAddress?.port ?? 0)
        do { try await body(server) } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }
}
