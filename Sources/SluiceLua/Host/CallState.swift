internal import SluiceCore

/// All that belongs to one call under way, in the hands of the plugins' thread.
final class CallState {
    let id: UInt64
    let call: HookCall
    let startedAt: Timestamp
    /// When its time is up; nil for a hook that does not wait.
    var deadline: Timestamp?
    var lua: LuaCall?
    var bodies: [Body]
    var changedBodies: Set<Int> = []
    var responses: [Int: Response] = [:]
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
    /// Chance for a call that has to be repeatable.
    var random: SeededChance

    init(id: UInt64, _ call: HookCall, at now: Timestamp) {
        self.id = id
        self.call = call
        startedAt = now
        deadline = call.plan.budget.wall.map { now.advanced(by: $0) }
        bodies = call.bodies
        random = SeededChance(seed: 0)
    }

    /// Notes what came of the last `next`.
    func end(_ ending: NextExchange.Ending) {
        if !exchanges.isEmpty { exchanges[exchanges.count - 1].ending = ending }
    }
}

/// Numbers that look like chance and are the same for the same seed (SplitMix64).
struct SeededChance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
