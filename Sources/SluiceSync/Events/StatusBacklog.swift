/// What the status stream has not delivered yet: activities, and whether the queue may have changed since.
struct StatusBacklog: Backlog {
    enum Signal: Sendable, Hashable {
        case activity(SyncActivity)
        case committed
    }

    private var activities = Newest<SyncActivity>(16)
    private var last = SyncActivity()
    private var isStale = false

    var isEmpty: Bool { activities.isEmpty && !isStale }

    mutating func append(_ signal: Signal) {
        switch signal {
        case .activity(let activity):
            activities.append(activity)
            last = activity
        case .committed: isStale = true
        }
    }

    mutating func popFirst() -> Signal? {
        if let activity = activities.popFirst() { return .activity(activity) }
        guard isStale else { return nil }
        isStale = false
        return .activity(last)
    }
}
