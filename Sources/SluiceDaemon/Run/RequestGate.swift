internal import Sluice
internal import Synchronization

/// The last door before the network. Once it is closed no further request leaves: a push or pull ends after the request
/// that is under way, and what was not sent waits in the queue.
final class RequestGate: Filter {
    private let isClosed = Mutex(false)

    func close() { isClosed.withLock { $0 = true } }

    func handle(_ request: Request, next: Next) async throws -> Response {
        if isClosed.withLock({ $0 }) { throw CancellationError() }
        return try await next(request)
    }
}
