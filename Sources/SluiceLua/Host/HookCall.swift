internal import SluiceCore

/// One question to one plugin.
struct HookCall: Sendable {
    /// The hook, with what a call may cost.
    var plan: HookPlan
    /// What the script gets before `ctx`.
    var arguments: [LuaArgument]
    /// The bodies that the arguments name by their places.
    var bodies: [Body] = []
    /// What makes requests of what the script does to theirs, for hooks around an exchange.
    var editor: RequestEditor?
    /// What the call is about, for the decision log.
    var table: String?
    var recordID: String?
    /// What the plugin's hooks of one exchange, and all plugins of it, keep for each other.
    var scratch = Self.nothing
    var shared = Self.nothing
    /// What `ctx` has besides, by name.
    var extra: [(name: String, value: JSON)] = []
    /// The most fuel, where that is less than the plan's.
    var fuel: Int64?
    /// Makes a decision of what the hook returned; what it throws is a failure of the plugin.
    var interpret: @Sendable (HookReturn) throws -> HookAnswer

    /// An object without members, one for all calls.
    private static let nothing = JSON.object

    /// Whether `ctx` is the same as in every other call of the hook.
    var hasPlainContext: Bool {
        extra.isEmpty && scratch.handle === Self.nothing.handle && shared.handle === Self.nothing.handle
    }
}

/// What a hook has returned and written to.
struct HookReturn {
    /// What it returned; nil for nothing.
    var value: JSON?
    /// The class of the object that it returned, where it is one.
    var type: String?
    /// The arguments that it wrote to, by their places.
    var changed: [Int: JSON]
    /// The bodies, those of answers behind those of the call.
    var bodies: [Body]
    /// The places of bodies that it wrote to.
    var changedBodies: Set<Int>
    /// The answers that the script got from `next`, by the places of their bodies.
    var responses: [Int: Response]
    /// What hides header fields from the script, for hooks around an exchange.
    var editor: RequestEditor?
}

/// What a plugin's answer comes to.
struct HookAnswer: Sendable {
    /// The decision, for the caller, who knows its type.
    var value: any Sendable
    /// Its name, for the log: `none`, `changed`, or that of a decision.
    var name: String
    /// Why, in the plugin's words.
    var reason: String?
    /// The plugin's scratch and the exchange's, where the script wrote to them.
    var scratch: JSON?
    var shared: JSON?

    init(_ value: any Sendable, _ name: String, reason: String? = nil) {
        self.value = value
        self.name = name
        self.reason = reason
    }
}

/// How far a question has come.
enum CallStep: Sendable {
    /// It is answered.
    case done(HookAnswer, saves: [String: JSON?])
    /// The script waits; `within` is what is left of its time, nil for a wait that does not count.
    case waits(UInt64, HostWait, within: Duration?)
    /// It failed.
    case failed(PluginFailure)
    /// The script has not caught the error of its last `next`: it is that error that the caller gets.
    case passedOn
}

/// What a wait came to.
enum WaitResult: Sendable {
    /// A value or an error for the script.
    case reply(HostReply)
    /// The answer of `next`, after so long.
    case response(Response, after: Duration)
    /// The error of `next`, after so long.
    case nextFailed(String, after: Duration)
    /// The time is up, or the task cancelled: the script is not asked any more.
    case ended(PluginFailure.Kind)
}
