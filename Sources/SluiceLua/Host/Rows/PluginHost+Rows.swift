internal import CLuaSandbox
internal import SluiceCore

extension PluginHost {
    /// Asks a plugin about each row of a page, whatever became of the one before. Together the calls may use that much
    /// fuel.
    ///
    /// Most scripts read a few members and set one. Such a call costs no more than what the script does: the row is
    /// read where it stands, and of what was set only the members are looked at. Every other call goes the way of all
    /// hooks.
    func begin(_ rows: PulledRows, of id: PluginInstance.ID, fuel: Int64) -> PulledRows.Steps {
        guard let instance = instances[id] else {
            return PulledRows.Steps(
                decisions: rows.rows.map { _ in .keep },
                others: rows.rows.indices.map { ($0, begin(rows.call(at: $0), of: id)) })
        }
        var run = RowRun(rows, instance, fuel: fuel, at: now)
        if let text = rows.text {
            RowView.with(text) { view, reader in
                run.withArguments(reader) { run, arguments in
                    for index in rows.rows.indices { ask(index, view, arguments, &run) }
                }
            }
        } else {
            for index in rows.rows.indices { askAlone(index, &run) }
        }
        run.finish(at: now)
        release(instance)
        return run.steps
    }

    private func ask(
        _ index: Int, _ view: RowView, _ arguments: UnsafeBufferPointer<sluice_argument>, _ run: inout RowRun
    ) {
        guard !run.hasBreaker, view.turn(to: run.rows.rows[index]) else { return askAlone(index, &run) }
        let instance = run.instance
        guard instance.functions.calls.count < PluginInstance.maximumCalls else { return askAlone(index, &run) }
        let state = run.state(for: index, id: nextCall(), seed: { seed(of: instance) })
        let call = instance.vm.call(run.hook, arguments, budget: run.nextBudget(), id: state.id)
        var members: UnsafeRawPointer?
        guard case .done(let pointer) = call, state.isUntouched, sluice_call_has_set_only(pointer, 0, &members) else {
            return run.alone(index, at: { now }) { take(instance.vm.step(call, id: state.id), state, instance) }
        }
        do {
            try run.decide(index, view, members)
            run.count(pointer)
            sluice_call_end(pointer)
        } catch {
            state.lua = LuaCall(pointer, id: state.id, of: instance.vm)
            run.alone(index, at: { now }) {
                instance.functions.current = nil
                return failed(ScriptFailure(of: error), state, instance)
            }
        }
    }

    /// Asks about a row as any hook is asked.
    private func askAlone(_ index: Int, _ run: inout RowRun) {
        let call = run.rows.call(at: index, fuel: min(run.fuelLeft, run.rows.plan.budget.fuel))
        let instance = run.instance
        run.alone(index, at: { now }) { begin(call, of: instance) }
    }
}
