internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Sluice
internal import SluiceBackend
internal import SluiceConfiguration
internal import Synchronization

/// A listener on this machine alone: a Unix socket whose peers are checked, or a port of 127.0.0.1.
struct LocalListener: Service {
    enum Address: Sendable {
        case socket(path: String, SocketRule)
        /// Port 0 is a free one.
        case loopback(port: Int)
    }

    /// The largest body, 4 MiB, and the largest head, 16 KiB.
    private static let mostBody = 4 << 20
    private static let mostHead = 16 << 10

    let name: String
    let address: Address
    let logger: Logger
    /// Called with the port once the listener accepts connections; 0 for a socket.
    let started: @Sendable (Int) -> Void
    let answer: @Sendable (LocalRequest) async -> LocalReply

    func run() async throws {
        let bind: BindAddress =
            switch address {
            case .socket(let path, _): .unixDomainSocket(path: path)
            case .loopback(let port): .hostname("127.0.0.1", port: port)
            }
        // That of a process that has ended.
        if case .socket(let path, _) = address, try Self.hasSocket(at: path) { unlink(path) }
        var quiet = Logger(label: logger.label) { _ in ListenerLog(handler: logger.handler) }
        quiet.logLevel = .error
        let application = Application(
            responder: LocalResponder(address: address, answer: answer, mostBody: Self.mostBody),
            server: ConnectionLimits(headBytes: Self.mostHead, headerFields: 100).server,
            configuration: ApplicationConfiguration(address: bind, serverName: "sluice"),
            onServerRunning: { [started, address] channel in
                if case .socket(let path, let rule) = address { Self.protect(path, rule) }
                started(channel.localAddress?.port ?? 0)
            }, logger: quiet)
        do {
            try await application.run()
        } catch is CancellationError {
        } catch let error as IOError {
            throw SluiceError(.network, "the \(name) cannot listen on \(place)", cause: error)
        } catch is ServiceGroupError where Task.isCancelled {
        }
        if case .socket(let path, _) = address { unlink(path) }
    }

    private var place: String {
        switch address {
        case .socket(let path, _): PlainText.line(path)
        case .loopback(let port): "127.0.0.1:\(port)"
        }
    }

    /// Returns whether there is a socket at the path already.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for anything else.
    static func hasSocket(at path: String) throws -> Bool {
        guard let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType else {
            return false
        }
        guard type == .typeSocket else {
            throw SluiceError(.invalidArgument, "\(PlainText.line(path)) is a file of another kind, and no socket")
        }
        return true
    }

    /// The rule's mode, and the group that may use it. The peers' credentials are checked in any case.
    private static func protect(_ path: String, _ rule: SocketRule) {
        if let group = rule.group { _ = chown(path, uid_t.max, group) }
        chmod(path, rule.mode)
    }
}

/// A listener's log without the consequences of an end during the start: a socket closed twice, a wait that was
/// cancelled. The reason is reported by the daemon itself.
private struct ListenerLog: LogHandler {
    private static let consequences: Set<String> = [
        "Server shutdown error: \(ChannelError.alreadyClosed)", "Waiting on child channel: \(CancellationError())",
    ]

    var handler: any LogHandler

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        if Self.consequences.contains("\(event.message)") { return }
        handler.log(event: event)
    }
}

/// The context of a request, with its connection.
private struct LocalContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

private struct LocalResponder: HTTPResponder {
    let address: LocalListener.Address
    let answer: @Sendable (LocalRequest) async -> LocalReply
    let mostBody: Int

    func respond(to request: Hummingbird.Request, context: LocalContext) async throws -> Hummingbird.Response {
        var request = request
        if case .socket(_, let rule) = address {
            guard let peer = await PeerCredentials.of(context.channel), rule.admits(peer) else {
                return Self.response(
                    .refusal(
                        .forbidden, "forbidden", "this user may not use the socket; see control.users and control.group"
                    ))
            }
        }
        guard let body = try? await request.collectBody(upTo: mostBody) else {
            return Self.response(.refusal(.contentTooLarge, "tooLarge", "the body is larger than \(mostBody) bytes"))
        }
        let bytes = Array(body.readableBytesView)
        return Self.response(await answer(LocalRequest(head: request.head, body: MessageBody(bytes: bytes))))
    }

    private static func response(_ reply: LocalReply) -> Hummingbird.Response {
        guard let stream = reply.stream else {
            return Hummingbird.Response(
                status: reply.status, headers: reply.headers,
                body: reply.bytes.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: reply.bytes)))
        }
        return Hummingbird.Response(
            status: reply.status, headers: reply.headers,
            body: .init { writer in
                try await stream { try await writer.write(ByteBuffer(bytes: $0)) }
                try await writer.finish(nil)
            })
    }
}
