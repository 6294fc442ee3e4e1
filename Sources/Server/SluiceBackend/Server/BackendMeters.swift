public import CoreMetrics
internal import HTTPTypes
internal import SluiceCore

/// Counts the requests and streams of a listener. Every label is from a small set; none contains a table, a record or a
/// user.
struct BackendMeters: Sendable {
    private static let methods: Set = ["GET", "POST", "PUT", "PATCH", "DELETE"]

    private let factory: any MetricsFactory

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Counts an answered request.
    func count(_ head: HTTPRequest, _ status: HTTPResponse.Status, took: Duration) {
        let method = Self.methods.contains(head.method.rawValue) ? head.method.rawValue : "other"
        Counter(
            label: "sluice.backend.requests", dimensions: [("method", method), ("status", "\(status.code)")],
            factory: factory
        ).increment()
        Timer(label: "sluice.backend.request.duration", dimensions: [("method", method)], factory: factory)
            .recordNanoseconds(took.wholeNanoseconds)
    }

    /// Records the number of open change streams.
    func note(streams: Int) { Gauge(label: "sluice.backend.streams", factory: factory).record(streams) }
}

/// The counters of a listener, and its answer to a request for the metrics.
public struct BackendMetrics: Sendable {
    /// The store of the metrics.
    public var factory: any MetricsFactory
    /// The answer to `GET /metrics`; nil if the path is not served.
    public var text: (@Sendable () -> String)?

    /// Creates metrics.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory, text: (@Sendable () -> String)? = nil) {
        self.factory = factory
        self.text = text
    }
}
