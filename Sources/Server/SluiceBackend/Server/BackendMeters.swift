public import CoreMetrics
internal import HTTPTypes
internal import SluiceCore

/// Counts what a listener does. Every label is from a small set; none holds a table, a record or a user.
struct BackendMeters: Sendable {
    private static let methods: Set = ["GET", "POST", "PUT", "PATCH", "DELETE"]

    private let factory: any MetricsFactory

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Counts a request that was answered.
    func count(_ head: HTTPRequest, _ status: HTTPResponse.Status, took: Duration) {
        let method = Self.methods.contains(head.method.rawValue) ? head.method.rawValue : "other"
        Counter(
            label: "sluice.backend.requests", dimensions: [("method", method), ("status", "\(status.code)")],
            factory: factory
        ).increment()
        Timer(label: "sluice.backend.request.duration", dimensions: [("method", method)], factory: factory)
            .recordNanoseconds(took.wholeNanoseconds)
    }

    /// Notes how many streams of changes are open.
    func note(streams: Int) { Gauge(label: "sluice.backend.streams", factory: factory).record(streams) }
}

/// The counters of a listener, and its answer to a request for the metrics.
public struct BackendMetrics: Sendable {
    /// The store of the metrics.
    public var factory: any MetricsFactory
    /// The answer to `GET /metrics`; nil where nothing is at that path.
    public var text: (@Sendable () -> String)?

    /// Metrics.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory, text: (@Sendable () -> String)? = nil) {
        self.factory = factory
        self.text = text
    }
}
