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

/// The scheduler's state when it asks a schedule hook.
public struct ScheduleQuestion: Sendable, Hashable {
    /// The reason for asking.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The scheduler begins.
        case start
        /// A local write was committed, or a push left operations in the queue.
        case change
        /// A run is due, or a hook's wait is over.
        case timer
        /// ``SyncScheduler/networkAvailable()`` was called.
        case network
        /// ``SyncScheduler/syncNow()`` was called.
        case request
    }

    /// The reason for asking.
    public var reason: Reason
    /// The time now.
    public var now: Timestamp
    /// The time of the schedule's next run; in the past or ``now`` if the run is due.
    public var next: Timestamp
    /// Whether that run would pull too.
    public var pulls: Bool
    /// The number of operations that wait to be sent.
    public var pending: Int
    /// The number of runs that have failed in a row.
    public var failures: Int
    /// The earliest time at which the server accepts requests again; nil if it named none. No decision shortens the
    /// wait.
    public var notBefore: Timestamp?

    package init(
        reason: Reason, now: Timestamp, next: Timestamp, pulls: Bool = true, pending: Int = 0, failures: Int = 0,
        notBefore: Timestamp? = nil
    ) {
        self.reason = reason
        self.now = now
        self.next = next
        self.pulls = pulls
        self.pending = pending
        self.failures = failures
        self.notBefore = notBefore
    }
}
