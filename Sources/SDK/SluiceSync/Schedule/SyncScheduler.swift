internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// Pushes and pulls by itself: at an interval, soon after local writes, and on request. After failures it makes
/// growing, random pauses. It never runs before the end of a pause that the server asked for (`Retry-After`), even
/// across restarts.
///
/// ```swift
/// let scheduler = SyncScheduler(context, SyncSchedule(pulls: [.init(TableQuery("todos"), named: "all")]))
/// let syncing = Task { try await scheduler.run() }
/// ```
///
/// One run at a time; requests during a run lead to one more. The task that calls ``run()`` carries everything out.
public final class SyncScheduler: Sendable {
    private let context: SyncContext
    private let schedule: SyncSchedule
    private let hints = Mailbox(ScheduleHints())
    private let ended = Broadcast<SyncScheduler.Run>()
    private let isRunning = Mutex(false)
    /// Whether a run is in progress.
    private let isAtWork = Mutex(false)
    private let isFinishing = Mutex(false)
    /// The pull with which the next run begins.
    private let firstPull = Mutex(0)
    private let around: Around?

    /// A scheduler for a context.
    ///
    /// - Parameter around: called around each push and pull of a run, such as to trace it; it has to call `step` once.
    public init(_ context: SyncContext, _ schedule: SyncSchedule, around: Around? = nil) {
        self.context = context
        self.schedule = schedule
        self.around = around
    }

    /// A function around each push and pull of a run: the name is `push`, or `pull` and the table.
    public typealias Around = @Sendable (_ name: String, _ step: @Sendable () async -> Void) async -> Void

    /// Requests a run now, regardless of the pause after a failure. A pause that the server asked for ends first.
    public func syncNow() { hints.send(.requested) }

    /// Reports that the network may be there again. The next run comes within the schedule's spread.
    public func networkAvailable() { hints.send(.networkAvailable) }

    /// Reports that the server has changes, as after one of its change events. The next run begins now, unless a pause
    /// after a failure lasts.
    public func serverChanged() { hints.send(.serverChanged) }

    /// Reports a local write of another context or process on the same store. It is pushed soon, like a write of this
    /// context.
    public func changed() { hints.send(.changed) }

    /// Makes ``run()`` return after the current push or pull; at once if there is none. To end the push or pull too,
    /// cancel the task. A finished scheduler cannot run again.
    public func finish() {
        isFinishing.withLock { $0 = true }
        hints.send(.requested)
    }

    /// Each run as it ends, from now on. For a slow consumer the newest 16 are kept.
    public var runs: SyncEvents<SyncScheduler.Run> {
        let (mailbox, subscription) = ended.subscribe(into: Newest(16))
        return SyncEvents(mailbox, subscription)
    }

    /// Requests a run now, and returns the runs from that one on. A run in progress is not among them, because it may have
    /// passed by what was written since.
    package func requestedRuns() -> AsyncDropFirstSequence<SyncEvents<SyncScheduler.Run>> {
        defer { syncNow() }
        return isAtWork.withLock { runs.dropFirst($0 ? 1 : 0) }
    }

    /// Runs the schedule until the task is cancelled or ``finish()`` is called, and returns then.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a context without a client and where the scheduler runs
    ///   already, or of the store if it cannot be read.
    public func run() async throws {
        let client = try context.requireClient()
        guard isRunning.withLock({ $0.claim() }) else {
            throw SluiceError(.invalidArgument, "this scheduler runs already; one task at a time runs it")
        }
        defer {
            isAtWork.withLock { $0 = false }
            isRunning.withLock { $0 = false }
        }
        defer { context.board.change { $0.waitsUntil = nil } }
        let writes = context.hub.commits.subscribe { [hints] source in
            if source == .local { hints.send(.changed) }
        }
        defer { withExtendedLifetime(writes) {} }
        try await follow(client)
    }

