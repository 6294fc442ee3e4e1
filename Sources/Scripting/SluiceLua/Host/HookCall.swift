package import SluiceCore

/// One call of one plugin's hook.
package final class HookCall: Sendable {
    /// The hook, with the limits of a call.
    package let plan: HookPlan
    /// The script's arguments before `ctx`.
    package let arguments: [LuaArgument]
    /// The bodies that the arguments refer to by index.
    package let bodies: [MessageBody]
    /// The editor that applies the script's changes to the request, for hooks around an exchange.
    package let editor: RequestEditor?
    /// The request that reads the script's changes at `next`, for hooks of a server's tables.
    package let tableRequest: TableRequestDocument?
    /// The table and the record of the call, for the decision log.
    package let table: String?
    package let recordID: RecordID?
    /// The values shared by the plugin's hooks of one exchange, and by all its plugins; nil for none yet.
    let scratch: JSON?
    let shared: JSON?
    /// Further members of `ctx`, by name.
    package let extra: [(name: String, value: JSON)]
    /// A fuel limit below the plan's.
    let fuel: Int64?
    /// Turns the hook's result into a decision. An error here is a failure of the plugin.
    package let interpret: @Sendable (HookReturn) throws -> HookAnswer

    package init(
        plan: HookPlan, arguments: [LuaArgument], bodies: [MessageBody] = [], editor: RequestEditor? = nil,
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

/// The result of a hook, and the arguments and bodies that it wrote to.
package struct HookReturn {
    /// The returned value; nil for none.
    package var value: JSON?
    /// The class of the returned object, if it is one.
    package var type: String?
    /// The changed arguments, by their indexes.
    package var changed: [Int: JSON]
    /// The bodies: those of the call first, then those of answers.
    var bodies: [MessageBody]
    /// The indexes of the changed bodies.
    var changedBodies: Set<Int>
    /// The answers that the script got from `next`, by the indexes of their bodies.
    var responses: [Int: GivenResponse]
    /// The editor that hides header fields from the script, for hooks around an exchange.
    var editor: RequestEditor?
    /// Whether the `record` of the returned table is an object: then a missing field was removed on purpose.
    var holdsObject = false
}

/// A plugin's answer to a call.
package struct HookAnswer: Sendable {
    /// The decision; the caller knows its type.
    package var value: any Sendable
    /// Its name for the log: `none`, `changed`, or the name of a decision.
    package var name: String
    /// The plugin's reason.
    package var reason: String?
    /// The record that results from a merge, for the log: rules only name fields.
    var record: JSON?
    /// The plugin's scratch values and the exchange's shared ones, if the script changed them.
    var scratch: JSON?
    var shared: JSON?
    /// Whether it answers a push, or rewrites the answer to one.
    var answersPush: Bool

    package init(_ value: any Sendable, _ name: String, reason: String? = nil, answersPush: Bool = false) {
        self.answersPush = answersPush
        self.value = value
        self.name = name
        self.reason = reason
    }
}

/// The progress of a call.
package enum CallStep: Sendable {
    /// The hook has answered.
    case done(HookAnswer, saves: [String: JSON?])
    /// The script waits; `within` is the rest of its time, nil for a wait without a limit.
    case waits(UInt64, HostWait, within: Duration?)
    /// The call failed.
    case failed(PluginFailure)
    /// The script did not catch the error of its last `next`: the caller gets that error.
    case passedOn
}

/// The result of a wait.
package enum WaitResult: Sendable {
    /// A value or an error for the script.
    case reply(HostReply)
    /// The answer of `next`, with its duration.
    case response(SyncResponse, after: Duration)
    /// The answer of a server's table, with its duration.
    case rows(JSON, after: Duration)
    /// The error of `next`, with its duration.
    case nextFailed(String, after: Duration)
    /// The time is up, or the task was cancelled: the script is not resumed.
    case ended(PluginFailure.Kind)
}
