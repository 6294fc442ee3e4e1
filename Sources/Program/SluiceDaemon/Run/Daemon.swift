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
    /// The part that serves; nothing of it is open while the daemon starts.
    var serving: Serving
    /// What served before, while it ends.
    private var leaving: Serving?
    /// Opens what serves first.
    private var opening: Task<Void, any Error>?
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

    /// Reads a configuration file and takes the stores. Nothing is opened before ``run()``.
    ///
    /// - Throws: ``SluiceError``: what is wrong with the configuration, with its place; of code `storeBusy` where
    ///   another daemon has a store.
    public init(configuration path: String, logger: Logger) async throws {
        try await self.init(SettingsSource(path: path), logger: logger)
    }

    /// As ``init(configuration:logger:)``.
    package init(_ source: SettingsSource, logger: Logger, meters: MeterRegistry = MeterRegistry()) async throws {
        self.source = source
        self.logger = logger
        self.meters = meters
        manager = ServiceManager(source.environment)
        (ended, end) = AsyncStream.makeStream()
        let plan = try ServingPlan(source)
        let inspection = plan.values.number("inspector.port").map { _ in Inspection(plan.values) }
        spans = try SpanExport(plan.values, logger: logger, metrics: meters)
        instruments = Instruments(
            logger: logger, metrics: meters, inspection: inspection, tracer: spans.map { ExportTracer(queue: $0.queue) }
        )
        for endpoint in plan.endpoints {
            holds[endpoint.store] = Holding(
                try Self.hold(endpoint.store, of: endpoint.name, source, socket: plan.listening.control))
        }
        serving = Serving(plan)
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

    /// Opens the stores, loads the plugins, and syncs and serves until a graceful shutdown or the task's cancellation. It
    /// can be asked from the beginning, also while an endpoint waits for a token or a plugin.
    ///
    /// - Throws: ``SluiceError``: what is wrong with a store, a plugin or a token; where a socket or port cannot be
    ///   listened on, or a store cannot be used any more.
    public func run() async throws {
        let listeners = try Listeners(self, serving.plan)
        opening = Task {
            await listeners.ready()
            try await open()
        }
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
                    try await self.opened()
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
        guard (try? await gracefulShutdown()) != nil else { return }
        manager.stopping()
        opening?.cancel()
        serving.finish()
        leaving?.finish()
    }

    /// Waits until the configuration serves.
    func opened() async throws { try await opening?.value }

    private func open() async throws {
        try Task.checkCancellation()
        let first = try await Serving.open(serving.plan, instruments)
        serving = first
        start(first)
        manager.ready(statusLine)
        logger.notice("the daemon runs", metadata: ["configuration": "\(source.path)"])
    }

    private func start(_ serving: Serving) { for installation in serving.installations { start(installation) } }

    private func start(_ installation: Installation) {
        installation.gate.isPaused = isPaused
        installation.start { [end] in
            end.yield($0)
        } replaced: { [weak self] in
            await self?.reopen($0)
        }
    }

    private func stop() async {
        logger.notice("the daemon ends")
        hasEnded = true
        opening?.cancel()
        _ = await opening?.result
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
    /// - Returns: which permissions of plugins are others now, a line each.
    /// - Throws: ``SluiceError`` with what is wrong; what served before goes on.
    @discardableResult
    func reload() async throws -> [String] {
        try await opened()
        guard !isReloading else { throw SluiceError(.operationRefused, "a reload is under way already") }
        isReloading = true
        manager.reloading()
        defer {
            isReloading = false
            manager.ready(statusLine)
        }
        do {
            let plan = try ServingPlan(source)
            for key in Setting.all.map(\.key) where Self.isFixed(key) {
                guard plan.settings.value(key)?.texts == serving.plan.settings.value(key)?.texts else {
                    throw SluiceError(
                        .invalidArgument,
                        "\(plan.settings.value(key)?.origin.description ?? source.path): \(key) has changed; "
                            + "it takes effect with a restart only")
                }
            }
            let next = try await Serving.open(plan, instruments)
            do {
                try hold(plan)
            } catch {
                for installation in next.installations { try? await installation.session.close() }
                throw error
            }
            let old = serving
            // The gateway answers from the new one at once; its schedule begins when the old one's last run is over.
            (serving, leaving) = (next, old)
            await old.stop()
            leaving = nil
            let changes = PermissionChanges.lines(from: old, to: next)
            if hasEnded { return changes }
            start(next)
            for store in holds.keys where !plan.stores.contains(store) { holds[store] = nil }
            refusal = nil
            meters.set("sluice.daemon.configuration.refused", 0)
            count(reload: "ok")
            logger.notice("the configuration was loaded anew")
            for change in changes { logger.notice("\(change)") }
            return changes
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

    /// Takes the stores that are not held yet; also one whose hold went away with the files beside it.
    private func hold(_ plan: ServingPlan) throws {
        for endpoint in plan.endpoints where holds[endpoint.store]?.hold.isInPlace != true {
            holds[endpoint.store] = Holding(
                try Self.hold(endpoint.store, of: endpoint.name, source, socket: serving.plan.listening.control))
        }
    }

    /// Puts the store that now is at an endpoint's path in the place of the one that was there. What waited in the former
    /// file waits in it: it is wherever somebody has moved it.
    private func reopen(_ old: Installation) async {
        guard !isReloading, !hasEnded, serving.installations.contains(where: { $0 === old }) else { return }
        isReloading = true
        defer { isReloading = false }
        do {
            try hold(serving.plan)
            let next = try await Installation.open(old.endpoint, instruments)
            serving = serving.replacing(old, with: next)
            // It ends beside: the one that reports the replacement is a part of it.
            Task { await old.stop() }
            start(next)
            logger.warning(
                "another file was put in the place of the store: it was opened, and what waits in the former one stays in it",
                metadata: ["store": "\(old.endpoint.store)"])
        } catch {
            logger.error(
                "another file was put in the place of the store, and cannot be opened",
                metadata: ["store": "\(old.endpoint.store)", "error": "\(CommandText.reason(error))"])
        }
    }

    private func count(reload result: String) {
        Counter(label: "sluice.daemon.reloads", dimensions: [("result", result)], factory: meters).increment()
    }

    // MARK: What else happens

    private func followSignals() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            _ = try? await reload()
        }
    }

    /// Loads files that changed, once they have not changed for a second.
    private func followFiles() async {
        guard serving.plan.values.flag("watch") else { return }
        var loaded = source.fingerprint()
        var seen = loaded
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let now = source.fingerprint()
            if now == seen, now != loaded {
                loaded = now
                _ = try? await reload()
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
