internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import ServiceLifecycle
internal import SluiceCore

/// A listener for a ``Backend``. Several may serve one backend, at the same time or one after the other.
///
/// When it ends, its port is free and its connections are closed: idle ones at once, busy ones after their answer (or
/// at once where the task is cancelled).
public struct BackendServer: Service {
    private let backend: Backend
    private let host: String
    private let port: Int
    private let logger: Logger
    private let metrics: BackendMetrics
    private let onListening: @Sendable (Int) async -> Void

    /// A listener.
    ///
    /// - Parameters:
    ///   - host: the address to listen on.
    ///   - port: the port; 0 is any free one.
    ///   - metrics: where requests are counted, and what `GET /metrics` answers.
    ///   - onListening: gets the port once connections are taken.
    public init(
        backend: Backend, host: String = "127.0.0.1", port: Int = 0, logger: Logger? = nil,
        metrics: BackendMetrics = BackendMetrics(), onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.backend = backend
        self.host = host
        self.port = port
        self.metrics = metrics
        self.onListening = onListening
        if let logger {
            self.logger = logger
        } else {
            self.logger = Logger(label: "sluice.backend") { _ in SwiftLogNoOpLogHandler() }
        }
    }

    /// Serves until the task is cancelled or a graceful shutdown begins.
    ///
    /// - Throws: ``SluiceError`` of code `network` where the address cannot be listened on.
    public func run() async throws {
        let meters = BackendMeters(metrics.factory)
        let streams = OpenStreams(meters)
        let status = StatusRoutes(
            readiness: Readiness(backend.served.database), streams: streams, metrics: metrics.text)
        let limits = backend.configuration.limits
        let application = Application(
            responder: BackendResponder(backend: backend, streams: streams, status: status, meters: meters),
            server: ConnectionLimits(limits).server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    limits.connections ?? BackendConfiguration.Limits.usualConnections, logger: logger)),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { [backend, logger] group in
                group.addTask {
                    await backend.sweep { error in
                        logger.warning("expired records not removed", metadata: ["error": "\(error)"])
                    }
                }
                group.addTask { await streams.beat(backend.served.signals) }
                defer { group.cancelAll() }
                // A stream has no end of its own, and the listener waits for the answers in progress.
                try await withGracefulShutdownHandler {
                    try await application.run()
                } onGracefulShutdown: {
                    streams.end()
                    backend.served.signals.beat()
                }
            }
        } catch is CancellationError {
        } catch let error as IOError {
            throw SluiceError(
                .network, "cannot listen on \(host):\(port); is another program using the port?", cause: error)
        } catch is ServiceGroupError where Task.isCancelled {
            // The listener's group reports a cancelled service as one that ended early.
        }
    }
}

extension Backend {
    /// Serves on `host` and `port` until the task is cancelled or a graceful shutdown begins; see ``BackendServer``.
    public func serve(
        host: String = "127.0.0.1", port: Int = 0, logger: Logger? = nil,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        try await BackendServer(backend: self, host: host, port: port, logger: logger, onListening: onListening).run()
    }
}
