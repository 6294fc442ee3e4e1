public import SluiceCore
public import SluiceLua

/// Measures the cost of a bundle's hooks over its fixtures, relative to their limits.
public struct PluginBench: Sendable {
    private let bundle: PluginBundle
    private let rounds: Int
    private let plan: PluginPlan?

    /// Creates a benchmark that calls each fixture that many times, each time in a new machine.
    ///
    /// - Parameter plan: the deployment's plan, if its limits and its configuration have to apply.
    public init(_ bundle: PluginBundle, rounds: Int = 20, in plan: PluginPlan? = nil) {
        self.bundle = bundle
        self.plan = plan
        self.rounds = max(1, rounds)
    }

    /// Runs it. Fixtures that fail in any round are listed and not measured.
    public func run() async -> BenchReport {
        var hooks: [HookKind: BenchReport.Hook] = [:]
        var runner = FixtureRunner(bundle)
        runner.plan = plan
        // All results count, also of unreadable fixtures and of hooks that are not measured.
        let results = await runner.run().results
        var failed: [String] = []
        for result in results where !result.isPassed && !failed.contains(result.path) { failed.append(result.path) }
        for path in bundle.fixtures where !failed.contains(path) {
            guard let fixture = try? bundle.fixture(at: path), fixture.hook != .initialize,
                let first = results.first(where: { $0.path == path }), first.fuel > 0
            else { continue }
            var times = [first.time]
            for _ in 1..<rounds {
                let again = await runner.run(fixture)
                guard again.isPassed else {
                    failed.append(path)
                    break
                }
                times.append(again.time)
            }
            if failed.last == path { continue }
            let declared = plan?.hooks[fixture.hook]?.budget ?? bundle.manifest.hooks[fixture.hook]?.budget
            let budget = (declared ?? fixture.hook.budget).fuel
            var hook = hooks[fixture.hook] ?? .init(hook: fixture.hook, budget: budget)
            hook.fixtures += 1
            hook.fuel.append(first.fuel)
            hook.memory = max(hook.memory, first.memory)
            // The median: a busy computer makes single measurements long.
            hook.times.append(times.sorted()[times.count / 2])
            hook.dearest = first.fuel == hook.fuel.max() ? path : hook.dearest
            hooks[fixture.hook] = hook
        }
        return BenchReport(
            plugin: plan?.name ?? bundle.manifest.name, hooks: HookKind.allCases.compactMap { hooks[$0] },
            failed: failed)
    }
}

/// The costs of hooks.
public struct BenchReport: ToolReport {
    /// The cost of one hook.
    public struct Hook: Sendable {
        /// The hook.
        public let hook: HookKind
        /// The fuel limit of a call.
        public let budget: Int64
        /// The number of measured fixtures.
        public internal(set) var fixtures = 0
        /// The fuel of each fixture.
        public internal(set) var fuel: [Int] = []
        /// The CPU time of each fixture, the median of all rounds.
        public internal(set) var times: [Duration] = []
        /// The highest memory use of a machine, in bytes.
        public internal(set) var memory = 0
        /// The fixture with the highest fuel use.
        public internal(set) var dearest = ""

        init(hook: HookKind, budget: Int64) {
            self.hook = hook
            self.budget = budget
        }

        /// The share of the budget that the most expensive call used, from 0 to 1.
        public var share: Double { Double(fuel.max() ?? 0) / Double(max(budget, 1)) }
        var nanoseconds: Int { Int((times.max() ?? .zero).wholeNanoseconds) }
    }

    /// The plugin's name.
    public let plugin: String
    /// The hooks that fixtures call.
    public let hooks: [Hook]
    /// The fixtures that fail.
    public let failed: [String]

    /// Whether all fixtures pass, and no call uses more than four fifths of its fuel limit.
    public var isGood: Bool { failed.isEmpty && hooks.allSatisfy { $0.share <= 0.8 } }

    /// A line for each hook.
    public var lines: [String] {
        let measured = hooks.map { hook in
            let tenths = Int64(nearest: (hook.share * 1000).rounded(.up)) ?? .max
            return "\(hook.hook.rawValue): \(hook.fixtures.counted("fixture")), fuel \(hook.fuel.min() ?? 0) to "
                + "\(hook.fuel.max() ?? 0) of \(hook.budget) (\(tenths / 10).\(tenths % 10) %, \(hook.dearest)), "
                + "up to \(hook.nanoseconds) ns, \((hook.memory + 1023) / 1024) KiB"
        }
        return ["# \(plugin)"] + (measured.isEmpty ? ["no fixture calls a hook"] : measured)
            + failed.map { "\($0) does not pass and was not measured" }
    }

    /// The report as JSON.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "failed": JSON(failed.map { JSON($0) }),
            "hooks": JSON(
                members: hooks.map { hook in
                    (
                        hook.hook.rawValue,
                        [
                            "fixtures": JSON(hook.fixtures), "fuel_max": JSON(hook.fuel.max() ?? 0),
                            "budget": JSON(hook.budget), "nanoseconds": JSON(hook.nanoseconds),
                            "memory": JSON(hook.memory), "dearest": JSON(hook.dearest),
                        ]
                    )
                }),
        ]
    }
}
