internal import SluiceCore

/// The state of one call under way, used only by the plugins' thread.
final class CallState {
    /// The content of the call: a hook call, or one of a page's rows.
    private enum Question {
        case call(HookCall)
        case rows(PulledRows)
    }

    private(set) var id: UInt64
    private let question: Question
    /// The index of the current row.
    private var index = 0
    /// The hook that was called.
    let plan: HookKind
    let startedAt: Timestamp
    /// The begin of the call by the steady clock.
    let begin: Timestamp
    /// The end of the call's time by the steady clock; nil for a hook that does not wait.
    var deadline: Timestamp?
    var lua: LuaCall?
    var bodies: [MessageBody]
    var changedBodies: Set<Int> = []
    var responses: [Int: GivenResponse] = [:]
    var log: [PluginLogLine] = []
    var droppedLines = 0
    var trace: JSON?
    var changes: [String: [KeyValues.Change]] = [:]
    /// The number of bytes by which those changes enlarge the plugin's values.
    var kvGrowth = 0
    var httpCalls = 0
    var nextCalls = 0
    /// The requests given to `next`, with their results.
    var exchanges: [NextExchange] = []
    /// Whether it has waited and is registered under its id.
    var isListed = false
    var waits = 0
    /// The text of the error that the last `next` ended with.
    var nextError: String?
    private let seed: (HookCall) -> UInt64
    private var chance: SeededGenerator?

    /// - Parameter seed: returns the seed of the random numbers, for a call that must be repeatable.
    init(id: UInt64, _ call: HookCall, _ environment: SyncEnvironment, seed: @escaping (HookCall) -> UInt64) {
        self.id = id
        self.seed = seed
        question = .call(call)
        plan = call.plan.kind
        (startedAt, begin) = (environment.now(), environment.steady())
        deadline = call.plan.budget.wall.map { [begin] in begin.advanced(by: $0) }
        bodies = call.bodies
    }

    /// Creates a state for a call for each of some rows, one after the other, as long as it is ``isUntouched``.
    init(_ rows: PulledRows, _ environment: SyncEnvironment, seed: @escaping (HookCall) -> UInt64) {
        id = 0
        self.seed = seed
        question = .rows(rows)
        plan = rows.plan.kind
        (startedAt, begin) = (environment.now(), environment.steady())
        bodies = []
    }

    /// Moves to another row.
    func move(to index: Int, id: UInt64) {
        self.id = id
        self.index = index
    }

    /// The hook call.
    var call: HookCall {
        switch question {
        case .call(let call): call
        case .rows(let rows): rows.call(at: index)
        }
    }

    /// Whether the script has changed nothing here: then the next call may reuse the state.
    var isUntouched: Bool {
        log.isEmpty && droppedLines == 0 && trace == nil && changes.isEmpty && httpCalls == 0 && chance == nil
            && !isListed
    }

    /// The generator of random numbers for a call that must be repeatable.
    var random: SeededGenerator {
        get { chance ?? SeededGenerator(seed: seed(call)) }
        set { chance = newValue }
    }

    /// Records the result of the last `next`.
    func end(_ ending: NextExchange.Ending) {
        if !exchanges.isEmpty { exchanges[exchanges.count - 1].ending = ending }
    }
}

/// Stops calls of a hook that keeps failing. Five failures within a minute open it for half a minute. If the first call
/// after that fails too, it opens for twice as long, up to an hour. A successful call closes it. Its times are of the
/// steady clock.
struct CircuitBreaker: Sendable, Hashable {
    private static let failuresToOpen = 5
    private static let window: Duration = .seconds(60)
    private static let shortest: Duration = .seconds(30)
    private static let longest: Duration = .seconds(3600)

    private var failures: [Timestamp] = []
    private var pause: Duration?
    private(set) var opensUntil: Timestamp?

    /// Whether calls are refused now.
    func isOpen(at now: Timestamp) -> Bool { opensUntil.map { now < $0 } ?? false }

    /// Records a successful call.
    mutating func succeeded() {
        guard pause != nil || !failures.isEmpty else { return }
        self = CircuitBreaker()
    }

    /// Records a failed call.
    mutating func failed(at now: Timestamp) {
        failures.removeAll { $0.duration(to: now) > Self.window }
        failures.append(now)
        if let pause {
            open(for: min(pause * 2, Self.longest), at: now)
        } else if failures.count >= Self.failuresToOpen {
            open(for: Self.shortest, at: now)
        }
    }

    private mutating func open(for pause: Duration, at now: Timestamp) {
        self.pause = pause
        opensUntil = now.advanced(by: pause)
    }
}
