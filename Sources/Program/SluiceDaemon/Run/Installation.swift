internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Sluice
internal import SluiceLua
internal import SluicePolicy
internal import SluiceService
internal import Synchronization

/// A running endpoint: its store, its plugins and its schedule, until a reload replaces it.
final class Installation: Sendable {
    let endpoint: ServingPlan.Endpoint
    let session: ClientSession
    let gate: ScheduleGate
    private let exit: RequestGate
    let service: SyncService
    private let followsNetwork: Bool
    private let followers: [ChangeFollower]
    /// The follower of a policy from afar; nil for none.
    let policy: PolicyFollower?
    /// The count of bytes; nil if none are spared.
    let traffic: TrafficGate?
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// Whether the schedule has ended.
    private let hasEnded = Mutex(false)
    /// The number of the gateway's requests in progress, and whether new ones are refused.
    private let requests = Mutex<(count: Int, isEnding: Bool)>((0, false))
    /// The last run that ended, and the last that sent something.
    private let last = Mutex<(run: SyncScheduler.Run?, sent: SyncScheduler.Run?)>((nil, nil))

    var name: String { endpoint.name }
    var lastRun: SyncScheduler.Run? { last.withLock { $0.run } }
    var lastSent: SyncScheduler.Run? { last.withLock { $0.sent } }

    /// Opens an endpoint's store, loads its plugins and runs their fixtures. Nothing is synced yet.
    static func open(_ endpoint: ServingPlan.Endpoint, _ instruments: Instruments) async throws -> Installation {
        var instruments = instruments
        if !endpoint.name.isEmpty { instruments.logger[metadataKey: "endpoint"] = "\(endpoint.name)" }
        let (settings, values) = (endpoint.client, endpoint.values)
        let gate = ScheduleGate(windows: endpoint.windows)
        let exit = RequestGate()
        var additions = ClientSession.Additions()
        additions.logger = instruments.logger
        additions.metrics = instruments.metrics
        let traffic = try settings.store.flatMap { try TrafficGate(values, store: $0) }
        additions.scheduleHooks = [gate] + (traffic.map { [$0] } ?? [])
        additions.runsFixtures = true
        let counter = DecisionCounter()
        additions.policyCounter = counter
        additions.owners = instruments.owners
        additions.keepsInputs = instruments.inspection != nil
        let timeline = instruments.inspection?.timeline.filter(endpoint: settings.name)
        additions.filters = { [tracer = instruments.tracer] plugins in
            let filters = plugins + [exit] + (traffic.map { [$0] } ?? [])
            let traced = tracer.map { RequestSpans.filters($0, around: filters) } ?? filters
            return traced + (timeline.map { [$0] } ?? [])
        }
        let session = try await ClientSession.open(
            settings, usesNetwork: true, asksPlugins: true, makesStore: true, additions)
        let policy = try session.policySubject.flatMap {
            try PolicyFollower($0, counter, instruments.logger, instruments.metrics)
        }
        let schedule = SyncSchedule(values, pulls: settings.pulls)
        var followers: [ChangeFollower] = []
        if values.flag("schedule.on-event"), let client = session.context.client {
            let http = try session.transport.client(for: client.endpoint)
            followers = Set(settings.pulls.map(\.query.table)).sorted().map { table in
                ChangeFollower(
                    client: client, http: http, table: table, spread: schedule.spread,
                    environment: session.context.options.environment, logger: instruments.logger)
            }
        }
        return Installation(
            endpoint, session, gate, exit,
            SyncService(
                session.context, schedule, logger: instruments.logger, metrics: instruments.metrics,
                tracer: instruments.tracer,
                shutdownLimit: values.duration("shutdown-time")),
            followsNetwork: values.flag("schedule.on-network"), followers, policy, traffic)
    }

    private init(
        _ endpoint: ServingPlan.Endpoint, _ session: ClientSession, _ gate: ScheduleGate, _ exit: RequestGate,
        _ service: SyncService, followsNetwork: Bool, _ followers: [ChangeFollower], _ policy: PolicyFollower?,
        _ traffic: TrafficGate?
    ) {
        (self.endpoint, self.session, self.gate, self.exit) = (endpoint, session, gate, exit)
        self.service = service
        (self.followsNetwork, self.followers, self.policy) = (followsNetwork, followers, policy)
        self.traffic = traffic
    }

