package import SluiceCore

/// One question to one plugin.
package final class HookCall: Sendable {
    /// The hook, with what a call may cost.
    package let plan: HookPlan
    /// What the script gets before `ctx`.
    package let arguments: [LuaArgument]
    /// The bodies that the arguments name by their places.
    package let bodies: [Body]
    /// What makes requests of what the script does to theirs, for hooks around an exchange.
    package let editor: RequestEditor?
    /// What reads the request that the script gives to `next`, for hooks of a server's tables.
    package let tableRequest: TableRequestDocument?
    /// What the call is about, for the decision log.
    package let table: String?
    package let recordID: RecordID?
    /// What the plugin's hooks of one exchange, and all plugins of it, keep for each other; nil for nothing yet.
    let scratch: JSON?
    let shared: JSON?
    /// What `ctx` has besides, by name.
    package let extra: [(name: String, value: JSON)]
    /// The most fuel, where that is less than the plan's.
    let fuel: Int64?
    /// Makes a decision of what the hook returned; what it throws is a failure of the plugin.
    package let interpret: @Sendable (HookReturn) throws -> HookAnswer

    package init(
        plan: HookPlan, arguments: [LuaArgument], bodies: [Body] = [], editor: RequestEditor? = nil,
        tableRequest: TableRequestDocument? = nil, table: String? = nil, recordID: RecordID? = nil,
        scratch: JSON? = nil, shared: JSON? = nil,
        extra: [(name: String, value: JSON)] = [], fuel: Int64? = nil,
        interpret: @escaping @Sendable (HookReturn) throws -> HookAnswer
    ) {
        self.plan = plan
        self.arguments = arguments
        self.bodies = bodies
        self.editor = editor
        self.tableRequest = tableRequest
        self.table = table
        self.recordID = recordID
        self.scratch = scratch
        self.shared = shared
        self.extra = extra
        self.fuel = fuel
        self.interpret = interpret
    }

    /// Whether `ctx` is the same as in every other call of the hook.
    var hasPlainContext: Bool { extra.isEmpty && scratch == nil && shared == nil }
}

/// What a hook has returned and written to.
package struct HookReturn {
    /// What it returned; nil for nothing.
    package var value: JSON?
    /// The class of the object that it returned, where it is one.
    package var type: String?
    /// The arguments that it wrote to, by their places.
    package var changed: [Int: JSON]
    /// The bodies, those of answers after those of the call.
    var bodies: [Body]
    /// The places of bodies that it wrote to.
    var changedBodies: Set<Int>
    /// The answers that the script got from `next`, by the places of their bodies.
    var responses: [Int: GivenResponse]
    /// What hides header fields from the script, for hooks around an exchange.
    var editor: RequestEditor?
    /// Whether the member `record` of the table that it returned is an object: what that lacks was taken out.
    var holdsObject = false
}

/// What a plugin's answer comes to.
package struct HookAnswer: Sendable {
    /// The decision, for the caller, who knows its type.
    package var value: any Sendable
    /// Its name, for the log: `none`, `changed`, or that of a decision.
    package var name: String
    /// Why, in the plugin's words.
    package var reason: String?
    /// The record that a merge comes to, for the log: rules name fields alone.
    var record: JSON?
    /// The plugin's scratch and the exchange's, where the script wrote to them.
    var scratch: JSON?
    var shared: JSON?
    /// Whether it is the answer to a push, or rewrites one.
    var answersPush: Bool

    package init(_ value: any Sendable, _ name: String, reason: String? = nil, answersPush: Bool = false) {
        self.answersPush = answersPush
        self.value = value
        self.name = name
        self.reason = reason
    }
}

/// How far a question has come.
package enum CallStep: Sendable {
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
package enum WaitResult: Sendable {
    /// A value or an error for the script.
    case reply(HostReply)
    /// The answer of `next`, after so long.
    case response(Response, after: Duration)
    /// What a server's table answered, after so long.
    case rows(JSON, after: Duration)
    /// The error of `next`, after so long.
    case nextFailed(String, after: Duration)
    /// The time is up, or the task cancelled: the script is not asked any more.
    case ended(PluginFailure.Kind)
}
