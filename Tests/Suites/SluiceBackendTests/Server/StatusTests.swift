import CoreMetrics
import HTTPTypes
import Logging
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend

@Suite struct StatusTests {
    /// Keeps what is logged.
    private struct Lines: LogHandler {
        final class Kept: Sendable {
            let lines = Mutex<[String]>([])
        }
        let kept: Kept
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            kept.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    private func status(_ backend: Backend, _ path: String, metrics: (@Sendable () -> String)? = nil) async
        -> SyncResponse?
    {
        let routes = StatusRoutes(
            readiness: Readiness(backend.served.database),
            streams: OpenStreams(BackendMeters(NOOPMetricsHandler.instance)), metrics: metrics)
        return await routes.reply(to: HTTPRequest(method: .get, scheme: "http", authority: "a", path: path))
    }

    @Test("a balancer hears whether the process answers, and whether it can serve")
    func health() async throws {
        let backend = try await BackendFixture.empty().backend
        #expect(await status(backend, "/health")?.status == 200)
        #expect(await status(backend, "/ready?x=1")?.status == 200)
        #expect(await status(backend, "/metrics") == nil)
        #expect(await status(backend, "/tables/t") == nil)
        let text = await status(backend, "/metrics") { "a 1\n" }
        #expect(text.map { String(decoding: $0.body.bytes, as: UTF8.self) } == "a 1\n")
        try await backend.close()
        #expect(await status(backend, "/health")?.status == 200)
        #expect(await status(backend, "/ready")?.status == 503)
    }

    @Test("a failure is a line of the log with its cause, and no client is told it")
    func failures() async throws {
        let kept = Lines.Kept()
        let backend = try await Backend(
            BackendConfiguration(database: TestDatabase.make(), tables: [.init("t")]),
            logger: Logger(label: "t") { _ in Lines(kept: kept) })
        _ = try await backend.served.database.write { connection in
            try connection.run("ALTER TABLE t RENAME TO gone")
        }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/tables/t?$filter=id eq 'secret'")
        let answer = await backend.respond(to: SyncRequest(head))
        let lines = kept.lines.withLock { $0 }
        #expect(answer.status == 500 && lines.count == 1)
        let line = lines.first ?? ""
        #expect(line.contains("/tables/t") && !line.contains("secret"), "\(line)")
        #expect(line.contains(TestDatabase.isSQLite ? "no such table" : "42P01"), "\(line)")
        #expect(!String(decoding: answer.body.bytes, as: UTF8.self).contains("gone"))
        try await backend.close()
    }
}
