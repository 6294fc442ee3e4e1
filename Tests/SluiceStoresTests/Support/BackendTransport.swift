import SluiceBackend
import SluiceCore

/// Requests to a backend in the same process.
struct BackendTransport: Transport {
    let backend: Backend

    func send(_ request: Request) async throws -> Response { await backend.respond(to: request) }
}
