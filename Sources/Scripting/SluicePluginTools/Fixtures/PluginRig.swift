internal import SluiceCore
internal import SluiceLua

/// A plugin loaded in its own machine, in a completely simulated world. All tools for authors run scripts with it.
struct PluginRig: Sendable {
    let host: PluginHost
    let id: PluginInstance.ID
    let plan: PluginPlan
    let secrets: SecretBook
    let world: FixtureWorld

    /// The result of a call, and its cost.
    struct Run: Sendable {
        var answer: HookAnswer?
        var failure: PluginFailure?
        var log: [PluginLogLine] = []
        var cost = Cost()
    }

    struct Cost: Sendable, Hashable {
        var fuel = 0
        /// The time on the plugins' thread, the host's own work for the call included.
        var time: Duration = .zero
        var memory = 0
    }

    /// Loads the plugin, `main` and `init`.
    ///
    /// - Throws: ``PluginFailure``.
    init(
        _ plan: PluginPlan, _ world: FixtureWorld, testsGuards: Bool = false, keepsInputs: Bool = false
    ) async throws {
        var settings = HostSettings()
        settings.environment = world.environment
        settings.hasTransport = true
        settings.hasStore = true
        settings.testsGuards = testsGuards
        settings.keepsInputs = keepsInputs
        settings.seed = world.script.seed
        settings.decisionLogSize = 16
        try await world.prepare()
        host = try PluginHost(settings)
        self.plan = plan
        self.world = world
        secrets = SecretBook(world.script.secrets)
        id = try await host.load(plan, saved: world.script.values.mapValues(\.saved), secrets: secrets)
    }

    /// Calls a hook, and carries out the script's waits in the simulated world.
    func run(_ call: HookCall) async -> Run {
        let before = await host.mark(id)
        var (step, time) = await host.timed { $0.begin(call, of: id) }
        var run = Run()
        steps: while true {
            switch step {
            case .done(let answer, let saves):
                world.save(saves)
                run.answer = answer
                break steps
            case .failed(let failure):
                run.failure = failure
                break steps
            case .passedOn:
                run.failure = PluginFailure(
                    plugin: plan.name, hook: call.plan.kind.rawValue,
                    ScriptFailure(.runtime, "the error of next was passed on"))
                break steps
            case .waits(let waiting, let wait, let within):
                let result = await world.perform(wait, within: within)
                let (next, more) = await host.timed { $0.resume(waiting, with: result) }
                step = next
                time += more
            }
        }
        let after = await host.mark(id)
        run.log = await host.log.filter { $0.sequence > before.sequence }.flatMap(\.log)
        run.cost = Cost(
            fuel: Int(after.fuel - before.fuel), time: time, memory: after.memory)
        return run
    }
}

extension PluginHost {
    /// Returns a plugin's current counters; the difference from later ones is the cost of the calls between.
    func mark(_ id: PluginInstance.ID) -> (sequence: Int, fuel: Int64, memory: Int) {
        (log.last?.sequence ?? 0, instances[id]?.fuelUsed ?? 0, instances[id]?.vm.peakMemory ?? 0)
    }

    /// Runs `body` on the plugins' thread, and returns its duration there.
    func timed<Result: Sendable>(_ body: @Sendable (isolated PluginHost) -> Result) -> (Result, Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = body(self)
        return (result, start.duration(to: clock.now))
    }

    /// Counts the fuel of a plugin's lines from now on.
    func startProfile(of id: PluginInstance.ID) { instances[id]?.vm.startProfile() }

    /// Returns the fuel of each line since then: `{"main.lua:41": 1200}`.
    func takeProfile(of id: PluginInstance.ID) -> JSON { instances[id]?.vm.takeProfile() ?? .object }

    /// Returns the names of guards that failed their test.
    func selfTest(_ id: PluginInstance.ID) -> [String] { instances[id]?.vm.selfTest() ?? [] }
}
