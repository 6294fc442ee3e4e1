internal import SluiceBase
internal import SluiceWire

/// When a scheduler runs, as a pure state machine: events and the time in, what to do out.
struct ScheduleMachine: Sendable {
    /// What happened.
    package enum Event: Sendable, Hashable {
        /// A local write was committed.
        case changed
        /// Somebody asked for a run now.
        case requested
        /// The network may be there again.
        case networkAvailable
        /// The server has reported changes.
        case serverChanged
        /// The pause is over.
        case due
        /// An operation is due at that time: a hook has it wait so long.
        case postponed(until: Timestamp)
        /// The run is over.
        case finished(Outcome)
    }

    /// How a run ended.
    package struct Outcome: Sendable, Hashable {
        /// Whether it has to be tried again before its time.
        package var failed: Bool
        /// Whether it failed for some operations or pulls alone, so that what is written meanwhile need not wait for
        /// them.
        var isPartial: Bool
        /// When the server asked to be left alone, and for how long.
        package var asked: ServerPace.Pause?

        package init(failed: Bool, isPartial: Bool = false, asked: ServerPace.Pause? = nil) {
            self.failed = failed
            self.isPartial = isPartial
            self.asked = asked
        }
    }

    /// What to do.
    enum Effect: Sendable, Hashable {
        /// Push, and then pull if that is true.
        case run(pulls: Bool)
        /// Wait so long for an event; then the pause is over.
        case wait(Duration)
    }

    private let schedule: SyncSchedule
    /// How often in a row a run has failed.
    package private(set) var failures: Int
    /// The time that the server asked to wait for; nil if it asked for nothing.
    package private(set) var notBefore: Timestamp?
    private var nextRun: Timestamp
    private var nextPush: Timestamp?
    /// Whether the last run failed in part, or one before it of which those that followed have passed by what failed.
    private var failedInPart = false
    /// When what has failed in part is tried again, where the server's changes have a run begin before.
    private var nextTry: Timestamp?
    /// Whether the run that is under way, or was last, passes by what has failed: it was begun for a local write, or for
    /// the server's changes.
    private(set) var passesBy = false
    /// Whether the run that is under way pulls, where a hook asked for it; nil where the schedule did.
    private var directed: Bool?
    /// Whether somebody has asked for the run that is next, and no hook has put it off.
    private var isRequested = false

    /// - Parameters:
    ///   - failures: what an earlier process has left.
    ///   - notBefore: what an earlier process has left.
    package init(
        _ schedule: SyncSchedule, failures: Int = 0, notBefore: Timestamp? = nil, now: Timestamp, random: Double
    ) {
        self.schedule = schedule
        self.failures = max(0, failures)
        // A clock that was wrong then or is wrong now does not make it longer than a server may ask for.
        self.notBefore = notBefore.map { min($0, now.advanced(by: schedule.retryAfter.upperBound)) }
        nextRun = now
        nextRun = soonest(now, random)
    }

    /// The time of the next run if it is later than the schedule's, because of a failure or of the server's wish.
    var waitsUntil: Timestamp? { (failures > 0 && !failedInPart) || notBefore != nil ? nextRun : nil }

    /// When the next run is due.
    package var next: Timestamp { nextPush.map { min($0, nextRun) } ?? nextRun }

    /// Whether the next run pulls too.
    var pullsNext: Bool { nextRun <= nextPush ?? .max }

    /// Begins a run because a hook wants one; nil while the server wants to be left alone.
    mutating func direct(pulls: Bool, now: Timestamp) -> Effect? {
        if let notBefore, notBefore > now { return nil }
        directed = pulls
        passesBy = false
        return .run(pulls: pulls)
    }

    /// Waits because a hook asked to: a second at least, so that a hook that always waits costs little.
    package mutating func hold(until time: Timestamp, now: Timestamp) -> Effect {
        isRequested = false
        return .wait(min(max(.seconds(1), now.duration(to: time)), longestWait))
    }

    /// Why a hook is asked after an event: a run that was asked for is that also once it is due.
    func reason(for event: Event) -> ScheduleQuestion.Reason {
        event == .due && isRequested ? .request : ScheduleQuestion.Reason(event)
    }

    /// Takes an event and returns what to do next.
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
        // After a failure the pause counts: a server that reports and refuses is not asked again and again.
        case .serverChanged:
            guard waitsUntil == nil else { break }
            if failedInPart { nextTry = nextTry ?? nextRun }
            nextRun = min(nextRun, now)
        case .networkAvailable: nextRun = min(nextRun, soonest(now, random))
        case .due:
            passesBy = failedInPart && (!pullsNext || nextTry.map { now < $0 } ?? false)
            return .run(pulls: pullsNext)
        case .finished(let outcome): finish(outcome, now, random)
        }
        return pause(from: now)
    }

    /// What to do while nothing happens: wait for what is due next.
    package func pause(from now: Timestamp) -> Effect {
        .wait(min(max(.zero, now.duration(to: next)), longestWait))
    }

    /// As soon as the server wants it, and spread, so that not all clients come at once.
    private func soonest(_ now: Timestamp, _ random: Double) -> Timestamp {
        max(now, notBefore ?? now).advanced(by: schedule.spread * random)
    }

    private mutating func finish(_ outcome: Outcome, _ now: Timestamp, _ random: Double) {
        // A run that was due has had its turn, whatever a hook made of it.
        let hasPulled = directed.map { $0 || nextRun <= now } ?? pullsNext
        directed = nil
        isRequested = false
        nextPush = nil
        notBefore = outcome.asked.map { asked in
            let bounds = schedule.retryAfter
            return asked.since.advanced(by: min(max(asked.length, bounds.lowerBound), bounds.upperBound))
        }
        if let time = notBefore, time <= now { notBefore = nil }
        let regular = now.advanced(by: schedule.interval * (0.9 + 0.2 * random))
        if !passesBy || (outcome.failed && !outcome.isPartial) {
            nextTry = nil
            failures = outcome.failed ? failures + 1 : 0
            failedInPart = outcome.isPartial
            if failures > 0 {
                let limit = min(schedule.maximumPause, schedule.firstPause * (1 << min(failures - 1, 30)))
                nextRun = now.advanced(by: limit * random)
                // What has not failed goes on as ever.
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

    /// No pause is longer, even if the clock was set back meanwhile.
    private var longestWait: Duration {
        max(schedule.interval * 1.1, schedule.maximumPause, schedule.retryAfter.upperBound + schedule.spread)
    }
}

extension Timestamp {
    fileprivate static var max: Timestamp { Timestamp(ticks: .max) }
}
