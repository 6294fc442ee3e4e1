internal import SluiceCore

/// A server that lies, on a real socket of this machine: it does to a client what one ``HostileCase`` says, byte for
/// byte, and has a second listener beside it that nobody should talk to.
///
/// Point your own client at it:
///
/// ```swift
/// for hostile in HostileCase.all {
///     try await HostileServer.run(hostile) { server in
///         let answer = try? await myClient(at: server.url).list("items")
///         precondition(server.elsewhere.isSilent, "\(hostile): the client talked to another server")
///         precondition(server.requests.count < 20, "\(hostile): the client asks for ever")
///     }
/// }
/// ```
///
/// ``HostileTrial`` does this with a client of Sluice and checks all that a case expects.
public final class HostileServer: Sendable {
    private let port: HostilePort
    /// The second listener.
    public let elsewhere: HostileListener
    /// The address: `http://127.0.0.1:40123`.
    public let url: String

    private init(_ hostile: HostileCase) throws(SluiceError) {
        port = try HostilePort()
        elsewhere = HostileListener(try HostilePort())
        url = "http://\(port.authority)"
        port.start(elsewhere: elsewhere.authority, greeting: hostile.greeting, answer: hostile.answer)
        elsewhere.start()
    }

    /// What was asked so far, in the order in which it came.
    public var requests: [HostileRequest] { port.requests }
    /// How many connections were made so far.
    public var connectionCount: Int { port.connectionCount }

    /// Runs `body` with a server for that case, and ends all its connections when `body` returns or throws.
    ///
    /// - Throws: ``SluiceError`` of code `network` if the system gives no port, and what `body` throws.
    public static func run<Result>(
        _ hostile: HostileCase, _ body: (HostileServer) async throws -> Result
    ) async throws -> Result {
        let server = try HostileServer(hostile)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    private func stop() async {
        await port.stop()
        await elsewhere.stop()
    }
}

/// A listener beside a hostile server, to which redirects and links lead: another origin, with which a client has
/// nothing to do. It answers every request with an empty list, so that a client that comes stays and says all it has
/// to.
public final class HostileListener: Sendable {
    private let port: HostilePort

    init(_ port: HostilePort) { self.port = port }

    /// Host and port: `127.0.0.1:40124`.
    public var authority: String { port.authority }
    /// What was asked here.
    public var requests: [HostileRequest] { port.requests }
    /// How many connections were made to it.
    public var connectionCount: Int { port.connectionCount }
    /// Whether nobody has so much as connected.
    public var isSilent: Bool { port.connectionCount == 0 }

    func start() { port.start(elsewhere: authority, greeting: []) { _ in [.json(200, "[]")] } }
    func stop() async { await port.stop() }
}
