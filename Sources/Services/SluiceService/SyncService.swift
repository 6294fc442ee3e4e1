public import CoreMetrics
public import Logging
public import ServiceLifecycle
public import SluiceCore
public import Tracing

/// Sync as a service of a daemon: a ``SyncScheduler`` that starts and ends with a `ServiceGroup`.
///
/// ```swift
/// let sync = SyncService(context, SyncSchedule(pulls: [.init(TableQuery("todos"), named: "all")]), logger: logger)
/// let group = ServiceGroup(services: [sync], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// At a graceful shutdown the running push or pull gets ``shutdownLimit`` to end. After that it is cancelled: its
/// operation stays in the queue, and the next start sends it again under the same request id, so that the server
/// carries it out once. The service does not close the store, which belongs to the caller.
public struct SyncService: Service {
    /// The context that the service synchronises.
    public let context: SyncContext
    /// The loop of the schedule: `syncNow()`, `networkAvailable()`, and the finished runs.
    public let scheduler: SyncScheduler
    /// The longest time that a running push or pull may go on after the begin of a graceful shutdown.
    public let shutdownLimit: Duration
    private let logger: Logger
    private let meters: RunMeters

    /// Creates a service for a context.
    ///
    /// - Parameters:
    ///   - context: the sync context.
    ///   - schedule: the time of each run.
    ///   - logger: reports each run: at `debug` if it went well, else, also for operations that failed, at `warning`. Nothing of a record's content is
    ///     logged.
    ///   - metrics: counts the runs; nil for the process's metrics system.
    ///   - tracer: gets a span for each push and pull. Give the client ``RequestSpans/filters(_:around:)`` to
    ///     trace the requests too.
    ///   - shutdownLimit: the time that a run has to end after the service was asked to.
    public init(
        _ context: SyncContext, _ schedule: SyncSchedule, logger: Logger, metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil, shutdownLimit: Duration = .seconds(10)
    ) {
        self.context = context
        self.shutdownLimit = shutdownLimit
        self.logger = logger
        meters = RunMeters(metrics ?? MetricsSystem.factory)
        scheduler = SyncScheduler(context, schedule, around: tracer.map { RequestSpans.around($0) })
    }

    private enum Part { case scheduler, observer, limit }

    /// Syncs until a graceful shutdown or the task's cancellation, and returns then.
    ///
    /// - Throws: ``SluiceError`` as ``SyncScheduler/run()``.
    public func run() async throws {
        let runs = scheduler.runs
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                try await scheduler.run()
                return .scheduler
            }
            group.addTask {
                for await run in runs { await observe(run) }
                return .observer
            }
            group.addTask {
                do {
                    try await gracefulShutdown()
                    scheduler.finish()
                    try await Task.sleep(for: shutdownLimit)
                    return .limit
                } catch {
                    return .observer
                }
            }
            defer { group.cancelAll() }
            while let part = try await group.next() {
                switch part {
                case .scheduler: return
                case .limit:
                    logger.notice("a push or pull did not end in time: it is cancelled, and loses nothing")
                    group.cancelAll()
                case .observer: continue
                }
            }
        }
    }

    private func observe(_ run: SyncScheduler.Run) async {
        let status = try? await context.status()
        meters.count(run, status)
        var metadata: Logger.Metadata = ["next": "\(run.next)"]
        if let push = run.push {
            metadata["sent"] = "\(push.applied)"
            metadata["left"] = "\(push.remaining)"
        }
        for error in run.errors {
            var metadata = metadata
            metadata["error"] = "\(error)"
            if let table = error.table { metadata["table"] = "\(table)" }
            if let record = error.recordID { metadata["record"] = "\(record)" }
            if let operation = error.operationID { metadata["operation"] = "\(operation)" }
            logger.warning("a sync run failed", metadata: metadata)
        }
        if let first = run.failures.first, let failure = first.failure {
            metadata["failed"] = "\(run.failures.count)"
            metadata["error"] = "\(failure.code): \(failure.message)"
            metadata["table"] = "\(first.table)"
            metadata["record"] = "\(first.recordID)"
            metadata["operation"] = "\(first.id)"
            logger.warning("changes did not go through", metadata: metadata)
        }
        if run.failure == nil { logger.debug("a sync run ended", metadata: metadata) }
    }
}

/// Counts scheduled runs. Every label is from a small set; none holds a table's rows or a record's id.
struct RunMeters: Sendable {
    private let factory: any MetricsFactory

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Counts a finished run.
    ///
    /// - Parameter status: the current state of the queue; nil if the store could not be read.
    func count(_ run: SyncScheduler.Run, _ status: SyncStatus?) {
        let result = run.failure.map { $0.code.description } ?? "ok"
        counter("sluice.sync.runs", [("result", result)]).increment()
        let timer = Timer(label: "sluice.sync.run.duration", dimensions: [("result", result)], factory: factory)
        timer.recordNanoseconds(run.duration.wholeNanoseconds)
        for push in run.pushes {
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
