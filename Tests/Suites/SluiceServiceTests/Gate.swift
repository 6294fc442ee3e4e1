import MetricsTestKit
import SluiceService
import Synchronization

/// Lets tasks through once it is open.
final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func passed() async {
        while !isOpen.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

/// What a server saw of a trace.
final class Trace: Sendable {
    let fields = Mutex<[String]>([])
}

extension SyncService {
    /// Whether no run has been counted yet.
    func isQuiet(_ metrics: TestMetrics) -> Bool {
        (try? metrics.expectCounter("sluice.sync.rows", [("change", "stored")])) == nil
    }
}
