internal import CLuaSandbox
internal import SluiceCore

extension PluginHost {
    /// Asks a plugin about each row of a page, whatever the result of the row before. Together the calls may use that
    /// much fuel.
    ///
    /// Most scripts read a few members and set one. Such a call costs no more than the script itself: the row is read
    /// in place, and only the members that were set are checked. Every other call is made like any hook call.
    func begin(_ rows: PulledRows, of id: PluginInstance.ID, fuel: Int64) -> PulledRows.Steps {
        guard let instance = instances[id] else {
            return PulledRows.Steps(
                decisions: rows.rows.map { _ in .keep },
                others: rows.rows.indices.map { ($0, begin(rows.call(at: $0), of: id)) })
        }
        var run = RowRun(rows, instance, fuel: fuel, settings.environment)
        if let text = rows.text {
            RowView.with(text) { view, reader in
                run.withArguments(reader) { run, arguments in
                    for index in rows.rows.indices { ask(index, view, arguments, &run) }
                }
            }
        } else {
            for index in rows.rows.indices { askAlone(index, &run) }
        }
        run.finish()
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
            return run.alone(index) { take(instance.vm.step(call, id: state.id), state, instance) }
        }
        do {
            try run.decide(index, view, members)
            run.count(pointer)
            sluice_call_end(pointer)
        } catch {
            state.lua = LuaCall(pointer, id: state.id, of: instance.vm)
            run.alone(index) {
                instance.functions.current = nil
                return failed(ScriptFailure(of: error), state, instance)
            }
        }
    }

    /// Asks about a row with an ordinary hook call.
    private func askAlone(_ index: Int, _ run: inout RowRun) {
        let call = run.rows.call(at: index, fuel: min(run.fuelLeft, run.rows.plan.budget.fuel))
        let instance = run.instance
        run.alone(index) { begin(call, of: instance) }
    }
}

/// The progress of a plugin through the rows of a page.
struct RowRun {
    let rows: PulledRows
    let instance: PluginInstance
    let hook: StaticString
    private(set) var steps: PulledRows.Steps
    /// The fuel left for the remaining rows.
    private(set) var fuelLeft: Int64
    /// Whether the hook failed recently: then each call goes through the circuit breaker.
    private(set) var hasBreaker: Bool
    private var budget: sluice_budget
    private let fuelOfRow: Int64
    /// The state of a call, reused by the next one if it is untouched.
    private var state: CallState?
    private var rules: MemberRules
    /// The start of the calls that are counted together, by the steady clock.
    private var since: Timestamp
    private let environment: SyncEnvironment
    private var counts = (calls: 0, changed: 0, fuel: 0, cpuTime: 0 as Int64)
    private var elapsed = Duration.zero

    init(_ rows: PulledRows, _ instance: PluginInstance, fuel: Int64, _ environment: SyncEnvironment) {
        self.rows = rows
        self.instance = instance
        hook = "after_pull"
        steps = PulledRows.Steps(decisions: Array(repeating: .keep, count: rows.rows.count))
        fuelLeft = fuel
        fuelOfRow = rows.plan.budget.fuel
        budget = rows.plan.budget.sandbox(
            isDeterministic: instance.plan.manifest.isDeterministic, mayWait: rows.plan.kind.mayWait)
        hasBreaker = instance.breakers[rows.plan.kind] != nil
        rules = MemberRules(rows.check)
        self.environment = environment
        since = environment.steady()
    }

    /// Calls `body` with the arguments of each call: the row, through its reader, and `ctx`.
    mutating func withArguments(
        _ reader: UnsafePointer<sluice_reader>,
        _ body: (inout RowRun, UnsafeBufferPointer<sluice_argument>) -> Void
    ) {
        let context = instance.context(of: HookCall(plan: rows.plan, arguments: []) { _ in HookAnswer(true, "none") })
        LuaArgument.with([context]) { context in
            "rec".withCString { name in
                let row = sluice_argument(class_name: name, value: nil, reader: reader)
                ([row] + context).withUnsafeBufferPointer { body(&self, $0) }
            }
        }
    }

    /// Returns the state of the next call, for the plugin's host functions.
    mutating func state(for index: Int, id: UInt64, seed: () -> (HookCall) -> UInt64) -> CallState {
        if let state {
            state.move(to: index, id: id)
            return state
        }
        let new = CallState(rows, environment, seed: seed())
        new.move(to: index, id: id)
        instance.functions.current = new
        state = new
        return new
    }

    mutating func nextBudget() -> sluice_budget {
        budget.fuel = min(fuelLeft, fuelOfRow)
        return budget
    }

    /// Decides a row by the members that the script has set, if any.
    mutating func decide(_ index: Int, _ view: RowView, _ members: UnsafeRawPointer?) throws {
        guard let members else { return }
        let set = JSONHandle(sharingRaw: members)
        switch rules.find(members, view) {
        case .same: return
        case .changed: steps.decisions[index] = .set(JSON(set))
        case .unclear:
            guard let decision = try rows.decision(JSON(set), at: index) else { return }
            steps.decisions[index] = decision
        }
        counts.changed += 1
    }

    /// Counts a call that set members or decided nothing.
    mutating func count(_ call: OpaquePointer) {
        let fuel = sluice_call_fuel_used(call)
        fuelLeft = max(1, fuelLeft - fuel)
        counts.calls += 1
        counts.fuel += Int(fuel)
        counts.cpuTime += sluice_call_cpu_nanoseconds(call)
    }

    /// Makes a call that is counted by itself.
    mutating func alone(_ index: Int, _ call: () -> CallStep) {
        if state?.isUntouched ?? true { elapsed += since.duration(to: environment.steady()) }
        state = nil
        let before = instance.fuelUsed
        steps.others.append((index, call()))
        instance.functions.current = nil
        fuelLeft = max(1, fuelLeft - (instance.fuelUsed - before))
        hasBreaker = instance.breakers[rows.plan.kind] != nil
        since = environment.steady()
    }

    /// Adds the counts to the plugin's metrics.
    mutating func finish() {
        instance.functions.current = nil
        if counts.calls == 0 { return }
        var figures = PluginMetrics.Hook()
        figures.fuel = counts.fuel
        figures.cpuTime = .nanoseconds(counts.cpuTime)
        figures.elapsed = elapsed + since.duration(to: environment.steady())
        figures.calls = ["ok": counts.calls]
        figures.decisions = ["none": counts.calls - counts.changed, "changed": counts.changed].filter { $0.value > 0 }
        instance.figures[rows.plan.kind, default: .init()].add(figures)
        instance.settings.observer?.counted(counts.calls, errors: 0, of: instance.plan)
        instance.meters?.count(
            rows.plan.kind, decisions: figures.decisions, fuel: figures.fuel, cpuTime: figures.cpuTime,
            elapsed: figures.elapsed)
        instance.fuelUsed += Int64(figures.fuel)
    }
}
