package import CLuaSandbox
internal import CoreMetrics
internal import SluiceCore

/// A loaded plugin: its machine and the state of its calls. Only the plugins' thread uses it.
package final class PluginInstance {
    /// The identity of an instance among all of its host.
    package struct ID: Sendable, Hashable {
        let number: Int
    }

    /// The number of calls ended for their cost after which a machine is replaced.
    private static let killsOfMachine = 3
    /// The maximum number of calls under way of one plugin.
    static let maximumCalls = 256

    let id: ID
    let plan: PluginPlan
    /// The plugin's version, with the hash of its files.
    let version: String
    let functions: HostFunctions
    var breakers: [HookKind: CircuitBreaker] = [:]
    /// Whether a newer set has replaced it: it is released after its last call.
    var isRetired = false
    /// The fuel of all calls so far.
    package var fuelUsed: Int64 = 0
    package private(set) var vm: LuaVM
    /// The number of times that its machine was replaced.
    private(set) var rebuilds = 0
    /// The metrics of its calls, by hook.
    var figures: [HookKind: PluginMetrics.Hook] = [:]
    /// The same counts for the application's metrics.
    let meters: PluginMeters?
    private var contexts: [HookKind: LuaArgument] = [:]
    private let environment: JSON
    let settings: HostSettings

    /// Creates the machine and runs `main`.
    ///
    /// - Throws: ``ScriptFailure``.
    init(
        id: ID, _ plan: PluginPlan, values: KeyValueBox, secrets: SecretBook, _ settings: HostSettings
    ) throws(ScriptFailure) {
        self.id = id
        self.plan = plan
        version = "\(plan.manifest.version)+\(plan.bundle.digest)"
        self.settings = settings
        meters = settings.metrics.map { PluginMeters($0, plugin: plan.name, mode: plan.mode) }
        functions = HostFunctions(plan, values: values, secrets: secrets, settings)
        let labels = JSON(members: plan.deployment.labels.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) })
        environment = [
            "config": plan.config,
            "deployment": ["id": plan.deployment.id.map { JSON($0) } ?? .null, "labels": labels],
            "plugin": ["name": JSON(plan.name), "version": JSON(plan.manifest.version)],
        ]
        vm = try Self.machine(plan, environment, functions, settings)
    }

    private static func machine(
        _ plan: PluginPlan, _ environment: JSON, _ functions: HostFunctions, _ settings: HostSettings
    ) throws(ScriptFailure) -> LuaVM {
        var limits = sluice_limits_default()
        limits.memory_bytes = plan.memoryBytes
        limits.is_deterministic = plan.manifest.isDeterministic
        let vm = try LuaVM(limits: limits) { functions.answer($0, $1, $2, $3) }
        if settings.testsGuards {
            let failed = vm.selfTest()
            guard failed.isEmpty else {
                throw ScriptFailure(.load, "guards of the sandbox do not hold: \(failed.joined(separator: ", "))")
            }
        }
        let hooks = try vm.load(
            prelude: Prelude.source,
            sources: plan.bundle.sources.map(LuaSource.init), environment: environment,
            budget: plan.loadBudget.sandbox(isDeterministic: plan.manifest.isDeterministic, mayWait: false))
        let (found, declared) = (Set(hooks), Set(plan.manifest.hooks.keys.map(\.rawValue)))
        guard found == declared else {
            let missing = declared.subtracting(found).sorted().map { "\($0) is declared and not returned" }
            let known = HookKind.allCases.map(\.rawValue)
            let surplus = found.subtracting(declared).sorted().map { name in
                let hint = known.contains(name) ? "" : NearestKey.suggestion(for: name, among: known) ?? ""
                return "\(name) is returned and not declared\(hint.replacing(";", with: ","))"
            }
            throw ScriptFailure(
                .load, "plugin.json and \(plan.manifest.main) differ: \((missing + surplus).joined(separator: "; "))",
                file: plan.manifest.main)
        }
        return vm
    }

    /// Returns the `ctx` of a call.
    func context(of call: HookCall) -> LuaArgument {
        guard call.hasPlainContext else { return Self.context(of: call) }
        if let context = contexts[call.plan.kind] { return context }
        let context = Self.context(of: call)
        contexts[call.plan.kind] = context
        return context
    }

    private static func context(of call: HookCall) -> LuaArgument {
        LuaArgument(
            "ctx",
            JSON(
                members: [
                    ("hook", JSON(call.plan.kind.rawValue)), ("scratch", call.scratch ?? .object),
                    ("shared", call.shared ?? .object),
                ] + call.extra))
    }

    /// Returns a hash of a call's arguments.
    func inputHash(of call: HookCall) -> String {
        var hash = DocumentHash()
        for argument in call.arguments { hash.add(argument.value) }
        return String(hash.value, radix: 16)
    }

    /// Whether the machine was stopped so often that it has to be replaced.
    var isWorn: Bool { vm.kills >= Self.killsOfMachine }

    /// Replaces the machine. Calls under way end on the old one.
    func rebuild() throws(ScriptFailure) {
        vm = try Self.machine(plan, environment, functions, settings)
        rebuilds += 1
    }
}

extension HookBudget {
    /// Returns the budget for the sandbox. A deterministic plugin is not limited by clocks, because it must be
    /// repeatable.
    package func sandbox(isDeterministic: Bool, mayWait: Bool, fuel: Int64? = nil) -> sluice_budget {
        sluice_budget(
            fuel: min(self.fuel, fuel ?? .max), burst_nanoseconds: isDeterministic ? 0 : burst.wholeNanoseconds,
            cpu_nanoseconds: isDeterministic ? 0 : cpu?.wholeNanoseconds ?? 0, may_wait: mayWait)
    }
}

/// The counters of one plugin in the application's metrics. Only the plugins' thread uses it.
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

    /// Counts a finished call.
    ///
    /// - Parameter decision: the name of the decision; nil if the call failed.
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

    /// Counts successful calls that were measured together: each gets an equal share of the time.
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
