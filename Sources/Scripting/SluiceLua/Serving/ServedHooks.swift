internal import SluiceCore

// Hooks that an application gets once. Each call uses the plugins that serve when it begins.

/// The chain of filters, as one filter: an exchange uses a single set.
struct ServedFilter: RequestFilter, RecordShaper {
    let plugins: Plugins

    func recordShape(of table: String) -> String? { plugins.current.filters.codec?.recordShape(of: table) }

    var takesPages: Bool { plugins.current.filters.takesPages }

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await plugins.serving { try await $0.filters.send(request, next: next) }
    }
}

/// The conflict handlers of all plugins, as one.
struct ServedConflictHandler: CombinedConflictHandler {
    let plugins: Plugins

    var decidesEqualEdits: Bool { plugins.current.conflict.contains { $0.hook.takesEqualEdits } }

    func decision(about conflict: Conflict) async throws -> (decision: ConflictDecision, addsUp: Bool) {
        try await plugins.serving { set in
            for plugin in set.conflict where !conflict.isEqualEdit || plugin.hook.takesEqualEdits {
                let check = set.check(conflict.table, of: plugin)
                let handler = LuaConflictHandler(caller: plugin.caller, hook: plugin.hook, check: check)
                let decision = try await handler.decide(conflict)
                if decision != .next { return (decision, plugin.hook.takesEqualEdits) }
            }
            return (.next, false)
        }
    }
}

/// The hooks of all plugins for writes, pushes and pulls, as one.
struct ServedSyncHook: SyncHook, RecordShaper {
    let plugins: Plugins
    let hookName = LuaSyncHook.name

    func recordShape(of table: String) -> String? { LuaSyncHook(set: plugins.current).recordShape(of: table) }

    func wants(_ point: HookPoint, table: String) -> Bool {
        LuaSyncHook(set: plugins.current).wants(point, table: table)
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).beforeEnqueue(change) }
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).beforePush(operation, record: record) }
    }

    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision {
        try await plugins.serving { try await LuaSyncHook(set: $0).onPushError(failure) }
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        try await plugins.serving { try await LuaSyncHook(set: $0).afterPull(page) }
    }
}

/// The `on_schedule` hooks of all plugins, as one.
struct ServedScheduleHook: ScheduleHook {
    let plugins: Plugins
    let hookName = LuaSyncHook.name

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        try await plugins.serving { try await LuaScheduleHook(set: $0).onSchedule(question) }
    }
}

/// The `on_schedule` hooks of a set: the first that answers decides.
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

/// The hooks of a set for writes, pushes and pulls, each in its chain's order.
struct LuaSyncHook: SyncHook, RecordShaper {
    static let name = "plugins"
    let hookName = LuaSyncHook.name
    let set: PluginSet

    func recordShape(of table: String) -> String? {
        let shapes = set.pull.filter { $0.hook.isFor(table: table) }.compactMap(\.caller.plan.shape)
        return shapes.isEmpty ? nil : shapes.joined(separator: "\n")
    }

