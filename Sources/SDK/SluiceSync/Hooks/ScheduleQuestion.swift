public import SluiceBase

/// What a schedule hook is asked.
public struct ScheduleQuestion: Sendable, Hashable {
    /// Why it is asked.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The scheduler begins.
        case start
        /// A local write was committed, or a push has left some.
        case change
        /// A time has come: that of a run, or the one that a hook asked to wait for.
        case timer
        /// ``SyncScheduler/networkAvailable()`` was called.
        case network
        /// ``SyncScheduler/syncNow()`` was called.
        case request
    }

    /// Why it is asked.
    public var reason: Reason
    /// The time now.
    public var now: Timestamp
    /// When the schedule would run next; in the past or ``now`` if that is due.
    public var next: Timestamp
    /// Whether that run would pull too.
    public var pulls: Bool
    /// How many operations wait to be sent.
    public var pending: Int
    /// How often in a row a run has failed.
    public var failures: Int
    /// Until when the server asked to be left alone; nil if it did not. No decision shortens that.
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
