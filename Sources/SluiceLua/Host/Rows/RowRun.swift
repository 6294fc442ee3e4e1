internal import CLuaSandbox
internal import SluiceCore

/// How far a plugin has come with the rows of a page.
struct RowRun {
    let rows: PulledRows
    let instance: PluginInstance
    let hook: StaticString
    private(set) var steps: PulledRows.Steps
    /// What is left for all rows that come.
    private(set) var fuelLeft: Int64
    /// Whether the hook has failed lately: then each call is a question of its own.
    private(set) var hasBreaker: Bool
    private var budget: sluice_budget
    private let fuelOfRow: Int64
    /// The state of a call that may be the next one's too.
    private var state: CallState?
    private var rules: MemberRules
    /// Since when the calls that are counted together take their time.
    private var since: Timestamp
    private var counts = (calls: 0, changed: 0, fuel: 0, cpuTime: 0 as Int64)
    private var elapsed = Duration.zero

    init(_ rows: PulledRows, _ instance: PluginInstance, fuel: Int64, at now: Timestamp) {
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
        since = now
    }

    /// Calls `body` with the arguments of each call: the row, by its reader, and `ctx`.
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

    /// The state of the next call, which the plugin's host functions see.
    mutating func state(for index: Int, id: UInt64, seed: () -> (HookCall) -> UInt64) -> CallState {
        if let state {
            state.move(to: index, id: id)
            return state
        }
        let new = CallState(rows, at: since, seed: seed())
        new.move(to: index, id: id)
        instance.functions.current = new
        state = new
        return new
    }

    mutating func nextBudget() -> sluice_budget {
        budget.fuel = min(fuelLeft, fuelOfRow)
        return budget
    }

    /// Takes members that the script has set, or none.
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

    /// Counts a call that has decided nothing, or to set members.
    mutating func count(_ call: OpaquePointer) {
        let fuel = sluice_call_fuel_used(call)
        fuelLeft = max(1, fuelLeft - fuel)
        counts.calls += 1
        counts.fuel += Int(fuel)
        counts.cpuTime += sluice_call_cpu_nanoseconds(call)
    }

    /// A call that is counted by itself.
    mutating func alone(_ index: Int, at now: () -> Timestamp, _ call: () -> CallStep) {
        if state?.isUntouched ?? true { elapsed += since.duration(to: now()) }
        state = nil
        let before = instance.fuelUsed
        steps.others.append((index, call()))
        instance.functions.current = nil
        fuelLeft = max(1, fuelLeft - (instance.fuelUsed - before))
        hasBreaker = instance.breakers[rows.plan.kind] != nil
        since = now()
    }

    /// Adds what was counted to the plugin's figures.
    mutating func finish(at now: Timestamp) {
        instance.functions.current = nil
        if counts.calls == 0 { return }
        var figures = PluginMetrics.Hook()
        figures.fuel = counts.fuel
        figures.cpuTime = .nanoseconds(counts.cpuTime)
        figures.elapsed = elapsed + since.duration(to: now)
        figures.calls = ["ok": counts.calls]
        figures.decisions = ["none": counts.calls - counts.changed, "changed": counts.changed].filter { $0.value > 0 }
        instance.figures[rows.plan.kind, default: .init()].add(figures)
        instance.meters?.count(
            rows.plan.kind, decisions: figures.decisions, fuel: figures.fuel, cpuTime: figures.cpuTime,
            elapsed: figures.elapsed)
        instance.fuelUsed += Int64(figures.fuel)
    }
}
