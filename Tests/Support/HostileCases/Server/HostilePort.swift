internal import SluiceCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

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

/// Threads for what blocks, which has no place on the threads of Swift's tasks.
enum HostileThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    ///
    /// - Returns: false if the system gives no thread; then `body` does not run.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        if create(work) { return true }
        Unmanaged<Work>.fromOpaque(work).release()
        return false
    }

    private static func create(_ work: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Darwin)
            var thread: pthread_t?
            guard pthread_create(&thread, nil, { HostileThread.run($0) }, work) == 0 else { return false }
            if let thread { pthread_detach(thread) }
        #else
            var thread: pthread_t = 0
            guard pthread_create(&thread, nil, { HostileThread.run($0) }, work) == 0 else { return false }
            pthread_detach(thread)
        #endif
        return true
    }

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}

/// A connection to a hostile server: reads requests and does with each what it was told.
struct HostileConnection: Sendable {
    let socket: HostileSocket
    let number: Int
    let port: HostilePort
    let elsewhere: String
    let answer: HostileCase.Answer

    /// Serves the connection until one side ends it. Blocks.
    func run(_ greeting: [HostileAct]) {
        guard greeting.allSatisfy(perform) else { return }
        var reader = HostileReader(socket)
        while !port.isStopped, let parts = reader.next() {
            let request = port.heard(parts, connection: number, elsewhere: elsewhere)
            guard answer(request).allSatisfy(perform) else { return }
        }
    }

    /// - Returns: whether the connection goes on.
    private func perform(_ act: HostileAct) -> Bool {
        switch act {
        case .send(let bytes): return socket.write(bytes)
        case .repeated(let bytes, let times): return write(bytes, times)
        case .drip(let bytes, let pause):
            return bytes.allSatisfy { wait(pause) && socket.write([$0]) }
        case .pause(let duration): return wait(duration)
        case .hold:
            // The server's end shuts the socket, which counts as left.
            return wait(.seconds(3600))
        case .close: return false
        case .reset:
            socket.resetOnClose()
            return false
        }
    }

    private func write(_ bytes: [UInt8], _ times: Int) -> Bool {
        let inBlock = max(1, 65_536 / max(1, bytes.count))
        let block = Array(repeatElement(bytes, count: min(times, inBlock)).joined())
        var left = times
        while left >= inBlock {
            guard socket.write(block) else { return false }
            left -= inBlock
        }
        return socket.write(Array(block.prefix(left * bytes.count)))
    }

    private func wait(_ duration: Duration) -> Bool {
        let end = ContinuousClock.now + duration
        while true {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            if left <= 0 { return true }
            if socket.isLeft(within: Int32(clamping: Int64(nearest: min(max(left, 1), 1000)) ?? 1)) { return false }
        }
    }
}

/// Reads requests from a connection, as far as a server needs to that only lies in its answers.
struct HostileReader {
    /// What a request consists of.
    struct Parts {
        var method: String
        var target: String
        var fields: [(name: String, value: String)]
        var body: [UInt8]
    }

    /// No client of ours sends more.
    private static let largest = 4 << 20

    let socket: HostileSocket
    private var pending: [UInt8] = []

    init(_ socket: HostileSocket) { self.socket = socket }

    /// The next request; nil once the client has left, or sends what is no request.
    mutating func next() -> Parts? {
        guard let head = take(through: "\r\n\r\n") else { return nil }
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard !lines.isEmpty else { return nil }
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        let fields = lines.map { line in
            let name = line.prefix { $0 != ":" }
            return (name: String(name), value: String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        func value(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
        var body: [UInt8]? = []
        if let length = value("content-length").flatMap({ Int($0) }) {
            body = take(length)
        } else if value("transfer-encoding")?.lowercased() == "chunked" {
            body = chunks()
        }
        return body.map { Parts(method: String(words[0]), target: String(words[1]), fields: fields, body: $0) }
    }

    private mutating func chunks() -> [UInt8]? {
        var body: [UInt8] = []
        while let line = take(through: "\r\n") {
            let digits = String(decoding: line, as: UTF8.self).prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16), let chunk = take(size), take(through: "\r\n") != nil else {
                return nil
            }
            body += chunk
            if size == 0 { return body }
        }
        return nil
    }

    private mutating func take(through mark: String) -> [UInt8]? {
        while true {
            if let range = pending.firstRange(of: Array(mark.utf8)) {
                let taken = Array(pending[..<range.upperBound])
                pending.removeSubrange(..<range.upperBound)
                return taken
            }
            guard readMore() else { return nil }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard 0...Self.largest ~= count else { return nil }
        while pending.count < count { guard readMore() else { return nil } }
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }

    private mutating func readMore() -> Bool {
        guard pending.count <= Self.largest, let bytes = socket.read() else { return false }
        pending += bytes
        return true
    }
}
