internal import SluiceCore
internal import SluiceLua

/// Asks a plugin about generated conflicts.
struct ConflictJudge {
    let rig: PluginRig
    let hook: HookPlan
    let check: RecordCheck

    /// The plugin's answer.
    struct Answer {
        /// The decision; nil if the plugin failed.
        var decision: ConflictDecision?
        var failure: PluginFailure?
        /// The raw answer, for comparing two.
        var raw: JSON?

        var name: String {
            switch decision {
            case .server?: "server"
            case .client?: "client"
            case .merge?, .replace?: "merge"
            case .delete?: "delete"
            case .discard?: "discard"
            case .defer?: "defer"
            case .ask?: "ask"
            case .abort?: "abort"
            case .next?: "next"
            case nil: "failure"
            }
        }
    }

    func answer(_ conflict: Conflict) async -> Answer {
        let document = ConflictDocument(conflict: conflict, check: check)
        let call = HookCall(
            plan: hook, arguments: [LuaArgument("conflict", document.json)], table: conflict.table,
            recordID: conflict.recordID
        ) { result in
            let read = try document.decision(result)
            let raw = result.value ?? .null
            return HookAnswer(Judged(decision: read.value as? ConflictDecision ?? .next, raw: raw), read.name)
        }
        let run = await rig.run(call)
        guard let judged = run.answer?.value as? Judged else { return Answer(failure: run.failure) }
        return Answer(decision: judged.decision, raw: judged.raw)
    }

    private struct Judged: Sendable {
        var decision: ConflictDecision
        var raw: JSON
    }
}
