internal import SluiceCore

/// All plugins that take part in what the engine does, as one hook: each in its chain's order.
struct LuaSyncHook: SyncHook {
    static let name = "plugins"
    let hookName = LuaSyncHook.name
    let set: PluginSet
    /// What a plugin wants to stay here of what another has changed: for the ``ServedLocalOnlyHook`` behind this hook.
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
                fieldsChanged: names.filter { record[$0] != before[$0] }, sampleKey: change.recordID)
            guard plugin.hook.matches(subject) else { continue }
            let check = set.check(change.table, of: plugin)
            let argument = LuaArgument("op", OperationView.document(of: change))
            let verdict = try await plugin.ask(
                [argument], as: EnqueueVerdict.self, table: change.table, recordID: change.recordID
            ) { [change] in try EnqueueVerdict.read($0, change, check) }
            switch verdict {
            case .accept(let record?), .localOnly(let record?): (change.record, isChanged) = (record, true)
            case .reject(let refusal): return .reject(refusal)
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
            guard plugin.hook.matches(MatchSubject(operation, fieldsChanged: record?.names)) else { continue }
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
        var decisions = [PulledRowDecision](repeating: .keep, count: page.rows.count)
        var rows = page.rows
        for plugin in set.pull where plugin.hook.matches(MatchSubject(table: page.table)) {
            let shown = rows.indices.filter { if case .drop = decisions[$0] { false } else { true } }
            var part = page
            part.rows = shown.map { rows[$0] }
            let answers = try await plugin.ask(part, set.check(page.table, of: plugin))
            for (index, answer) in zip(shown, answers) {
                switch answer {
                case .keep: break
                case .change(let record):
                    rows[index].record = record
                    decisions[index] = answer
                case .set(let members):
                    rows[index].set(members)
                    decisions[index] = .change(rows[index].record)
                case .drop: decisions[index] = answer
                }
            }
        }
        return decisions
    }
}

extension PluginHook {
    /// Asks about the rows of a page, in one visit of the plugins' thread.
    fileprivate func ask(_ page: PulledPage, _ check: RecordCheck) async throws -> [PulledRowDecision] {
        let kept = page.rows.map { _ in PulledRowDecision.keep }
        if hook.kind == .afterPullPage {
            let limited = PluginHook(caller: caller, hook: hook.limited(toRows: page.rows.count))
            return try await limited.ask(
                [LuaArgument("page", PageDocument.document(of: page))], as: [PulledRowDecision].self, table: page.table,
                recordID: nil
            ) { try PulledVerdict.readPage($0, page, check) } ?? kept
        }
        let calls = page.rows.map { row in
            HookCall(
                plan: hook, arguments: [LuaArgument("rec", row.record)], table: page.table, recordID: row.id,
                interpret: { try PulledVerdict.read($0, row, check) })
        }
        let results = try await caller.askAll(
            calls, as: PulledRowDecision.self, fuel: HookKind.afterPullPage.budget.fuel(forRecords: calls.count))
        if isShadow { return kept }
        return try zip(page.rows, results).map { row, result in
            switch result {
            case .success(let decision): return decision
            case .failure(let failure):
                try pass(failure, table: page.table, recordID: row.id)
                return .keep
            }
        }
    }
}
