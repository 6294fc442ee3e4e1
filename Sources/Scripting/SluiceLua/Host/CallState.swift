internal import SluiceCore

/// All that belongs to one call under way, in the hands of the plugins' thread.
final class CallState {
    /// What is asked.
    private enum Question {
        case call(HookCall)
        case rows(PulledRows)
    }

    private(set) var id: UInt64
    private let question: Question
    /// Which of the rows.
    private var index = 0
    /// The hook that was called.
    let plan: HookKind
    let startedAt: Timestamp
    /// When its time is up; nil for a hook that does not wait.
    var deadline: Timestamp?
    var lua: LuaCall?
    var bodies: [Body]
    var changedBodies: Set<Int> = []
    var responses: [Int: GivenResponse] = [:]
    var log: [PluginLogLine] = []
    var droppedLines = 0
    var trace: JSON?
    var changes: [String: [KeyValues.Change]] = [:]
    /// By how many bytes those changes make the plugin's values larger.
    var kvGrowth = 0
    var httpCalls = 0
    var nextCalls = 0
    /// What was given to `next`, and what came of it.
    var exchanges: [NextExchange] = []
    /// Whether it has waited, so that others know it by its id.
    var isListed = false
    var waits = 0
    /// The text of the error that the last `next` ended in.
    var nextError: String?
    private let seed: (HookCall) -> UInt64
    private var chance: SeededGenerator?

    /// - Parameter seed: what chance begins with, for a call that has to be repeatable.
    init(id: UInt64, _ call: HookCall, at now: Timestamp, seed: @escaping (HookCall) -> UInt64) {
        self.id = id
        self.seed = seed
        question = .call(call)
        plan = call.plan.kind
        startedAt = now
        deadline = call.plan.budget.wall.map { now.advanced(by: $0) }
        bodies = call.bodies
    }

    /// A call for each of some rows, one after the other, as long as ``isUntouched``.
    init(_ rows: PulledRows, at now: Timestamp, seed: @escaping (HookCall) -> UInt64) {
        id = 0
        self.seed = seed
        question = .rows(rows)
        plan = rows.plan.kind
        startedAt = now
        bodies = []
    }

    /// Goes on to another row.
    func move(to index: Int, id: UInt64) {
        self.id = id
        self.index = index
    }

    /// What was asked.
    var call: HookCall {
        switch question {
        case .call(let call): call
        case .rows(let rows): rows.call(at: index)
        }
    }

    /// Whether the script has left no trace here: then the next call may have this state.
    var isUntouched: Bool {
        log.isEmpty && droppedLines == 0 && trace == nil && changes.isEmpty && httpCalls == 0 && chance == nil
            && !isListed
    }

    /// Chance for a call that has to be repeatable.
    var random: SeededGenerator {
        get { chance ?? SeededGenerator(seed: seed(call)) }
        set { chance = newValue }
    }

    /// Notes what came of the last `next`.
    func end(_ ending: NextExchange.Ending) {
        if !exchanges.isEmpty { exchanges[exchanges.count - 1].ending = ending }
    }
}