    private func follow(_ client: SluiceClient) async throws {
        client.pace.bound(by: schedule.retryAfter.upperBound)
        let environment = context.options.environment
        let clock = SteadyClock(environment: environment)
        let id = client.endpoint.description
        let found = try await context.store.read { try $0.record(RecordID(id), in: ScheduleState.schema.name) }
        var saved = found.map { ScheduleState(record: $0) } ?? ScheduleState()
        var machine = ScheduleMachine(
            schedule, failures: saved.failures, notBefore: saved.notBefore.map(clock.time), askedPause: saved.pause,
            now: clock.now, random: environment.random())
        var say = ScheduleHooks(context, clock)
        // The operations that failed in part and wait for the end of the pause.
        var failed: Set<String> = []
        var effect = await say.direct(&machine, .start, machine.pause(from: clock.now))
        while !Task.isCancelled, !isFinishing.withLock({ $0 }) {
            context.board.change { $0.waitsUntil = say.holdsUntil ?? machine.waitsUntil.map(clock.date) }
            switch effect {
            case .wait(let pause):
                var last: ScheduleMachine.Event?
                for event in await events(within: pause) {
                    last = event
                    let isEarly = event == .due && say.holdsUntil != nil && machine.next > clock.now
                    effect =
                        isEarly
                        ? machine.pause(from: clock.now)
                        : machine.handle(event, now: clock.now, random: environment.random())
                }
                if let last { effect = await say.direct(&machine, machine.reason(for: last), effect) }
            case .run(let pulls):
                let passedBy = machine.passesBy ? await stillFailed(failed) : []
                let start = clock.now
                isAtWork.withLock { $0 = true }
                var run = await carryOut(pulls: pulls, of: say.tables, passingBy: passedBy)
                if run.errors.contains(where: { $0.code == .cancelled }), Task.isCancelled { return }
                let isPartial = run.hasFailedInPart(knowing: failed)
                let isAddition = machine.passesBy && (isPartial || !run.hasFailed)
                failed = (isAddition ? failed : []).union(isPartial ? run.delayed.map(\.id) : [])
                let outcome = ScheduleMachine.Outcome(
                    failed: run.hasFailed, isPartial: isPartial, asked: asked(by: client, clock))
                effect = machine.handle(.finished(outcome), now: clock.now, random: environment.random())
                if run.push?.waiting ?? 0 > 0 {
                    effect = machine.handle(.changed, now: clock.now, random: environment.random())
                }
                if let due = run.push?.nextDue {
                    effect = machine.handle(
                        .postponed(until: clock.time(due)), now: clock.now, random: environment.random())
                }
                run.duration = start.duration(to: clock.now)
                run.next = clock.date(machine.next)
                let state = ScheduleState(
                    failures: machine.failures, notBefore: machine.notBefore.map(clock.date),
                    pause: machine.askedPause)
                if state != saved {
                    saved = state
                    await save(state, id)
                }
                context.board.change { $0.waitsUntil = machine.waitsUntil.map(clock.date) }
                isAtWork.withLock {
                    ended.send(run)
                    $0 = false
                }
            }
        }
    }

    /// The pause that the server asked for, if it lasts.
    private var asked: ServerPace.Pause? { context.client.flatMap { $0.pace.asked($0.options.environment) } }

    /// Returns that pause by this clock: a client may have another.
    private func asked(by client: SluiceClient, _ clock: SteadyClock) -> ServerPace.Pause? {
        client.pace.asked(client.options.environment).map { asked in
            let age = asked.since.duration(to: client.options.environment.steady())
            var asked = asked
            asked.since = clock.now.advanced(by: .zero - age)
            return asked
        }
    }

    /// Returns the events within the pause, at least its end; none if the task is cancelled.
    private func events(within pause: Duration) async -> [ScheduleMachine.Event] {
        let sleep = context.options.environment.sleep
        return await withTaskGroup(of: ScheduleMachine.Event?.self) { group in
            group.addTask { (try? await sleep(pause)).map { .due } }
            group.addTask { [hints] in await hints.next() }
            defer { group.cancelAll() }
            var events: [ScheduleMachine.Event] = []
            while let event = await group.next() {
                group.cancelAll()
                if let event { events.append(event) }
            }
            // A pause that ended while something else happened has ended: only the last event counts.
            return events.filter { $0 != .due } + events.filter { $0 == .due }
        }
    }

    private func stillFailed(_ ids: Set<String>) async -> Set<String> {
        (try? await context.store.read { try QueueReader($0).stillFailed(ids) }) ?? ids
    }

