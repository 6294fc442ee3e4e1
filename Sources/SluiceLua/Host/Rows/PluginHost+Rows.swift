internal import CLuaSandbox
internal import SluiceCore

extension PluginHost {
    /// Asks a plugin about each row of a page, whatever became of the one before. Together the calls may use that much
    /// fuel.
    ///
    /// Most scripts read a few members and set one. Such a call costs no more than what the script does: the row is read
    /// where it stands, and of what was set only the members are looked at. Every other call goes the way of all hooks.
    func begin(_ rows: PulledRows, of id: PluginInstance.ID, fuel: Int64) -> PulledRows.Steps {
        var steps = PulledRows.Steps(decisions: rows.rows.map { _ in .keep })
        guard let instance = instances[id] else {
            steps.others = rows.rows.indices.map { ($0, begin(rows.call(at: $0), of: id)) }
            return steps
        }
        var run = RowRun(rows, instance, fuel: fuel, at: now)
        if let text = rows.text {
            RowView.with(text) { view, reader in
                run.withArguments(reader) { run, arguments in
                    for index in rows.rows.indices {
                        steps.take(ask(index, view, arguments, &run), at: index)
                    }
                }
            }
        } else {
            for index in rows.rows.indices { steps.take(.other(askAlone(index, &run)), at: index) }
        }
        run.finish(at: now)
        release(instance)
        return steps
    }

    private func ask(
        _ index: Int, _ view: UnsafeMutablePointer<RowView>, _ arguments: UnsafeBufferPointer<sluice_argument>,
        _ run: inout RowRun
    ) -> RowRun.Answer {
        let instance = run.instance
        guard !run.hasBreaker, instance.functions.calls.count < PluginInstance.maximumCalls,
            view.pointee.turn(to: run.rows.rows[index])
        else { return .other(askAlone(index, &run)) }
        let state = run.state ?? CallState(run.rows, at: run.since, seed: seed(of: instance))
        run.state = state
        state.move(to: index, of: run.rows, id: nextCall())
        run.budget.fuel = min(run.fuelLeft, run.rows.plan.budget.fuel)
        instance.functions.current = state
        let call = instance.vm.call(run.hook, arguments, budget: run.budget, id: state.id)
        var members: UnsafeRawPointer?
        guard case .done(let pointer) = call, state.isUntouched, sluice_call_has_set_only(pointer, 0, &members) else {
            return .other(run.alone(at: { now }) { take(instance.vm.step(call, id: state.id), state, instance) })
        }
        instance.functions.current = nil
        do {
            let decision = try members.flatMap { try run.rows.decision(JSON(JSONHandle(sharingRaw: $0)), at: index) }
            run.count(pointer, decision)
            sluice_call_end(pointer)
            return .decided(decision ?? .keep)
        } catch {
            state.lua = LuaCall(pointer, id: state.id, of: instance.vm)
            return .other(run.alone(at: { now }) { failed(ScriptFailure(of: error), state, instance) })
        }
    }

    /// Asks about a row as any hook is asked.
    private func askAlone(_ index: Int, _ run: inout RowRun) -> CallStep {
        var call = run.rows.call(at: index)
        call.fuel = min(run.fuelLeft, call.plan.budget.fuel)
        let instance = run.instance
        return run.alone(at: { now }) { begin(call, of: instance) }
    }
}

extension PulledRows.Steps {
    fileprivate mutating func take(_ answer: RowRun.Answer, at index: Int) {
        switch answer {
        case .decided(let decision): decisions[index] = decision
        case .other(let step): others.append((index, step))
        }
    }
}

extension PulledRows {
    /// What the script has decided by setting members of a row; nil if that changes nothing.
    fileprivate func decision(_ members: JSON, at index: Int) throws -> PulledRowDecision? {
        try check.checked(members: members, of: rows[index]).map { .set($0) }
    }
}
