internal import CLuaSandbox
internal import SluiceCore

/// How far a plugin has come with the rows of a page.
struct RowRun {
    /// What became of a row.
    enum Answer {
        case decided(PulledRowDecision)
        case other(CallStep)
    }

    let rows: PulledRows
    let instance: PluginInstance
    let hook: String
    /// What is left for all rows that come.
    private(set) var fuelLeft: Int64
    var budget: sluice_budget
    /// The state of a call that may be the next one's too.
    var state: CallState?
    /// Whether the hook has failed lately: then each call is a question of its own.
    private(set) var hasBreaker: Bool
    /// Since when the calls that are counted together take their time.
    private(set) var since: Timestamp
    private var figures = PluginMetrics.Hook()
    private var calls = (kept: 0, changed: 0)

    init(_ rows: PulledRows, _ instance: PluginInstance, fuel: Int64, at now: Timestamp) {
        self.rows = rows
        self.instance = instance
        hook = rows.plan.kind.rawValue
        fuelLeft = fuel
        budget = rows.plan.budget.sandbox(
            isDeterministic: instance.plan.manifest.isDeterministic, mayWait: rows.plan.kind.mayWait)
        hasBreaker = instance.breakers[rows.plan.kind] != nil
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

    /// Counts a call that has decided nothing, or to set members.
    mutating func count(_ call: OpaquePointer, _ decision: PulledRowDecision?) {
        let fuel = sluice_call_fuel_used(call)
        fuelLeft = max(1, fuelLeft - fuel)
        figures.fuel += Int(fuel)
        figures.cpuTime += .nanoseconds(sluice_call_cpu_nanoseconds(call))
        if decision == nil { calls.kept += 1 } else { calls.changed += 1 }
    }

    /// A call that is counted by itself.
    mutating func alone(at now: () -> Timestamp, _ call: () -> CallStep) -> CallStep {
        if state == nil || state?.isUntouched == true { figures.elapsed += since.duration(to: now()) }
        state = nil
        let before = instance.fuelUsed
        let step = call()
        fuelLeft = max(1, fuelLeft - (instance.fuelUsed - before))
        hasBreaker = instance.breakers[rows.plan.kind] != nil
        since = now()
        return step
    }

    /// Adds what was counted to the plugin's figures.
    mutating func finish(at now: Timestamp) {
        let count = calls.kept + calls.changed
        if count == 0 { return }
        figures.elapsed += since.duration(to: now)
        figures.calls = ["ok": count]
        figures.decisions = ["none": calls.kept, "changed": calls.changed].filter { $0.value > 0 }
        instance.figures[rows.plan.kind, default: .init()].add(figures)
        instance.fuelUsed += Int64(figures.fuel)
    }
}
