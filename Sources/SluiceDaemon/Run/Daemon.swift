internal import CoreMetrics
internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Sluice
internal import UnixSignals

/// The daemon: what a configuration file describes, kept in step until the process is told to end.
///
/// A reload reads the configuration anew, opens and checks everything beside what serves, and then puts it in its place as
/// a whole. A configuration with a mistake changes nothing, and `status` says what is wrong.
public actor Daemon: Service {
    let source: SettingsSource
    let logger: Logger
    let meters: MeterRegistry
    let manager: ServiceManager
    let instruments: Instruments
    private let spans: SpanExport?
    let started = SyncEnvironment.system.now()
    var serving: Serving
    /// What served before, while it ends.
    private var leaving: Serving?
    private var hasEnded = false
    /// Why the newest configuration does not serve; nil if it does.
    var refusal: (message: String, at: Timestamp)?
    var isPaused = false
    var isDraining = false
    private var isReloading = false
    private var holds: [String: Holding] = [:]
    private let ended: AsyncStream<any Error>
    private let end: AsyncStream<any Error>.Continuation

    /// Holds a store as long as it lives.
    private final class Holding: Sendable {
        let hold: StoreHold
        init(_ hold: consuming StoreHold) { self.hold = hold }
    }

    /// Reads a configuration file, takes the stores, and loads the plugins. Nothing is synced before ``run()``.
    ///
    /// - Throws: ``SluiceError``: what is wrong with the configuration, with its place; of code `storeBusy` where
    ///   another daemon has a store.
    public init(configuration path: String, logger: Logger) async throws {
        try await self.init(SettingsSource(path: path), logger: logger)
    }

    /// Reads the configuration, takes the stores, and loads the plugins. Nothing is synced before ``run()``.
    ///
    /// - Throws: ``SluiceError``: what is wrong with the configuration, with its place; of code `storeBusy` where
    ///   another daemon has a store.
    package init(_ source: SettingsSource, logger: Logger, meters: MeterRegistry = MeterRegistry()) async throws {
        self.source = source
        self.logger = logger
        self.meters = meters
        manager = ServiceManager(source.environment)
        (ended, end) = AsyncStream.makeStream()
        let (file, settings) = try source.read()
        var holds: [String: Holding] = [:]
        let values = SettingValues(settings, environment: source.environment)
        var first: String?
        for name in settings.endpoints {
            let client = try ClientSettings(file, settings, endpoint: name, environment: source.environment)
            let store = try client.requireStore()
            guard holds[store] == nil else { continue }
            holds[store] = Holding(
                try Self.hold(store, of: name, source, socket: try ControlAddress.path(values, store: first ?? store)))
            first = first ?? store
        }
        self.holds = holds
        let inspection = values.number("inspector.port").map { _ in Inspection(values) }
        spans = try SpanExport(values, logger: logger, metrics: meters)
        instruments = Instruments(
            logger: logger, metrics: meters, inspection: inspection, tracer: spans.map { ExportTracer(queue: $0.queue) }
        )
        serving = try await Serving.build(source, instruments)
    }

    private static func hold(
        _ store: String, of endpoint: String, _ source: SettingsSource, socket: String
    ) throws -> StoreHold {
        try StoreHold(
            store: store,
            .init(
                process: Int(getpid()), configuration: absolute(source.path), socket: absolute(socket),
                endpoint: endpoint))
    }

    /// The path from the root, for those who read it in another folder.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/")
            ? path : (FileManager.default.currentDirectoryPath as NSString).appendingPathComponent(path)
    }

    /// Syncs and serves until a graceful shutdown or the task's cancellation.
    ///
    /// - Throws: ``SluiceError`` where a socket or port cannot be listened on, or a store cannot be used any more.
    public func run() async throws {
        let listeners = try Listeners(self, SettingValues(serving.settings, environment: source.environment), serving)
        for installation in serving.installations { installation.start { [end] in end.yield($0) } }
        do {
            try await withThrowingTaskGroup(of: Part.self) { group in
                for listener in listeners.all {
                    group.addTask {
                        try await listener.run()
                        return .listener
                    }
                }
                group.addTask { [ended] in
                    for await error in ended { throw error }
                    return .other
                }
                for work in [followSignals, followFiles, feedWatchdog, announceEnd, takeFigures, exportSpans] {
                    group.addTask {
                        await work()
                        return .other
                    }
                }
                group.addTask {
                    await listeners.ready()
                    await self.begin()
                    return .other
                }
                defer { group.cancelAll() }
                // The listeners end at a shutdown, after the answers in progress; then nothing else is waited for.
                var open = listeners.all.count
                while open > 0, let part = try await group.next() { if part == .listener { open -= 1 } }
            }
        } catch is CancellationError {
        } catch {
            await stop()
            throw error
        }
        await stop()
    }

    private func exportSpans() async { await spans?.run() }

    private func takeFigures() async { await instruments.inspection?.figures.follow(self) }

    private enum Part: Sendable { case listener, other }

    private func announceEnd() async {
        if (try? await gracefulShutdown()) != nil { manager.stopping() }
    }

    private func begin() {
        manager.ready(statusLine)
        logger.notice("the daemon runs", metadata: ["configuration": "\(source.path)"])
    }

    private func stop() async {
        logger.notice("the daemon ends")
        hasEnded = true
        // What a reload has put out of service gets its time too.
        await leaving?.stop()
        await serving.stop()
        holds = [:]
    }

    private var statusLine: String {
        let count = serving.installations.count
        return isPaused ? "paused" : "syncing \(count == 1 ? "one endpoint" : "\(count) endpoints")"
    }

    // MARK: Reload

    /// Puts the configuration as it is now in the place of the one that serves.
    ///
    /// - Throws: ``SluiceError`` with what is wrong; what served before goes on.
    func reload() async throws {
        guard !isReloading else { throw SluiceError(.operationRefused, "a reload is under way already") }
        isReloading = true
        manager.reloading()
        defer {
            isReloading = false
            manager.ready(statusLine)
        }
        do {
            let (_, settings) = try source.read()
            for key in Setting.all.map(\.key) where Self.isFixed(key) {
                guard settings.value(key)?.texts == serving.settings.value(key)?.texts else {
                    throw SluiceError(
                        .invalidArgument,
                        "\(settings.value(key)?.origin.description ?? source.path): \(key) has changed; "
                            + "it takes effect with a restart only")
                }
            }
            let next = try await Serving.build(source, instruments)
            do {
                try holdNew(next)
            } catch {
                for installation in next.installations { try? await installation.session.close() }
                throw error
            }
            let old = serving
            // The gateway answers from the new one at once; its schedule begins when the old one's last run is over.
            (serving, leaving) = (next, old)
            await old.stop()
            leaving = nil
            if hasEnded { return }
            for installation in next.installations {
                installation.gate.isPaused = isPaused
                installation.start { [end] in end.yield($0) }
            }
            for store in holds.keys where !next.stores.contains(store) { holds[store] = nil }
            refusal = nil
            meters.set("sluice.daemon.configuration.refused", 0)
            count(reload: "ok")
            logger.notice("the configuration was loaded anew")
        } catch {
            let message = CommandText.reason(error)
            refusal = (message, SyncEnvironment.system.now())
            meters.set("sluice.daemon.configuration.refused", 1)
            count(reload: "refused")
            logger.error(
                "the configuration was not loaded; the one from before serves", metadata: ["error": "\(message)"])
            throw error
        }
    }

    /// Listeners are made once: their settings need a restart.
    private static func isFixed(_ key: String) -> Bool {
        key.hasPrefix("control.") || key.hasPrefix("gateway.") || key.hasPrefix("inspector.") || key.hasPrefix("log.")
            || key.hasPrefix("tracing.") || key == "watch"
    }

    private func holdNew(_ next: Serving) throws {
        let values = SettingValues(next.settings, environment: source.environment)
        for installation in next.installations {
            guard let store = installation.session.settings.store, holds[store] == nil else { continue }
            let socket = try ControlAddress.path(values, store: serving.stores.first ?? store)
            holds[store] = Holding(try Self.hold(store, of: installation.name, source, socket: socket))
        }
    }

    private func count(reload result: String) {
        Counter(label: "sluice.daemon.reloads", dimensions: [("result", result)], factory: meters).increment()
    }

    // MARK: What else happens

    private func followSignals() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            try? await reload()
        }
    }

    /// Loads files that changed, once they have not changed for a second.
    private func followFiles() async {
        guard SettingValues(serving.settings, environment: source.environment).flag("watch") else { return }
        var loaded = source.fingerprint()
        var seen = loaded
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let now = source.fingerprint()
            if now == seen, now != loaded {
                loaded = now
                try? await reload()
            }
            seen = now
        }
    }

    private func feedWatchdog() async {
        guard let interval = manager.watchdogInterval else { return }
        while !Task.isCancelled {
            // It comes by way of this actor: a daemon that hangs feeds no watchdog.
            manager.watchdog()
            guard (try? await Task.sleep(for: interval)) != nil else { return }
        }
    }
}