    /// Starts the schedule.
    ///
    /// - Parameters:
    ///   - failed: called with the error that ended the schedule.
    ///   - replaced: called when another file is at the store's path, or the token is another user's.
    func start(
        _ failed: @escaping @Sendable (any Error) -> Void, replaced: @escaping @Sendable (Installation) async -> Void
    ) {
        let runs = service.scheduler.runs
        let work = Task { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    for await run in runs {
                        traffic?.ended(run)
                        last.withLock { $0 = (run, run.push?.applied ?? 0 > 0 ? run : $0.sent) }
                    }
                }
                if let plugins = session.plugins {
                    group.addTask { [self] in await plugins.tell(of: session.context) }
                }
                group.addTask { [self] in
                    await OtherWrites(path: endpoint.store, context: session.context).follow { [self] in
                        service.scheduler.changed()
                    }
                }
                group.addTask { [self] in
                    await SessionPlace(path: endpoint.store, session: session).follow { [self] in await replaced(self) }
                }
                if let policy { group.addTask { await policy.run() } }
                for follower in followers {
                    group.addTask { [self] in
                        // The changes from before the stream are pulled first, spread over many devices.
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
            hasEnded.withLock { $0 = true }
        }
        task.withLock { $0 = work }
    }

    /// Answers a request of the gateway; nil once the installation ends, because the next one answers then.
    func serve(_ answer: () async -> LocalReply) async -> LocalReply? {
        let isTaken = requests.withLock { state in
            if !state.isEnding { state.count += 1 }
            return !state.isEnding
        }
        guard isTaken else { return nil }
        defer { requests.withLock { $0.count -= 1 } }
        return await answer()
    }

    /// Stops further requests: those in progress are answered, and the queue waits for the next installation.
    func finish() {
        exit.close()
        session.settings.token?.stop()
        service.scheduler.finish()
    }

    /// Ends the schedule: the request in progress gets some time, then it is cancelled. Closes the store after the
    /// gateway's requests in progress.
    func stop() async {
        requests.withLock { $0.isEnding = true }
        finish()
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
        traffic?.save()
        try? await session.close()
    }

    /// Starts a run and waits for its end. A run in progress does not count.
    ///
    /// - Throws: ``SluiceError`` of code `cancelled` if the daemon or this installation ends first.
    func syncNow() async throws -> SyncScheduler.Run {
        let runs = service.scheduler.requestedRuns()
        return try await withThrowingTaskGroup(of: SyncScheduler.Run.self) { group in
            group.addTask {
                for await run in runs.cancelOnGracefulShutdown() { return run }
                throw SluiceError(.cancelled, "the daemon ends")
            }
            group.addTask { [self] in
                repeat { try await Task.sleep(for: .milliseconds(100)) } while !hasEnded.withLock({ $0 })
                throw SluiceError(.cancelled, "the session has ended, and another one took its place: ask again")
            }
            defer { group.cancelAll() }
            guard let run = try await group.next() else { throw CancellationError() }
            return run
        }
    }
}

/// The last filter before the network. Once it is closed it sends no further request: a push or pull ends after the
/// request in progress, and unsent operations stay in the queue.
final class RequestGate: RequestTransform {
    private let isClosed = Mutex(false)

    func close() { isClosed.withLock { $0 = true } }

    func request(_ request: SyncRequest) throws -> SyncRequest {
        if isClosed.withLock({ $0 }) { throw CancellationError() }
        return request
    }
}

/// Notices that a session no longer fits. Its token may be another user's. Or the store's path leads to another file than
/// the open one: a restored copy, the result of a recovery or a conversion, or a new file that a command has made after
/// the old one was moved.
struct SessionPlace: Sendable {
    private static let interval = Duration.milliseconds(250)
    /// The time between a file that could not be opened and the next look.
    private static let pause = Duration.seconds(10)

    let path: String
    let session: ClientSession

    /// Calls `replaced` repeatedly while the session does not fit, until the task is cancelled. A missing file is not
    /// replaced with a new one, because it may be moved back.
    func follow(_ replaced: @Sendable () async -> Void) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if (session.isInPlace && !session.isOfOtherUser) || !FileManager.default.fileExists(atPath: path) {
                continue
            }
            await replaced()
            guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
        }
    }
}
