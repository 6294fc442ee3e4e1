public import SluiceBase

/// Decides the times at which a ``SyncScheduler`` runs.
///
/// Schedule hooks are asked in the order of ``SyncOptions/scheduleHooks``; the first answer decides, and without one
/// the schedule is followed. A hook that throws is passed over.
///
/// ```swift
/// struct NotAtNight: ScheduleHook {
///     let hookName = "not-at-night"
///     let isNight: @Sendable (Timestamp) -> Bool
///
///     func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
///         isNight(question.now) ? .wait(until: question.now.advanced(by: .seconds(600))) : nil
///     }
/// }
/// ```
public protocol ScheduleHook: Sendable {
    /// The hook's name, for the log.
    var hookName: String { get }

    /// Decides the scheduler's next action.
    ///
    /// - Returns: nil to leave it to the next hook and then to the schedule.
    /// - Throws: any error, which counts as nil.
    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision?
}

/// The next action of a scheduler.
public enum ScheduleDecision: Sendable, Hashable {
    /// Push now.
    case push
    /// Push now, and pull the schedule's queries of these tables; nil means all of them.
    case pull(tables: Set<String>?)
    /// Do nothing before that time, and ask again then or when something happens. A time in the past leaves it to the
    /// schedule.
    case wait(until: Timestamp)
}
