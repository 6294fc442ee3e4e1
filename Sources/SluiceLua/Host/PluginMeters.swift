internal import CoreMetrics
internal import SluiceCore

/// What a plugin does, for the application's metrics. Only the plugins' thread touches it.
///
/// All labels are from small sets: names of plugins and hooks, modes, outcomes, and names of decisions.
final class PluginMeters {
    private struct Key: Hashable {
        let hook: HookKind
        let name: String
    }

    private struct Calls {
        let count: Counter
        let duration: Timer
    }

    private struct Cost {
        let fuel: Counter
        let cpu: Timer
    }

    private let factory: any MetricsFactory
    private let labels: [(String, String)]
    private var calls: [Key: Calls] = [:]
    private var decisions: [Key: Counter] = [:]
    private var costs: [HookKind: Cost] = [:]

    init(_ factory: any MetricsFactory, plugin: String, mode: PluginMode) {
        self.factory = factory
        labels = [("plugin", plugin), ("mode", mode.rawValue)]
    }

    /// Counts a call that came to an end.
    ///
    /// - Parameter decision: what was decided; nil where the call failed.
    func count(
        _ hook: HookKind, _ outcome: String, decision: String?, fuel: Int, cpuTime: Duration, elapsed: Duration
    ) {
        let calls = calls(hook, outcome)
        calls.count.increment()
        calls.duration.recordNanoseconds(elapsed.wholeNanoseconds)
        if let decision { self.decision(hook, decision).increment() }
        let cost = cost(hook)
        cost.fuel.increment(by: fuel)
        cost.cpu.recordNanoseconds(cpuTime.wholeNanoseconds)
    }

    /// Counts calls that ended well and were measured together: each took the same part of the time.
    func count(
        _ hook: HookKind, decisions: [String: Int], fuel: Int, cpuTime: Duration, elapsed: Duration
    ) {
        let (calls, cost) = (calls(hook, "ok"), cost(hook))
        for (name, count) in decisions {
            calls.count.increment(by: count)
            decision(hook, name).increment(by: count)
        }
        let count = max(1, decisions.values.reduce(0, +))
        let (part, cpuPart) = ((elapsed / count).wholeNanoseconds, (cpuTime / count).wholeNanoseconds)
        for _ in 0..<count {
            calls.duration.recordNanoseconds(part)
            cost.cpu.recordNanoseconds(cpuPart)
        }
        cost.fuel.increment(by: fuel)
    }

    /// Counts a call that was refused before it began.
    func refuse(_ hook: HookKind, _ outcome: String) { calls(hook, outcome).count.increment() }

    private func calls(_ hook: HookKind, _ outcome: String) -> Calls {
        let key = Key(hook: hook, name: outcome)
        if let calls = calls[key] { return calls }
        let labels = labels + [("hook", hook.rawValue), ("outcome", outcome)]
        let made = Calls(
            count: Counter(label: "sluice.plugin.calls", dimensions: labels, factory: factory),
            duration: Timer(label: "sluice.plugin.duration", dimensions: labels, factory: factory))
        calls[key] = made
        return made
    }

    private func decision(_ hook: HookKind, _ name: String) -> Counter {
        let key = Key(hook: hook, name: name)
        if let counter = decisions[key] { return counter }
        let counter = Counter(
            label: "sluice.plugin.decisions",
            dimensions: labels + [("hook", hook.rawValue), ("decision", name)], factory: factory)
        decisions[key] = counter
        return counter
    }

    private func cost(_ hook: HookKind) -> Cost {
        if let cost = costs[hook] { return cost }
        let labels = labels + [("hook", hook.rawValue)]
        let made = Cost(
            fuel: Counter(label: "sluice.plugin.fuel", dimensions: labels, factory: factory),
            cpu: Timer(label: "sluice.plugin.cpu", dimensions: labels, factory: factory))
        costs[hook] = made
        return made
    }
}
