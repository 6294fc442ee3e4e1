internal import SluiceCore

/// All plugins that take part in what the engine does, as one hook: each in its chain's order.
struct LuaSyncHook: SyncHook {
    static let name = "plugins"
    let hookName = LuaSyncHook.name
    let set: PluginSet
    /// What a plugin wants to stay here of what another has changed: for the ``ServedLocalOnlyHook`` after this hook.
    let localRecords: LocalRecords

    func wants(_ point: HookPoint, table: String) -> Bool {
        // What else a match asks for is not known yet.
        set.hooks(at: point).contains { $0.hook.isFor(table: table) }
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        var change = change
        var isChanged = false
        for plugin in set.enqueue {
            let (record, before) = (change.record ?? .object, change.before ?? .object)
            let names = record.names + before.names.filter { record[$0] == nil }
            let subject = MatchSubject(
                table: change.table, kind: RequestContext.Action(change.kind),
                fieldsChanged: names.filter { record[$0] != before[$0] }.map(\.text), sampleKey: change.recordID.text)
            guard plugin.hook.matches(subject) else { continue }
            let check = set.check(change.table, of: plugin)
            let argument = LuaArgument("op", OperationView.document(of: change))
            let verdict = try await plugin.ask(
                [argument], as: EnqueueVerdict.self, table: change.table, recordID: change.recordID
            ) { [change] in try EnqueueVerdict.read($0, change, check) }
            switch verdict {
            case .accept(let record?), .localOnly(let record?): (change.record, isChanged) = (record, true)
            case .reject(var refusal):
                refusal.hookName = plugin.name
                return .reject(refusal)
            case nil, .accept, .localOnly: break
            }
            guard case .localOnly = verdict else { continue }
            guard isChanged, let record = change.record else { return .localOnly }
            // One answer holds a record or that it stays here, so the second half is the next hook's.
            localRecords.note(record)
            return .change(record)
        }
        return isChanged ? change.record.map { .change($0) } ?? .accept : .accept
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

    func onPushError(_ failure: PushFailure) async throws -> PushErrorDecision {
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

    func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision] {
        let plugins = set.pull.filter { $0.hook.matches(MatchSubject(table: page.table)) }
        if plugins.count == 1 { return try await ask(plugins[0], page) }
        var decisions = [PulledRowDecision](repeating: .keep, count: page.rows.count)
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

    private func ask(_ plugin: PluginHook, _ page: PulledPage) async throws -> [PulledRowDecision] {
        try await plugin.ask(page, set.check(page.table, of: plugin))
    }
}

extension PluginHook {
    /// Asks about the rows of a page, in one visit of the plugins' thread.
    fileprivate func ask(_ page: PulledPage, _ check: RecordCheck) async throws -> [PulledRowDecision] {
        if hook.kind == .afterPullPage {
            let limited = PluginHook(caller: caller, hook: hook.limited(toRows: page.rows.count))
            return try await limited.ask(
                [LuaArgument("page", PageDocument.document(of: page))], as: [PulledRowDecision].self, table: page.table,
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

extension PulledRowDecision {
    fileprivate var isDrop: Bool { if case .drop = self { true } else { false } }

    /// Both decisions in one, the other being about the row as this one leaves it.
    fileprivate func followed(by other: PulledRowDecision) -> PulledRowDecision {
        switch (self, other) {
        case (_, .keep): self
        case (.set(let members), .set(let more)): .set(members.setting(more))
        case (.change(let record), .set(let members)): .change(record.setting(members))
        default: other
        }
    }
}

extension PulledRow {
    fileprivate mutating func take(_ decision: PulledRowDecision) {
        switch decision {
        case .set(let members): set(members)
        case .change(let changed): record = changed
        case .keep, .drop: break
        }
    }
}
