internal import SluiceCore
internal import SluiceLua

/// One run of one fixture.
struct FixtureTrial {
    let fixture: PluginFixture
    let plan: PluginPlan
    let hook: HookPlan?
    let dialect: Dialect
    let tables: [TableSchema]

    /// - Parameters:
    ///   - deployed: the deployment's plan: its limits apply, and its configuration if the fixture has none.
    ///   - keepsConfig: whether a fixture without a configuration keeps the defaults.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the configuration violates the schema, or the plugin does
    ///   not have the hook.
    init(
        _ fixture: PluginFixture, _ bundle: PluginBundle, dialect: Dialect, tables: [TableSchema],
        in deployed: PluginPlan? = nil, keepsConfig: Bool = false
    ) throws(SluiceError) {
        self.fixture = fixture
        self.dialect = dialect
        self.tables = tables
        if let deployed, !fixture.hasConfig, !keepsConfig {
            plan = deployed.tried(in: fixture.deployment)
        } else {
            plan = try PluginPlan(bundle, config: fixture.config, deployment: fixture.deployment).limited(as: deployed)
        }
        hook = plan.hooks[fixture.hook]
        guard hook != nil || fixture.hook == .initialize else {
            throw SluiceError(
                .invalidArgument, "\(fixture.path) /hook: the plugin has no hook \(fixture.hook.rawValue)")
        }
    }

    /// The result of a run.
    struct Outcome: Sendable {
        var answer: FixtureAnswer?
        /// The name of the answer for the decision log: `none`, `changed`, or the name of a decision.
        var name = "none"
        var failure: PluginFailure?
        var log: [PluginLogLine] = []
        var cost = PluginRig.Cost()
        var lines: [String: Int] = [:]
    }

    /// Runs the fixture, and returns the differences from its expectations.
    func run(measuresCoverage: Bool) async throws -> ([String], PluginRig.Cost, [String: Int]) {
        let world = FixtureWorld(fixture.world)
        let outcome = try await outcome(in: world, measuresCoverage: measuresCoverage)
        return (differences(outcome, world), outcome.cost, outcome.lines)
    }

    /// Runs the fixture.
    ///
    /// - Throws: ``SluiceError`` for a fixture with input that the hook does not get.
    func outcome(in world: FixtureWorld, measuresCoverage: Bool = false) async throws -> Outcome {
        var outcome = Outcome()
        let rig: PluginRig
        do {
            rig = try await PluginRig(plan, world)
        } catch let failure as PluginFailure {
            outcome.failure = failure
            return outcome
        }
        guard fixture.hook != .initialize, let hook else {
            outcome.log = await rig.host.log.flatMap(\.log)
            outcome.answer = FixtureAnswer()
            return outcome
        }
        let table = fixture.given.value.members?.lazy.compactMap { $0.value["table"]?.string }.first
        let builder = try FixtureCall(
            hook, given: fixture.given, dialect: dialect, now: world.now,
            schema: tables.first { $0.name == table }, plan: plan, secrets: rig.secrets, world: world)
        let call = try builder.call()
        if measuresCoverage { await rig.host.startProfile(of: rig.id) }
        let run = await rig.run(call)
        if measuresCoverage {
            for (line, fuel) in await rig.host.takeProfile(of: rig.id).members ?? [] {
                outcome.lines[line.text] = Int(fuel.int ?? 0)
            }
        }
        outcome.failure = run.failure
        outcome.log = run.log
        outcome.cost = run.cost
        outcome.name = run.answer?.name ?? "none"
        outcome.answer = run.answer?.value as? FixtureAnswer
        if let value = outcome.answer?.value, !value.isNull, let back = try builder.back(value) {
            let run = await rig.run(back)
            outcome.answer?.back = (run.answer?.value as? FixtureAnswer)?.value
        }
        return outcome
    }

    /// Returns the differences from the expectations.
    func differences(_ outcome: Outcome, _ world: FixtureWorld) -> [String] {
        let expected = fixture.expectation
        var comparison = FixtureComparison()
        if let error = expected.error {
            guard let failure = outcome.failure else { return ["error: expected \(error), found none"] }
            guard failure.kind.rawValue == error else {
                return ["error: expected \(error), found \(failure.kind.rawValue): \(failure)"]
            }
            if let log = expected.log { comparison.log(log, outcome.log) }
            return comparison.differences
        }
        if let failure = outcome.failure {
            return ["failed with \(failure.kind.rawValue): \(failure)"] + world.faults
        }
        let answer = outcome.answer ?? FixtureAnswer()
        if let decision = expected.decision { comparison.decision(decision, answer.decision) }
        if let record = expected.record { comparison.whole("record", record, answer.record) }
        if let value = expected.value { comparison.whole("value", value, answer.value) }
        if let back = expected.back { comparison.whole("back", back, answer.back) }
        if let rows = expected.rows { comparison.whole("page.rows", rows, answer.rows) }
        if let dropped = expected.dropped { comparison.whole("page.dropped", dropped, answer.dropped) }
        if let request = expected.request { compare(request, answer, world, &comparison) }
        if let response = expected.response { comparison.response(response, answer.response) }
        if let log = expected.log { comparison.log(log, outcome.log) }
        if let values = expected.values { comparison.values(values, world.values) }
        var differences = comparison.differences + world.faults
        if let fuel = expected.fuel, outcome.cost.fuel > fuel {
            differences.append("fuel: expected at most \(fuel), found \(outcome.cost.fuel)")
        }
        return differences
    }

    private func compare(
        _ expected: JSON, _ answer: FixtureAnswer, _ world: FixtureWorld, _ comparison: inout FixtureComparison
    ) {
        guard fixture.hook == .filter else { return comparison.request("request", expected, answer.request) }
        let sent = world.sent
        guard let each = expected.elements else { return comparison.request("request", expected, sent.last) }
        if each.count != sent.count {
            comparison.whole("requests given to next", JSON(each.count), JSON(sent.count))
        }
        for (index, expected) in each.enumerated() where index < sent.count {
            comparison.request("request[\(index + 1)]", expected, sent[index])
        }
    }
}
