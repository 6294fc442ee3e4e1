internal import ArgumentParser
internal import Logging
internal import ServiceLifecycle
internal import Sluice
internal import SluiceBackend
internal import SluiceDaemon
internal import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve tables from a SQLite or PostgreSQL database.",
        discussion: """
            Prints one line, "listening on http://HOST:PORT", once connections are taken; failures are lines on standard \
            error, with their cause. SIGTERM and SIGINT end it after the answers that are under way.
            """)

    @Option(help: ArgumentHelp("The backend's YAML file: its database and its tables.", valueName: "file"))
    var config: String

    @Option(
        help: ArgumentHelp(
            "The address to listen on, instead of the file's: 0.0.0.0 and :: are all of this machine's.",
            valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("The port; without it, or with 0, a free one.", valueName: "n"))
    var port = 0

    @Option(
        help: ArgumentHelp(
            "The database, instead of the file's: sqlite:PATH, postgres://..., or postgres:$VARIABLE for a URL in the "
                + "environment, where no list of processes shows its password.", valueName: "database"))
    var database: String?

    func run() async throws {
        guard (0...65535).contains(port) else { throw CommandFailure.usage("--port is 0 to 65535") }
        var configuration = try BackendConfiguration(file: config)
        if let database {
            configuration.database = try .init(database)
            configuration.replica = nil
        }
        if let host { configuration.host = host }
        let logger = Logger(label: "sluice.serve") { DaemonLogHandler(label: $0, level: .warning, form: .text) }
        let meters = MeterRegistry()
        let plugins = try await ServerPlugins(of: &configuration, logger: logger, metrics: meters)
        let backend = try await Backend(configuration, hooks: plugins.hooks, logger: logger)
        let following = Task { await plugins.follow() }
        defer { following.cancel() }
        if let count = backend.restoredRecords {
            StandardStream.tell(
                line: "the database is not the one that was served last: \(Plain.count(count, "record")) stamped anew")
        }
        do {
            try await serve(backend, meters, logger)
            try await backend.close()
        } catch {
            try? await backend.close()
            throw error
        }
    }

    private func serve(_ backend: Backend, _ meters: MeterRegistry, _ logger: Logger) async throws {
        let host = backend.configuration.host
        let text: @Sendable () -> String = { PrometheusText.of(meters) }
        let output = OutputLines()
        var server = BackendServer(
            backend: backend, host: host, port: port, logger: logger,
            metrics: BackendMetrics(meters, text: backend.configuration.metrics ? text : nil)
        ) { port in
            let place = host.contains(":") ? "[\(host)]" : host
            output.write("listening on http://\(place):\(port)")
        }
        server.pages = try FleetRoutes(backend, logger)?.pages
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: server)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
            try output.check()
        } catch let error as SluiceError where error.code == .network {
            throw CommandFailure.usage(error.message)
        }
    }
}
