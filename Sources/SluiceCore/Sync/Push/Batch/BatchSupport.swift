internal import Synchronization

/// Whether the server takes batches: found out once, remembered for the context's life.
final class BatchSupport: Sendable {
    private let isRefused = Mutex(false)

    /// Whether the server has said that it knows no batches.
    var isMissing: Bool { isRefused.withLock { $0 } }

    /// Notes an answer to a batch; true if it says that the server knows none: it refuses the address or the method, or
    /// takes the batch for a record.
    func isMissing(by response: Response) -> Bool {
        let isUnknown = [400, 404, 405, 415, 501].contains(response.status)
        let document = (200..<300).contains(response.status) ? try? response.body.json : nil
        guard isUnknown || (document?.kind == .object && document?["responses"] == nil) else { return false }
        isRefused.withLock { $0 = true }
        return true
    }
}
