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
