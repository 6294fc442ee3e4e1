internal import Logging
internal import SluiceBase

/// Asks the schedule hooks about a scheduler's next step, and keeps their decision.
struct ScheduleHooks {
    private let context: SyncContext
    private let clock: SteadyClock
    /// The tables to which a hook has restricted the next run; nil means all.
    private(set) var tables: Set<String>?
    /// The time until which a hook asked to do nothing.
    private(set) var holdsUntil: Timestamp?

    init(_ context: SyncContext, _ clock: SteadyClock) { (self.context, self.clock) = (context, clock) }

    /// Returns the step of the first hook that decides; without one the schedule's own.
    mutating func direct(
        _ machine: inout ScheduleMachine, _ reason: ScheduleQuestion.Reason, _ effect: ScheduleMachine.Effect
    ) async -> ScheduleMachine.Effect {
        (tables, holdsUntil) = (nil, nil)
        if context.options.scheduleHooks.isEmpty || Task.isCancelled { return effect }
        switch await decision(machine, reason) {
        case nil: return effect
        case .push: return machine.direct(pulls: false, now: clock.now) ?? effect
        case .pull(let wanted):
            guard let directed = machine.direct(pulls: true, now: clock.now) else { return effect }
            tables = wanted
            return directed
        case .wait(let time):
            guard time > context.options.environment.now() else { return effect }
            holdsUntil = time
            return machine.hold(until: clock.time(time), now: clock.now)
        }
    }

    private func decision(
        _ machine: ScheduleMachine, _ reason: ScheduleQuestion.Reason
    ) async -> ScheduleDecision? {
        let pending = try? await context.store.read { reader in
            try QueueReader(reader).count(.pending) + QueueReader(reader).count(.inFlight)
        }
        let question = ScheduleQuestion(
            reason: reason, now: context.options.environment.now(), next: clock.date(machine.next),
            pulls: machine.pullsNext(at: clock.now),
            pending: pending ?? 0, failures: machine.failures, notBefore: machine.notBefore.map(clock.date))
        for hook in context.options.scheduleHooks {
            do {
                if let decision = try await hook.onSchedule(question) { return decision }
            } catch {
                if Task.isCancelled { return nil }
                context.options.logger.warning(
                    "a schedule hook failed", metadata: ["hook": "\(hook.hookName)", "error": "\(error)"])
            }
        }
        return nil
    }
}

extension ScheduleQuestion.Reason {
    init(_ event: ScheduleMachine.Event) {
        switch event {
        case .changed: self = .change
        case .requested: self = .request
        case .networkAvailable, .serverChanged: self = .network
        case .due, .finished, .postponed: self = .timer
        }
    }
}
