import HTTPTypes
import SluiceBackend
import SluiceCore
import Synchronization

/// Requests to a backend in the same process.
struct BackendTransport: Transport {
    let backend: Backend

    func send(_ request: SyncRequest) async throws -> SyncResponse { await backend.respond(to: request) }
}

/// Requests to a backend that may be exchanged for another, with a network that may be down, and a list of what was asked.
final class SwitchedTransport: Transport {
    private struct State {
        var backend: Backend?
        var isUp = true
        var requests: [SyncRequest] = []
        var hook: (@Sendable (SyncRequest) -> SyncResponse?)?
    }
    private let state = Mutex(State())

    init(_ backend: Backend? = nil) { state.withLock { $0.backend = backend } }

    /// The backend that answers.
    var backend: Backend? {
        get { state.withLock { $0.backend } }
        set { state.withLock { $0.backend = newValue } }
    }
    /// Whether the network is there.
    var isUp: Bool {
        get { state.withLock { $0.isUp } }
        set { state.withLock { $0.isUp = newValue } }
    }
    /// What was asked since the list was cleared.
    var requests: [SyncRequest] { state.withLock { $0.requests } }
    /// The methods and paths of what was asked.
    var calls: [String] { requests.map { "\($0.head.method) \($0.head.path ?? "")" } }
    func clear() { state.withLock { $0.requests = [] } }
    /// Has a function answer what it has an answer to.
    func onRequest(_ hook: (@Sendable (SyncRequest) -> SyncResponse?)?) { state.withLock { $0.hook = hook } }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let (backend, isUp, hook) = state.withLock { state in
            state.requests.append(request)
            return (state.backend, state.isUp, state.hook)
        }
        guard isUp, let backend else { throw SluiceError(.network, "the network is down") }
        if let response = hook?(request) { return response }
        return await backend.respond(to: request)
    }
}
