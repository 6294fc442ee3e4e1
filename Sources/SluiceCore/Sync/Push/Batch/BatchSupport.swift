internal import Synchronization

/// Whether the server takes batches: found out once, remembered for the context's life.
final class BatchSupport: Sendable {
    private let isRefused = Mutex(false)

    /// Whether the server has said that it knows no batches.
    var isMissing: Bool { isRefused.withLock { $0 } }

    /// Notes an answer to a batch; true if it says that the server knows none.
    func isMissing(by response: Response) -> Bool {
        guard [404, 405, 501].contains(response.status) else { return false }
        isRefused.withLock { $0 = true }
        return true
    }
}
