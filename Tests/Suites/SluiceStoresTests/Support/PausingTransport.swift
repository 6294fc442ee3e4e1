import HTTPTypes
import SluiceCore
import Synchronization

/// Passes requests on, and does something once before the answer to the next change arrives.
final class PausingTransport: Transport {
    private let inner: any Transport
    private let step = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ inner: any Transport) { self.inner = inner }

    var beforeAnswer: (@Sendable () async throws -> Void)? {
        get { step.withLock { $0 } }
        set { step.withLock { $0 = newValue } }
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let answer = try await inner.send(request)
        guard request.head.method != .get else { return answer }
        let step = step.withLock { step in
            defer { step = nil }
            return step
        }
        try await step?()
        return answer
    }
}
