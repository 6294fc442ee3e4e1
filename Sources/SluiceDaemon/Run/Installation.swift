internal import Foundation
internal import Sluice
internal import SluiceLua
internal import SluiceService
internal import Synchronization

/// One endpoint at work: its store, its plugins and its schedule, for as long as one configuration serves.
final class Installation: Sendable {
    let session: ClientSession
    let gate: ScheduleGate
    let service: SyncService
    private let followsNetwork: Bool
    private let followers: [ChangeFollower]
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// How many requests of the gateway are under way, and whether no more are taken.
    private let requests = Mutex<(count: Int, isEnding: Bool)>((0, false))
    /// The last run that ended, and the last that sent something.
    private let last = Mutex<(run: ScheduledRun?, sent: ScheduledRun?)>((nil, nil))

    var name: String { session.settings.name }
    var lastRun: ScheduledRun? { last.withLock { $0.run } }
    var lastSent: ScheduledRun? { last.withLock { $0.sent } }

    /// Opens an endpoint's store, loads its plugins and runs their fixtures. Nothing is synced yet.
    static func open(
        _ settings: ClientSettings, _ values: SettingValues, _ instruments: Instruments
    ) async throws -> Installation {
        var windows: [DayWindow] = []
        for text in values.list("schedule.windows") ?? [] {
            guard let window = DayWindow(text) else {
                throw SluiceError(
                    .invalidArgument,
                    "\(values.origin("schedule.windows")): schedule.windows cannot be \(text); use HH:MM-HH:MM")
            }
            windows.append(window)
        }
        let gate = ScheduleGate(windows: windows)
        var additions = ClientSession.Additions()
        additions.logger = instruments.logger
        additions.metrics = instruments.metrics
        additions.scheduleHooks = [gate]
        additions.runsFixtures = true
        if let inspection = instruments.inspection {
            additions.keepsInputs = true
            additions.filters.append(inspection.timeline.filter(endpoint: settings.name))
        }
        if let tracer = instruments.tracer { additions.filters += RequestSpans.filters(tracer) }
        let session = try await ClientSession.open(
            settings, usesNetwork: true, asksPlugins: true, makesStore: true, additions)
        let schedule = SyncSchedule(values, pulls: settings.pulls)
        var followers: [ChangeFollower] = []
        if values.flag("schedule.on-event"), let client = session.context.client {
            followers = Set(settings.pulls.map(\.query.table)).sorted().map { table in
                ChangeFollower(
                    client: client, http: session.transport.client, table: table, spread: schedule.spread,
                    environment: session.context.options.environment, logger: instruments.logger)
            }
        }
        return Installation(
            session, gate,
            SyncService(
                session.context, schedule, logger: instruments.logger, metrics: instruments.metrics,
                tracer: instruments.tracer,
                shutdownLimit: values.duration("shutdown-time")),
            followsNetwork: values.flag("schedule.on-network"), followers)
    }

    private init(
        _ session: ClientSession, _ gate: ScheduleGate, _ service: SyncService, followsNetwork: Bool,
        _ followers: [ChangeFollower]
    ) {
        (self.session, self.gate, self.service) = (session, gate, service)
        (self.followsNetwork, self.followers) = (followsNetwork, followers)
    }

    /// Starts the schedule.
    ///
    /// - Parameter failed: gets what ended the schedule against its will.
    func start(_ failed: @escaping @Sendable (any Error) -> Void) {
        let runs = service.scheduler.runs
        let work = Task { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    for await run in runs {
                        last.withLock { $0 = (run, run.push?.applied ?? 0 > 0 ? run : $0.sent) }
                    }
                }
                if let plugins = session.plugins {
                    group.addTask { [self] in await plugins.tell(of: session.context) }
                }
                if let path = session.settings.store {
                    group.addTask { [self] in
                        await OtherWrites(path: path, context: session.context).follow { [self] in
                            service.scheduler.changed()
                        }
                    }
                }
                for follower in followers {
                    group.addTask { [self] in
                        // What changed while there was no stream is pulled first, spread over many devices.
                        await follower.follow { [self] in
                            service.scheduler.networkAvailable()
                        } changed: { [self] in
                            service.scheduler.serverChanged()
                        }
                    }
                }
                if followsNetwork {
                    group.addTask { [self] in
                        await NetworkChanges.follow { [self] in service.scheduler.networkAvailable() }
                    }
                }
                do { try await service.run() } catch { if !Task.isCancelled { failed(error) } }
                group.cancelAll()
            }
        }
        task.withLock { $0 = work }
    }

    /// Answers a request of the gateway; nil once the installation ends, and then another one answers it.
    func serve(_ answer: () async -> LocalReply) async -> LocalReply? {
        let isTaken = requests.withLock { state in
            if !state.isEnding { state.count += 1 }
            return !state.isEnding
        }
        guard isTaken else { return nil }
        defer { requests.withLock { $0.count -= 1 } }
        return await answer()
    }

    /// Ends the schedule: the push or pull that is under way gets its time, then it is cancelled. The store is closed, after
    /// the gateway's requests that are under way.
    func stop() async {
        requests.withLock { $0.isEnding = true }
        service.scheduler.finish()
        let work = task.withLock { $0 }
        let limit = Task { [service] in
            try await Task.sleep(for: service.shutdownLimit)
            work?.cancel()
        }
        await work?.value
        limit.cancel()
        let end = ContinuousClock.now + service.shutdownLimit
        while requests.withLock({ $0.count > 0 }), ContinuousClock.now < end {
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { break }
        }
        try? await session.close()
    }

    /// Starts a run and waits for its end.
    func syncNow() async throws -> ScheduledRun {
        let runs = service.scheduler.runs
        service.scheduler.syncNow()
        for await run in runs { return run }
        throw SluiceError(.cancelled, "the daemon ends")
    }
}