    func wants(_ point: HookPoint, table: String) -> Bool {
        // The other conditions of a match are not known yet.
        set.hooks(at: point).contains { $0.hook.isFor(table: table) }
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        var change = change
        var changed: JSON?
        for plugin in set.enqueue {
            let (record, before) = (change.record ?? .object, change.before ?? .object)
            let names = record.names + before.names.filter { record[$0] == nil }
            let subject = MatchSubject(
                table: change.table, kind: SyncRequest.Context.Action(change.kind),
                fieldsChanged: names.filter { record[$0] != before[$0] }.map(\.text), sampleKey: change.recordID.text)
            guard plugin.hook.matches(subject) else { continue }
            let check = set.check(change.table, of: plugin)
            let argument = LuaArgument("op", OperationView.document(of: change))
            let decision = try await plugin.ask(
                [argument], as: EnqueueDecision.self, table: change.table, recordID: change.recordID
            ) { [change] in try BeforeEnqueueVerdict.read($0, change, check) }
            switch decision {
            case .change(let record):
                change.record = record
                changed = record
            case .localOnly(let record): return .localOnly(record ?? changed)
            case .reject(var refusal):
                refusal.hookName = plugin.name
                return .reject(refusal)
            case nil, .accept: break
            }
        }
        return changed.map { .change($0) } ?? .accept
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        for plugin in set.push {
            guard plugin.hook.matches(MatchSubject(operation, fieldsChanged: record?.names.map(\.text))) else {
                continue
            }
            let check = set.check(operation.table, of: plugin)
            let argument = LuaArgument(
                "op", OperationView.document(of: operation, record: record, dialect: set.dialect))
            let decision = try await plugin.ask(
                [argument], as: BeforePushDecision.self, table: operation.table, recordID: operation.recordID
            ) { try BeforePushVerdict.read($0, operation, record, check) }
            if let decision, decision != .send { return decision }
        }
        return .send
    }

    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision {
        let operation = failure.operation
        for plugin in set.pushError {
            guard plugin.hook.matches(MatchSubject(operation, status: failure.status)) else { continue }
            let check = set.check(operation.table, of: plugin)
            let argument = LuaArgument("failure", OperationView.document(of: failure, dialect: set.dialect))
            let decision = try await plugin.ask(
                [argument], as: PushErrorDecision.self, table: operation.table, recordID: operation.recordID
            ) { try PushErrorVerdict.read($0, failure, check) }
            if let decision, decision != .next { return decision }
        }
        return .next
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        let plugins = set.pull.filter { $0.hook.matches(MatchSubject(table: page.table)) }
        if plugins.count == 1 { return try await ask(plugins[0], page) }
        var decisions = [PulledRow.Decision](repeating: .keep, count: page.rows.count)
        var part = page
        var shown = Array(page.rows.indices)
        for plugin in plugins {
            for (place, answer) in zip(part.rows.indices, try await ask(plugin, part)) {
                part.rows[place].take(answer)
                decisions[shown[place]] = decisions[shown[place]].followed(by: answer)
            }
            let left = part.rows.indices.filter { !decisions[shown[$0]].isDrop }
            (part.rows, shown) = (left.map { part.rows[$0] }, left.map { shown[$0] })
        }
        return decisions
    }

    private func ask(_ plugin: PluginHook, _ page: PulledPage) async throws -> [PulledRow.Decision] {
        try await plugin.ask(page, set.check(page.table, of: plugin))
    }
}

extension PluginHook {
    /// Asks about the rows of a page, with one switch to the plugins' thread.
    fileprivate func ask(_ page: PulledPage, _ check: RecordCheck) async throws -> [PulledRow.Decision] {
        if hook.kind == .afterPullPage {
            let limited = PluginHook(caller: caller, hook: hook.limited(toRows: page.rows.count))
            return try await limited.ask(
                [LuaArgument("page", PageDocument.document(of: page))], as: [PulledRow.Decision].self,
                table: page.table,
                recordID: nil
            ) { try PulledVerdict.readPage($0, page, check) } ?? page.rows.map { _ in .keep }
        }
        let answers = try await caller.ask(
            PulledRows(page, hook, check),
            fuel: HookKind.afterPullPage.budget.fuel(forRecords: page.rows.count))
        if isShadow { return page.rows.map { _ in .keep } }
        for (index, failure) in answers.failures {
            try pass(failure, table: page.table, recordID: page.rows[index].id)
        }
        return answers.decisions
    }
}

extension PulledRow.Decision {
    fileprivate var isDrop: Bool { if case .drop = self { true } else { false } }

    /// Combines two decisions; the other one is about the row after this one.
    fileprivate func followed(by other: PulledRow.Decision) -> PulledRow.Decision {
        switch (self, other) {
        case (_, .keep): self
        case (.set(let members), .set(let more)): .set(members.setting(more))
        case (.change(let record), .set(let members)): .change(record.setting(members))
        default: other
        }
    }
}

extension PulledRow {
    fileprivate mutating func take(_ decision: PulledRow.Decision) {
        switch decision {
        case .set(let members): set(members)
        case .change(let changed): record = changed
        case .keep, .drop: break
        }
    }
}
