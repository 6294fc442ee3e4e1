public import SluiceBase
internal import Synchronization

/// What runs and what is known of the server, as push, pull and schedule say it.
struct SyncActivity: Sendable, Hashable {
    enum Step: Sendable, Hashable { case pulling, pushing }

    var step: Step?
    var isOffline = false
    var waitsUntil: Timestamp?

    /// The phase, where `held` operations wait for a decision.
    func phase(held: Int) -> SyncPhase {
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

    /// What a pull ends with only when it has an answer.
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

/// Holds the activity and tells of each change of it. Whatever ends a run, an error of a filter or a cancellation too,
/// ends it here.
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

    /// Calls `deliver` with the activity now and with each one after it.
    func subscribe(_ deliver: @escaping @Sendable (SyncActivity) -> Void) -> Subscription {
        activity.withLock { activity in
            deliver(activity)
            return changes.subscribe(deliver)
        }
    }

    /// Runs `body` as that step.
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

/// What a sync context is doing.
public enum SyncPhase: Sendable, Hashable {
    /// Nothing, and nothing needs anyone.
    case idle
    /// Nothing: the server could not be reached the last time it was tried.
    case offline
    /// A pull runs.
    case pulling
    /// A push runs.
    case pushing
    /// A schedule waits after a failure, or because the server asked it to, until that time at the latest.
    case waiting(until: Timestamp)
    /// Nothing, and so many operations are held until someone decides.
    case needsAttention(Int)
}

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
