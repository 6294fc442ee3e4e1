internal import HTTPTypes
public import SluiceCore
internal import Synchronization

/// A network that fails, in front of a transport that works. Requests get lost, answers get lost after the server has
/// acted, some requests arrive twice, and some answers come from an overloaded gateway.
///
/// The seed decides the fault of each request in turn. Use it to see how an application behaves on a bad line:
///
/// ```swift
/// let line = LossyTransport(AsyncHTTPTransport(), seed: 7)
/// let client = SluiceClient(endpoint: endpoint, transport: line)
/// ```
public final class LossyTransport: Transport {
    /// A fault that can happen to a request.
    public enum Fault: String, Sendable, CaseIterable {
        /// The request never arrives.
        case requestLost
        /// The server acts on the request, and the answer is lost.
        case answerLost
        /// The request arrives twice, and the second answer comes back.
        case duplicated
        /// A gateway answers 503 in place of the server.
        case unavailable
        /// A gateway answers 502 after the server has acted.
        case badGateway
    }

    private struct State {
        var random: SeededGenerator
        var rate: Double
        var counts: [Fault: Int] = [:]
        var requests = 0
    }
    private let inner: any Transport
    private let state: Mutex<State>

    /// Puts a lossy line in front of `inner`.
    ///
    /// - Parameters:
    ///   - inner: the transport behind the line.
    ///   - seed: determines the faults, together with the order of the requests.
    ///   - rate: the share of requests with a fault, 0 to 1.
    public init(_ inner: any Transport, seed: UInt64, rate: Double = 0.4) {
        self.inner = inner
        state = Mutex(State(random: SeededGenerator(seed: seed), rate: min(max(rate, 0), 1)))
    }

    /// The number of times that each fault has happened so far.
    public var counts: [Fault: Int] { state.withLock { $0.counts } }
    /// The number of requests sent so far, lost ones included.
    public var requests: Int { state.withLock { $0.requests } }

    /// Ends all faults: from now on every request is answered.
    public func heal() { state.withLock { $0.rate = 0 } }

    /// Sends the request, or applies the fault that the seed chose for it.
    ///
    /// - Throws: ``SluiceError`` of code `network` where the request or its answer is lost.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
        switch draw() {
        case nil: return try await inner.send(request)
        case .requestLost: throw Self.lost
        case .unavailable: return Self.gateway(503)
        case .badGateway:
            _ = try await inner.send(request)
            return Self.gateway(502)
        case .answerLost:
            _ = try await inner.send(request)
            throw Self.lost
        case .duplicated:
            _ = try await inner.send(request)
            return try await inner.send(request)
        }
    }

    private func draw() -> Fault? {
        state.withLock { state in
            state.requests += 1
            guard Double.random(in: 0..<1, using: &state.random) < state.rate,
                let fault = Fault.allCases.randomElement(using: &state.random)
            else { return nil }
            state.counts[fault, default: 0] += 1
            return fault
        }
    }

    private static var lost: SluiceError { SluiceError(.network, "the line broke") }

    private static func gateway(_ status: Int) -> SyncResponse {
        SyncResponse(HTTPResponse(status: .init(code: status)), body: MessageBody(bytes: Array("try later".utf8)))
    }
}
