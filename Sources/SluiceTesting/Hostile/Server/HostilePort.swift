internal import SluiceCore
internal import Synchronization

/// A port on which someone listens, with a thread for each connection, and a log of what was heard.
final class HostilePort: Sendable {
    private struct State {
        var connections: [Int: HostileSocket] = [:]
        var connectionCount = 0
        var requests: [HostileRequest] = []
        var isStopped = false
        var threads = 0
    }

    private let state = Mutex(State())
    private let socket: HostileSocket
    let authority: String

    init() throws(SluiceError) {
        let (socket, port) = try HostileSocket.listening()
        self.socket = socket
        authority = "127.0.0.1:\(port)"
    }

    /// How many connections were made.
    var connectionCount: Int { state.withLock { $0.connectionCount } }
    /// What was asked, in the order in which it came.
    var requests: [HostileRequest] { state.withLock { $0.requests } }
    /// Whether the port is being closed.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Begins to listen: each connection is greeted with `greeting` and each request answered by `answer`.
    func start(elsewhere: String, greeting: [HostileAct], answer: @escaping HostileCase.Answer) {
        thread { [self] in
            while let connected = socket.next() { serve(connected, elsewhere, greeting, answer) }
            socket.close()
        }
    }

    /// Ends all connections, and returns when their threads have gone.
    func stop() async {
        state.withLock { state in
            state.isStopped = true
            // Under the lock: a thread that closes a socket takes it out here first.
            for connection in state.connections.values { connection.shut() }
        }
        socket.shut()
        while state.withLock({ $0.threads }) > 0 { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Notes a request.
    func heard(
        _ parts: HostileReader.Parts, connection: Int, elsewhere: String
    ) -> HostileRequest {
        state.withLock { state in
            let request = HostileRequest(
                number: state.requests.count + 1, connection: connection, method: parts.method, target: parts.target,
                fields: parts.fields, body: parts.body, server: authority, elsewhere: elsewhere)
            state.requests.append(request)
            return request
        }
    }

    private func serve(
        _ connected: HostileSocket, _ elsewhere: String, _ greeting: [HostileAct],
        _ answer: @escaping HostileCase.Answer
    ) {
        let number = state.withLock { state in
            state.connectionCount += 1
            state.connections[state.connectionCount] = state.isStopped ? nil : connected
            return state.isStopped ? nil : state.connectionCount
        }
        guard let number else { return connected.close() }
        let connection = HostileConnection(
            socket: connected, number: number, port: self, elsewhere: elsewhere, answer: answer)
        let isRunning = thread { [self] in
            connection.run(greeting)
            forget(number)
        }
        if !isRunning { forget(number) }
    }

    private func forget(_ number: Int) {
        let connected = state.withLock { $0.connections.removeValue(forKey: number) }
        connected?.close()
    }

    @discardableResult
    private func thread(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { $0.threads += 1 }
        let isRunning = HostileThread.start { [self] in
            body()
            state.withLock { $0.threads -= 1 }
        }
        if !isRunning { state.withLock { $0.threads -= 1 } }
        return isRunning
    }
}

/// A request as it came over the wire to a hostile server.
public struct HostileRequest: Sendable {
    /// The how manieth request to this server it is, from 1.
    public let number: Int
    /// The how manieth connection it came on, from 1.
    public let connection: Int
    /// The method: `GET`.
    public let method: String
    /// The path with its query, as it was sent.
    public let target: String
    /// The header fields in their order.
    public let fields: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]
    /// Host and port of the server: `127.0.0.1:40123`.
    public let server: String
    /// Host and port of the second listener, which must not hear anything.
    public let elsewhere: String

    /// The values of the header fields of that name, whatever its case.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// All that was sent as one text, to look for something that should not be in it.
    public var text: String {
        let head = fields.map { "\($0.name): \($0.value)" }.joined(separator: "\r\n")
        return "\(method) \(target)\r\n\(head)\r\n\r\n\(String(decoding: body, as: UTF8.self))"
    }
}
