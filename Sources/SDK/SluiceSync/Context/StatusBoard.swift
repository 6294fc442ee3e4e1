public import SluiceBase
internal import Synchronization

/// The current activity and the state of the server, as push, pull and schedule report them.
struct SyncActivity: Sendable, Hashable {
    enum Step: Sendable, Hashable { case pulling, pushing }

    var step: Step?
    var isOffline = false
    var waitsUntil: Timestamp?

    /// Returns the phase, where `held` is the number of operations that wait for a decision.
    func phase(held: Int) -> SyncProgress.Phase {
        switch step {
        case .pulling: return .pulling
        case .pushing: return .pushing
        case nil: break
        }
        if isOffline { return .offline }
        if let waitsUntil { return .waiting(until: waitsUntil) }
        return held > 0 ? .needsAttention(held) : .idle
    }
}

/// Whether a run has shown that the server can be reached.
enum Reachability: Sendable, Hashable {
    case reached, unreachable, unknown

    init(_ error: any Error) {
        let error = error as? SluiceError
        if error?.code.isNetwork ?? false {
            self = .unreachable
        } else {
            let hasAnswer = error.map { $0.status != nil || Self.aboutAnswers.contains($0.code) }
            self = hasAnswer ?? false ? .reached : .unknown
        }
    }

    /// The codes of errors that a pull ends with only after an answer of the server.
    private static let aboutAnswers: Set<SluiceError.Code> = [
        .brokenProtocol, .tooLarge, .limitReached, .removalsHeld, .hookFailed,
    ]

    init(_ result: PushResult) {
        if result.end == .network {
            self = .unreachable
        } else {
            let hasAnswer = result.applied + result.conflicts + result.failures.count > 0
            self = hasAnswer || result.end == .unauthorized ? .reached : .unknown
        }
    }
}

/// Holds the activity and reports each change of it. Every end of a run ends its step here, including a filter's error
/// and a cancellation.
final class StatusBoard: Sendable {
    private let activity = Mutex(SyncActivity())
    private let changes = Broadcast<SyncActivity>()

    var now: SyncActivity { activity.withLock { $0 } }

    func change(_ body: (inout SyncActivity) -> Void) {
        activity.withLock { activity in
            let before = activity
            body(&activity)
            if activity != before { changes.send(activity) }
        }
    }

    /// Calls `deliver` with the current activity and with each later one.
    func subscribe(_ deliver: @escaping @Sendable (SyncActivity) -> Void) -> Subscription {
        activity.withLock { activity in
            deliver(activity)
            return changes.subscribe(deliver)
        }
    }

    /// Runs `body` with `step` as the current activity.
    func during<Result: Sendable>(
        _ step: SyncActivity.Step, _ reachability: (Result) -> Reachability, _ body: () async throws -> Result
    ) async throws -> Result {
        change { $0.step = step }
        do {
            let result = try await body()
            end(reachability(result))
            return result
        } catch {
            end(Reachability(error))
            throw error
        }
    }

    private func end(_ reachability: Reachability) {
        change { activity in
            activity.step = nil
            if reachability != .unknown { activity.isOffline = reachability == .unreachable }
        }
    }
}

extension SyncProgress {
    /// The activity of a sync context.
    public enum Phase: Sendable, Hashable {
        /// No activity, and no operation needs attention.
        case idle
        /// No activity: the last attempt could not reach the server.
        case offline
        /// A pull runs.
        case pulling
        /// A push runs.
        case pushing
        /// A schedule waits after a failure, or because the server asked it to, until that time at the latest.
        case waiting(until: Timestamp)
        /// No activity; this number of operations is held for a decision.
        case needsAttention(Int)
    }
}

/// The undelivered part of the status stream: activities, and whether the queue may have changed since.
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
