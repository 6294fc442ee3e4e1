public import SluiceCore
public import SluiceLua

/// What the hooks of a bundle cost over its fixtures, and how far that is from what they may.
public struct PluginBench: Sendable {
    private let bundle: PluginBundle
    private let rounds: Int
    private let plan: PluginPlan?

    /// A bench that calls each fixture so many times, each in a machine of its own.
    ///
    /// - Parameter plan: what a deployment makes of the plugin, where its limits and its configuration are to count.
    public init(_ bundle: PluginBundle, rounds: Int = 20, in plan: PluginPlan? = nil) {
        self.bundle = bundle
        self.plan = plan
        self.rounds = max(1, rounds)
    }

    /// Runs it. Fixtures and specs that do not pass, in any of the rounds, are named and not measured.
    public func run() async -> BenchReport {
        var hooks: [HookKind: BenchReport.Hook] = [:]
        var runner = FixtureRunner(bundle)
        runner.plan = plan
        // All of them, those that cannot be read and those of no hook that is measured too.
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
            // The middle one: a machine that does something else beside makes single ones long.
            hook.times.append(times.sorted()[times.count / 2])
            hook.dearest = first.fuel == hook.fuel.max() ? path : hook.dearest
            hooks[fixture.hook] = hook
        }
        return BenchReport(
            plugin: plan?.name ?? bundle.manifest.name, hooks: HookKind.allCases.compactMap { hooks[$0] },
            failed: failed)
    }
}

/// What hooks cost.
public struct BenchReport: ToolReport {
    /// What one hook costs.
    public struct Hook: Sendable {
        /// The hook.
        public let hook: HookKind
        /// The most fuel that a call may use.
        public let budget: Int64
        /// How many fixtures were measured.
        public internal(set) var fixtures = 0
        /// The fuel of each.
        public internal(set) var fuel: [Int] = []
        /// The thread's time of each, the middle of all rounds.
        public internal(set) var times: [Duration] = []
        /// The most bytes that a machine has held.
        public internal(set) var memory = 0
        /// The fixture that took the most fuel.
        public internal(set) var dearest = ""

        init(hook: HookKind, budget: Int64) {
            self.hook = hook
            self.budget = budget
        }

        /// The share of the budget that the dearest call used, from 0 to 1.
        public var share: Double { Double(fuel.max() ?? 0) / Double(max(budget, 1)) }
        var nanoseconds: Int { Int((times.max() ?? .zero).wholeNanoseconds) }
    }

    /// The plugin.
    public let plugin: String
    /// The hooks that fixtures call.
    public let hooks: [Hook]
    /// The fixtures and specs that do not pass.
    public let failed: [String]

    /// Whether all fixtures pass, and no call uses more than four fifths of what it may.
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

    /// The same for a program.
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
