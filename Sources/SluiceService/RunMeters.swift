internal import CoreMetrics
internal import SluiceCore

/// Counts what scheduled runs do. Every label is from a small set; none holds a table's rows or a record's id.
struct RunMeters: Sendable {
    private let factory: any MetricsFactory

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Counts a run that ended.
    ///
    /// - Parameters:
    ///   - took: how long it took.
    ///   - status: what waits in the queue now; nil where the store could not be read.
    func count(_ run: ScheduledRun, took: Duration, _ status: SyncStatus?) {
        let result = run.error.map { $0.code.description } ?? "ok"
        counter("sluice.sync.runs", [("result", result)]).increment()
        let timer = Timer(label: "sluice.sync.run.duration", dimensions: [("result", result)], factory: factory)
        timer.recordNanoseconds(took.wholeNanoseconds)
        if let push = run.push {
            add(push.applied, "sluice.sync.operations", [("outcome", "applied")])
            add(push.conflicts, "sluice.sync.operations", [("outcome", "conflict")])
            add(push.failures.count, "sluice.sync.operations", [("outcome", "failed")])
        }
        for pull in run.pulls {
            let table: [(String, String)] = [("change", "stored")]
            add(pull.brought, "sluice.sync.rows", table)
            add(pull.removed, "sluice.sync.rows", [("change", "deleted")])
            add(pull.quarantined, "sluice.sync.rows", [("change", "quarantined")])
        }
        guard let status else { return }
        for (state, count) in [
            ("pending", status.pending), ("in_flight", status.inFlight), ("parked", status.parked),
            ("dead", status.dead),
        ] {
            Gauge(label: "sluice.queue.operations", dimensions: [("state", state)], factory: factory).record(count)
        }
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        Counter(label: label, dimensions: dimensions, factory: factory)
    }

    private func add(_ count: Int, _ label: String, _ dimensions: [(String, String)]) {
        if count > 0 { counter(label, dimensions).increment(by: count) }
    }
}
