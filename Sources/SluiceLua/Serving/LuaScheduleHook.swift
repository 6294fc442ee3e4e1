internal import SluiceCore

/// All plugins that have a say in when to synchronise: the first that answers decides.
struct LuaScheduleHook: ScheduleHook {
    let hookName = LuaSyncHook.name
    let set: PluginSet

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        var document = JSON(members: [
            ("reason", JSON(question.reason.rawValue)), ("now", TimeFunctions.seconds(question.now)),
            ("next", TimeFunctions.seconds(question.next)), ("pulls", JSON(question.pulls)),
            ("pending", JSON(question.pending)), ("failures", JSON(question.failures)),
        ])
        if let time = question.notBefore { document["not_before"] = TimeFunctions.seconds(time) }
        for plugin in set.schedule {
            let decision = try await plugin.ask(
                [], as: ScheduleDecision?.self, table: "", recordID: nil, extra: [("question", document)]
            ) { try ScheduleVerdict.read($0, now: question.now) }
            if let decision = decision ?? nil { return decision }
        }
        return nil
    }
}
