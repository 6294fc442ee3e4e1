import HTTPTypes
import InMemoryTracing
import Logging
import MetricsTestKit
import ServiceLifecycle
import Sluice
import SluiceService
import SluiceTesting
import Synchronization
import Testing
import Tracing

@Suite(.timeLimit(.minutes(10))) struct SyncServiceTests {
    /// Keeps the warnings that are logged.
    struct Warnings: LogHandler {
        final class Kept: Sendable {
            let all = Mutex<[Logger.Metadata]>([])
        }
        let kept: Kept
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { kept.all.withLock { $0.append(event.metadata ?? [:]) } }
    }

    /// A service over a store in memory, run by a group as a host would.
    struct Host {
        let server = ModelServer()
        let store = MemoryStore()
        let metrics = TestMetrics()
        let tracer = InMemoryTracer()
        let warnings = Warnings.Kept()
        let context: SyncContext
        let service: SyncService
        let group: ServiceGroup

        init(shutdownLimit: Duration = .seconds(10), store: MemoryStore = MemoryStore(), server: ModelServer? = nil)
            async throws
        {
            let server = server ?? self.server
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, filters: RequestSpans.filters(tracer))
            context = try await SyncContext(client: client, store: store)
            let logger = Logger(label: "test") { [warnings] _ in Warnings(kept: warnings) }
            service = SyncService(
                context,
                SyncSchedule(
                    pulls: [.init(TableQuery("todos"), named: "all")], changeDelay: .milliseconds(1), spread: .zero),
                logger: logger, metrics: metrics, tracer: tracer, shutdownLimit: shutdownLimit)
            group = ServiceGroup(services: [service], logger: logger)
        }

        /// Runs the group while `body` runs, and then shuts it down as a signal would.
        func running(_ body: () async throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await body()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }

        func until(_ condition: () async throws -> Bool) async throws {
            while try await !condition() { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test("a write goes out, rows come in, and both are counted")
    func syncs() async throws {
        let host = try await Host()
        host.server.seed("todos", [["id": "s", "text": "of the server"]])
        try await host.running {
            try await host.context.table("todos").insert(["id": "a", "text": "of the device"])
            try await host.until { try await host.context.status().pending == 0 }
            try await host.until { try await host.context.table("todos").lookup(id: "s") != nil }
            try await host.until { !host.service.isQuiet(host.metrics) }
        }
        #expect(host.server.rows("todos").count == 2)
        #expect(try host.metrics.expectCounter("sluice.sync.operations", [("outcome", "applied")]).totalValue == 1)
        #expect(try host.metrics.expectCounter("sluice.sync.rows", [("change", "stored")]).totalValue >= 1)
    }

    @Test(
        "a run whose operations failed is counted and logged with the reason, not as a success", arguments: [507, 409])
    func failedOperations(status: Int) async throws {
        let host = try await Host()
        host.server.onRequest { $0.head.method == .post ? .answer(.json(status, "")) : .none }
        try await host.context.table("todos").insert(["id": "a"])
        try await host.running {
            try await host.until { host.warnings.all.withLock { !$0.isEmpty } }
        }
        let warning = try #require(host.warnings.all.withLock { $0.first })
        #expect(warning["record"] == "a" && warning["failed"] == "1", "\(warning)")
        let failed = try host.metrics.expectCounter("sluice.sync.operations", [("outcome", "failed")])
        #expect(failed.totalValue >= 1)
        let code = "\(warning["error"] ?? "")".prefix { $0 != ":" }
        #expect(try host.metrics.expectCounter("sluice.sync.runs", [("result", String(code))]).totalValue >= 1)
    }

    @Test("a request under way ends before the service does")
    func endsRequest() async throws {
        let host = try await Host()
        let (began, gate) = (Gate(), Gate())
        host.server.onRequest { request in
            guard request.head.method == .post else { return .none }
            began.open()
            await gate.passed()
            return .none
        }
        try await host.running {
            try await host.context.table("todos").insert(["id": "a"])
            await began.passed()
            Task {
                try await Task.sleep(for: .milliseconds(100))
                gate.open()
            }
        }
        #expect(try await host.context.queue.operations().isEmpty)
        #expect(host.server.rows("todos").count == 1)
    }

    @Test("a request that does not end is abandoned, and the next service sends it once")
    func abandonsRequest() async throws {
        let store = MemoryStore()
        let first = try await Host(shutdownLimit: .milliseconds(50), store: store)
        let began = Gate()
        // The server does what it is asked, and its answer never arrives.
        first.server.onRequest { request in
            guard request.head.method == .post else { return .none }
            began.open()
            try? await Task.sleep(for: .seconds(600))
            return .loseAnswer
        }
        try await first.running {
            try await first.context.table("todos").insert(["id": "a", "text": "kept"])
            await began.passed()
        }
        #expect(try await first.context.queue.operations().count == 1)
        first.server.onRequest { _ in .none }
        let second = try await Host(store: store, server: first.server)
        try await second.running { try await second.until { try await second.context.queue.operations().isEmpty } }
        #expect(first.server.rows("todos").values.map { $0["text"]?.string } == ["kept"])
    }

    @Test("push, operation and request are spans of one trace, which goes on at the server")
    func spans() async throws {
        let host = try await Host()
        let trace = Trace()
        host.server.onRequest { request in
            if request.head.method == .post {
                trace.fields.withLock { $0 = request.head.headerFields.map(\.name.rawName) }
            }
            return .none
        }
        try await host.running {
            try await host.context.table("todos").insert(["id": "a"])
            try await host.until { try await host.context.status().pending == 0 }
        }
        let spans = host.tracer.finishedSpans
        let request = try #require(spans.first { $0.operationName == "HTTP POST" })
        let operation = try #require(spans.first { $0.spanID == request.parentSpanID })
        #expect(operation.operationName == "sluice insert")
        #expect(operation.attributes.get("sluice.record") == .string("a"))
        let push = try #require(spans.first { $0.spanID == operation.parentSpanID })
        #expect(push.operationName == "sluice push")
        #expect(push.traceID == request.traceID)
        #expect(trace.fields.withLock { $0 }.contains { $0.hasPrefix("in-memory-trace") })
    }
}
