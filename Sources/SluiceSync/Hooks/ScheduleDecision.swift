public import SluiceBase

/// What a scheduler is to do.
public enum ScheduleDecision: Sendable, Hashable {
    /// Push now.
    case push
    /// Push now, and pull the schedule's queries of these tables; nil means all of them.
    case pull(tables: Set<String>?)
    /// Do nothing before that time, and ask again then or when something happens. A time in the past leaves it to the
    /// schedule.
    case wait(until: Timestamp)
}
