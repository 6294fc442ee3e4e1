internal import AsyncHTTPClient
internal import CoreMetrics
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Sluice
internal import Synchronization

/// Spans waiting for export. The queue is bounded, so that an unreachable collector does not fill the memory: surplus
/// spans are dropped and counted.
final class SpanQueue: Sendable {
    private static let most = 4096

    private let metrics: any MetricsFactory
    private let spans = Mutex<[EndedSpan]>([])

    init(metrics: any MetricsFactory) { self.metrics = metrics }

    func add(_ span: EndedSpan) {
        let fits = spans.withLock { spans in
            guard spans.count < Self.most else { return false }
            spans.append(span)
            return true
        }
        if !fits { leftOut(1) }
    }

    /// Removes and returns the next spans, up to the given number.
    func take(_ count: Int) -> [EndedSpan] {
        spans.withLock { spans in
            let taken = Array(spans.prefix(count))
            spans.removeFirst(taken.count)
            return taken
        }
    }

    func leftOut(_ count: Int) {
        Counter(label: "sluice.daemon.spans.dropped", dimensions: [], factory: metrics).increment(by: count)
    }
}

/// Sends spans to a collector, as OTLP's JSON over HTTP (opentelemetry.io/docs/specs/otlp, section OTLP/HTTP).
struct SpanExport: Sendable {
    private static let interval = Duration.seconds(2)
    private static let most = 512

    let queue: SpanQueue
    private let address: String
    private let service: String
    private let logger: Logger

    /// Creates the export of the configuration; nil if it asks for none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address that is not valid.
    init?(_ values: SettingValues, logger: Logger, metrics: any MetricsFactory) throws {
        guard let address = values.text("tracing.endpoint") else { return nil }
        guard let parts = URLComponents(string: address), ["http", "https"].contains(parts.scheme), parts.host != nil
        else {
            throw SluiceError(
                .invalidArgument,
                "\(values.origin("tracing.endpoint")): tracing.endpoint is an address such as "
                    + "http://127.0.0.1:4318/v1/traces")
        }
        self.address = address
        service = values.text("tracing.service") ?? "sluice"
        self.logger = logger
        queue = SpanQueue(metrics: metrics)
    }

    /// Sends spans until the task is cancelled, and then the remaining ones.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { await flush() }
        // In this cancelled task the client would cancel its request too.
        await Task { await flush() }.value
    }

    private func flush() async {
        while true {
            let spans = queue.take(Self.most)
            guard !spans.isEmpty else { return }
            guard await send(spans) else {
                queue.leftOut(spans.count)
                return
            }
        }
    }

    /// Returns the OTLP document of the spans.
    func document(_ spans: [EndedSpan]) -> JSON {
        [
            "resourceSpans": [
                [
                    "resource": [
                        "attributes": [
                            ["key": "service.name", "value": ["stringValue": JSON(service)]],
                            ["key": "service.version", "value": ["stringValue": JSON(SluiceVersion.text)]],
                        ]
                    ],
                    "scopeSpans": [
                        [
                            "scope": ["name": "sluice", "version": JSON(SluiceVersion.text)],
                            "spans": JSON(spans.map(\.json)),
                        ]
                    ],
                ]
            ]
        ]
    }

    private func send(_ spans: [EndedSpan]) async -> Bool {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(document(spans).bytes())
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
            _ = try? await response.body.collect(upTo: 65_536)
            if (200..<300).contains(response.status.code) { return true }
            logger.warning("the collector refused spans", metadata: ["status": "\(response.status.code)"])
        } catch {
            logger.warning("spans were not exported", metadata: ["spans": "\(spans.count)"])
        }
        return false
    }
}