    /// - Parameter failed: operations that an earlier push has tried, and that this one skips.
    private func carryOut(
        pulls: Bool, of tables: Set<String>?, passingBy failed: Set<String>
    ) async -> SyncScheduler.Run {
        let now = context.options.environment.now()
        var run = SyncScheduler.Run(startedAt: now)
        do {
            let push = try await step("push") { [context] in try await context.push(PushSelection(excluded: failed)) }
            run.push = push
            if push.end != .completed, let error = push.error { run.errors.append(error) }
        } catch {
            run.errors.append(SluiceError(wrapping: error))
        }
        if !run.errors.isEmpty, asked != nil { return run }
        // Those after a pull for which the server asked for a pause come first: it may be one table that it refuses.
        let first = firstPull.withLock { $0 }
        for pull in pulls ? schedule.pulls[first...] + schedule.pulls[..<first] : []
        where tables?.contains(pull.query.table) ?? true {
            if isFinishing.withLock({ $0 }) || run.errors.last?.endsRun ?? false { return run }
            let before = asked
            do {
                let result = try await step("pull \(pull.query.table)") { [context] in
                    try await context.pull(pull.query, named: pull.name)
                }
                run.pulls.append(result)
            } catch {
                run.errors.append(SluiceError(wrapping: error))
                guard asked == before else {
                    let place = schedule.pulls.firstIndex(of: pull) ?? 0
                    firstPull.withLock { $0 = (place + 1) % schedule.pulls.count }
                    return run
                }
            }
        }
        return run
    }

    /// Runs a push or pull, inside of `around`.
    private func step<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let around else { return try await body() }
        let made = Mutex<Swift.Result<Result, any Error>?>(nil)
        await around(name) {
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            made.withLock { $0 = result }
        }
        guard let result = made.withLock({ $0 }) else { return try await body() }
        return try result.get()
    }

    /// Saves the state. A failure is ignored: the next process then starts without it.
    private func save(_ state: ScheduleState, _ id: String) async {
        try? await context.store.write(at: .applied, context.options.environment, from: .push) {
            try $0.put(state.record(id: id), in: ScheduleState.schema.name)
        }
    }
}

/// The hints since the last look, each once.
private struct ScheduleHints: Backlog {
    private var events: [ScheduleMachine.Event] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: ScheduleMachine.Event) { if !events.contains(event) { events.append(event) } }
    mutating func popFirst() -> ScheduleMachine.Event? { events.isEmpty ? nil : events.removeFirst() }
}

extension SyncScheduler.Run {
    /// The operations that could not be sent now, and stay pending.
    fileprivate var delayed: [TableOperation] { push?.failures.filter { $0.state == .pending } ?? [] }

    /// Whether the run has to be tried again soon, for an error or an operation that could not be sent now.
    fileprivate var hasFailed: Bool { error != nil || !delayed.isEmpty }

    /// Whether the reason lies with the failed operations, or with a pull that the server refuses. The server's state
    /// is not the reason then, or other operations went through.
    ///
    /// - Parameter known: the operations that have failed so before; their repeated failure is expected.
    fileprivate func hasFailedInPart(knowing known: Set<String>) -> Bool {
        guard let push, push.end == .completed, !errors.contains(where: \.endsRun) else { return false }
        if delayed.isEmpty {
            let isOfServer = errors.contains { $0.code == .timeout || $0.isOfServer }
            return !errors.isEmpty && (!isOfServer || push.applied > 0 || !pulls.isEmpty)
        }
        return push.applied > 0 || delayed.allSatisfy { known.contains($0.id) }
            || !delayed.contains { $0.failure?.isOfServer ?? false }
    }
}

extension SluiceError {
    /// Whether the server's state is or may be the reason.
    fileprivate var isOfServer: Bool { code == .unauthorized || code == .serverFailure }
}

extension Bool {
    /// Sets it to true; returns false if it was true already.
    fileprivate mutating func claim() -> Bool {
        defer { self = true }
        return !self
    }
}

extension SluiceError {
    /// Whether later steps of a run would fail for the same reason, for any table: there is no network or no store, or
    /// the task is cancelled.
    package var endsRun: Bool { code == .network || code == .cancelled || code.isStore }
}
