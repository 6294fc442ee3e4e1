internal import CoreMetrics
internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Sluice
internal import SluicePolicy
internal import UnixSignals

/// The daemon: syncs the endpoints of a configuration file until the process is told to end.
///
/// A reload reads the configuration again, opens and checks the new endpoints next to the serving ones, and then
/// replaces them as a whole. A configuration with a mistake changes nothing, and `status` reports the mistake.
public actor Daemon: Service {
    let source: SettingsSource
    let logger: Logger
    let meters: MeterRegistry
    let manager: ServiceManager
    let instruments: Instruments
    private let spans: SpanExport?
    let started = SyncEnvironment.system.now()
    /// The serving endpoints; none is open while the daemon starts.
    var serving: Serving
    /// The previous endpoints, while they end.
    private var leaving: Serving?
    /// Opens the first configuration's endpoints.
    private var opening: Task<Void, any Error>?
    private var hasEnded = false
    /// The reason that the newest configuration does not serve; nil if it does.
    var refusal: (message: String, at: Timestamp)?
    var isPaused = false
    var isDraining = false
    private var isReloading = false
    private var holds: [String: Holding] = [:]
    /// The claims to the policies' folders.
    private var claims: [PolicyFolderClaim] = []
    private let ended: AsyncStream<any Error>
    private let end: AsyncStream<any Error>.Continuation

    /// Keeps a store's hold for the lifetime of the object.
    private final class Holding: Sendable {
        let hold: StoreHold
        init(_ hold: consuming StoreHold) { self.hold = hold }
    }

    /// Reads a configuration file and claims the stores. They are opened by ``run()``.
    ///
    /// - Throws: ``SluiceError`` with the place of a mistake in the configuration; of code `storeBusy` if another
    ///   daemon holds a store.
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
        for folder in plan.policyFolders { claims.append(try PolicyFolder(folder).claim(process: Int(getpid()))) }
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

    /// Returns the absolute path, for programs in another working folder.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/")
            ? path : (FileManager.default.currentDirectoryPath as NSString).appendingPathComponent(path)
    }

    /// Opens the stores, loads the plugins, and syncs and serves until a graceful shutdown or the task's cancellation.
    /// The control socket answers from the beginning, also while an endpoint waits for a token or a plugin.
    ///
    /// - Throws: ``SluiceError`` for a store, plugin or token that cannot be used, for a socket or port that is taken,
    ///   and for a store that fails later.
    public func run() async throws {
        let listeners = try Listeners(self, serving.plan)
        let starting = Task {
            await listeners.ready()
            try await open()
        }
        opening = starting
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
                // A start that waits for a listener that cannot listen would wait forever, and the group for it.
                defer {
                    starting.cancel()
                    group.cancelAll()
                }
                // The listeners end at a shutdown, after the answers in progress. Nothing else needs waiting for.
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
        // The endpoints that a reload replaced get their time to end too.
        await leaving?.stop()
        await serving.stop()
        (holds, claims) = ([:], [])
    }

    private var statusLine: String {
        let count = serving.installations.count
        return isPaused ? "paused" : "syncing \(count == 1 ? "one endpoint" : "\(count) endpoints")"
    }

    // MARK: Reload

    /// Replaces the serving configuration with the file's current one.
    ///
    /// - Returns: the changed permissions of plugins, a line for each.
    /// - Throws: ``SluiceError`` for a mistake in the configuration; the previous one continues to serve.
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
            // The gateway uses the new installation at once; its schedule begins after the old one's last run.
            (serving, leaving) = (next, old)
            await old.stop()
            leaving = nil
            let changes = next.permissionChanges(since: old)
            if hasEnded { return changes }
            start(next)
            for store in holds.keys where !plan.stores.contains(store) { holds[store] = nil }
            claims.removeAll { claim in !plan.policyFolders.contains { claim.isIn($0) } }
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
            || key.hasPrefix("tracing.") || key == "metrics.port" || key == "watch"
    }

    /// Claims the stores and the policies' folders that are not held yet, and those that lost their hold because its file
    /// was removed.
    private func hold(_ plan: ServingPlan) throws {
        for endpoint in plan.endpoints where holds[endpoint.store]?.hold.isInPlace != true {
            holds[endpoint.store] = Holding(
                try Self.hold(endpoint.store, of: endpoint.name, source, socket: serving.plan.listening.control))
        }
        for folder in plan.policyFolders where !claims.contains(where: { $0.isIn(folder) }) {
            claims.append(try PolicyFolder(folder).claim(process: Int(getpid())))
        }
    }

    /// Opens a session with the file that is now at a store's path, and for the user whose token it is now. Operations
    /// pending in a moved file stay in it, and those of an earlier user are held.
    private func reopen(_ old: Installation) async {
        guard !isReloading, !hasEnded, serving.installations.contains(where: { $0 === old }) else { return }
        isReloading = true
        defer { isReloading = false }
        do {
            try hold(serving.plan)
            let next = try await Installation.open(old.endpoint, instruments)
            serving = serving.replacing(old, with: next)
            // The old installation ends in a task of its own, because the caller is one of its tasks.
            Task { await old.stop() }
            start(next)
            logger.warning(
                old.session.isInPlace
                    ? "the token is of another user now: the changes of the former one are held until that one is back (if it was only renewed, name the user in the configuration)"
                    : "another file was put in the place of the store: it was opened, and what waits in the former one stays in it",
                metadata: ["store": "\(old.endpoint.store)"])
        } catch {
            logger.error(
                old.session.isInPlace
                    ? "the token is of another user now, for whom the store cannot be opened"
                    : "another file was put in the place of the store, and cannot be opened",
                metadata: ["store": "\(old.endpoint.store)", "error": "\(CommandText.reason(error))"])
        }
    }

    private func count(reload result: String) {
        Counter(label: "sluice.daemon.reloads", dimensions: [("result", result)], factory: meters).increment()
    }

    // MARK: Signals and timers

    private func followSignals() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            _ = try? await reload()
        }
    }

    /// Reloads after a change of the files, once they have been stable for a second.
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
            // The call goes through this actor, so that a hanging daemon does not feed the watchdog.
            manager.watchdog()
            guard (try? await Task.sleep(for: interval)) != nil else { return }
        }
    }
}
