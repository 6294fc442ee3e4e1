internal import SluiceBase
internal import SluiceWire

/// The times at which a scheduler runs, as a pure state machine: it takes events with their time and returns effects.
///
/// All times are of the steady clock, so that no wait depends on a clock that somebody sets.
struct ScheduleMachine: Sendable {
    /// An event.
    package enum Event: Sendable, Hashable {
        /// A local write was committed.
        case changed
        /// A run was requested for now.
        case requested
        /// The network may be there again.
        case networkAvailable
        /// The server has reported changes.
        case serverChanged
        /// The pause is over.
        case due
        /// An operation is due at that time, because a hook has postponed it.
        case postponed(until: Timestamp)
        /// The run is over.
        case finished(Outcome)
    }

    /// The outcome of a run.
    package struct Outcome: Sendable, Hashable {
        /// Whether the run has to be tried again before its regular time.
        package var failed: Bool
        /// Whether it failed for some operations or pulls only. Later writes then need not wait for them.
        var isPartial: Bool
        /// The pause that the server asked for, and the time of its answer.
        package var asked: ServerPace.Pause?

        package init(failed: Bool, isPartial: Bool = false, asked: ServerPace.Pause? = nil) {
            self.failed = failed
            self.isPartial = isPartial
            self.asked = asked
        }
    }

    /// The next step of the scheduler.
    enum Effect: Sendable, Hashable {
        /// Push, and then pull if `pulls` is true.
        case run(pulls: Bool)
        /// Wait so long for an event; without one the pause is over.
        case wait(Duration)
    }

    private let schedule: SyncSchedule
    /// The number of failed runs in a row.
    package private(set) var failures: Int
    /// The end of the pause that the server asked for; nil without such a pause.
    package private(set) var notBefore: Timestamp?
    /// The length of that pause, within the schedule's bounds.
    private(set) var askedPause: Duration?
    private var nextRun: Timestamp
    private var nextPush: Timestamp?
    /// Whether a run failed in part. Runs that skip the failed operations leave it as it is.
    private var failedInPart = false
    /// The time of the next try of the failed part, kept where a change on the server makes a run begin earlier.
    private var nextTry: Timestamp?
    /// Whether the current or last run skips the failed operations, because a local write or a change on the server
    /// began it.
    private(set) var passesBy = false
    /// Whether the current or last run pulls.
    private var pulls = false
    /// Whether a hook asked for the current run.
    private var isDirected = false
    /// Whether the next run was requested, and no hook has put it off.
    private var isRequested = false

    /// - Parameters:
    ///   - failures: the number that an earlier process stored.
    ///   - notBefore: the time that an earlier process stored.
    ///   - askedPause: the length of the pause that ends then.
    package init(
        _ schedule: SyncSchedule, failures: Int = 0, notBefore: Timestamp? = nil, askedPause: Duration? = nil,
        now: Timestamp, random: Double
    ) {
        self.schedule = schedule
        self.failures = max(0, failures)
        // A clock that was wrong then or is wrong now does not make the pause longer than it was, or may be.
        let longest = min(askedPause ?? schedule.retryAfter.upperBound, schedule.retryAfter.upperBound)
        self.notBefore = notBefore.map { min($0, now.advanced(by: longest)) }
        self.askedPause = notBefore.map { _ in longest }
        nextRun = now
        nextRun = soonest(now, random)
    }

    /// The time of the next run if a failure or the server's pause delays it beyond the schedule's; else nil.
    var waitsUntil: Timestamp? { (failures > 0 && !failedInPart) || notBefore != nil ? nextRun : nil }

    /// The time of the next run.
    package var next: Timestamp { nextPush.map { min($0, nextRun) } ?? nextRun }

    /// Whether a run that begins then pulls too: its time has come, however long ago a push alone was due.
    func pullsNext(at now: Timestamp) -> Bool { nextRun <= max(nextPush ?? .max, now) }

    /// Begins a run that a hook asked for; returns nil while the pause that the server asked for lasts.
    mutating func direct(pulls: Bool, now: Timestamp) -> Effect? {
        if let notBefore, notBefore > now { return nil }
        self.pulls = pulls
        isDirected = true
        passesBy = false
        return .run(pulls: pulls)
    }

    /// Waits because a hook asked to. The minimum is one second, so that a hook that always waits costs little.
    package mutating func hold(until time: Timestamp, now: Timestamp) -> Effect {
        isRequested = false
        return .wait(min(max(.seconds(1), now.duration(to: time)), longestWait))
    }

    /// Returns the reason for which hooks are asked after an event. A requested run keeps that reason until it begins.
    func reason(for event: Event) -> ScheduleQuestion.Reason { isRequested ? .request : ScheduleQuestion.Reason(event) }

    /// Takes an event and returns the next step.
    package mutating func handle(_ event: Event, now: Timestamp, random: Double) -> Effect {
        switch event {
        // After a failure of all the next run sends it: coming earlier would undo the pause.
        case .changed:
            if waitsUntil == nil { nextPush = min(nextPush ?? .max, now.advanced(by: schedule.changeDelay)) }
        case .postponed(let time): if waitsUntil == nil { nextPush = min(nextPush ?? .max, max(time, now)) }
        case .requested:
            isRequested = true
            nextTry = nil
            nextRun = max(now, notBefore ?? now)
        // After a failure the pause counts: a server that reports changes but refuses requests is not asked
        // repeatedly.
        case .serverChanged:
            guard waitsUntil == nil else { break }
            if failedInPart { nextTry = nextTry ?? nextRun }
            nextRun = min(nextRun, now)
        case .networkAvailable: nextRun = min(nextRun, soonest(now, random))
        case .due:
            pulls = pullsNext(at: now)
            passesBy = failedInPart && (!pulls || nextTry.map { now < $0 } ?? false)
            return .run(pulls: pulls)
        case .finished(let outcome): finish(outcome, now, random)
        }
        return pause(from: now)
    }

    /// Returns the wait until the next run is due.
    package func pause(from now: Timestamp) -> Effect {
        .wait(min(max(.zero, now.duration(to: next)), longestWait))
    }

    /// Returns the earliest time that the server allows, spread at random so that not all clients come at once.
    private func soonest(_ now: Timestamp, _ random: Double) -> Timestamp {
        max(now, notBefore ?? now).advanced(by: schedule.spread * random)
    }

    private mutating func finish(_ outcome: Outcome, _ now: Timestamp, _ random: Double) {
        // A run that was due has had its turn, whatever a hook made of it.
        let hasPulled = pulls || (isDirected && nextRun <= now)
        isDirected = false
        isRequested = false
        nextPush = nil
        let bounds = schedule.retryAfter
        askedPause = outcome.asked.map { min(max($0.length, bounds.lowerBound), bounds.upperBound) }
        notBefore = outcome.asked.flatMap { asked in askedPause.map { asked.since.advanced(by: $0) } }
        if let time = notBefore, time <= now { (notBefore, askedPause) = (nil, nil) }
        let regular = now.advanced(by: schedule.interval * (0.9 + 0.2 * random))
        if !passesBy || (outcome.failed && !outcome.isPartial) {
            nextTry = nil
            failures = outcome.failed ? failures + 1 : 0
            failedInPart = outcome.isPartial
            if failures > 0 {
                let limit = min(schedule.maximumPause, schedule.firstPause * (1 << min(failures - 1, 30)))
                nextRun = now.advanced(by: limit * random)
                // The part that has not failed continues at the regular interval.
                if failedInPart { nextRun = min(nextRun, regular) }
            } else if hasPulled {
                nextRun = regular
            }
        } else if hasPulled, let time = nextTry {
            nextRun = min(time, regular)
            nextTry = nil
        }
        if notBefore != nil { nextRun = max(nextRun, soonest(now, random)) }
    }

    /// The longest pause possible, whatever a hook asks for.
    private var longestWait: Duration {
        max(schedule.interval * 1.1, schedule.maximumPause, schedule.retryAfter.upperBound + schedule.spread)
    }
}

extension Timestamp {
    fileprivate static var max: Timestamp { Timestamp(ticks: .max) }
}
