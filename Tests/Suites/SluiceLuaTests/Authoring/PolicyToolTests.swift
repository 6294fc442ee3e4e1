import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("Tools for a policy's plugins")
struct PolicyToolTests {
    private static let main = """
        for i = 1, 200 do local x = i end
        if ctx.config.side == "fail" then error("attempt to be configured so") end
        return decide[ctx.config.side]()
        """

    private func bundle(_ files: [String: String] = [:]) throws -> PluginBundle {
        try .handler(
            Self.main,
            extra: [
                "config_schema": ["type": "object", "properties": ["side": ["type": "string", "default": "server"]]]
            ], files: files)
    }

    private func fixture(_ side: String, config: String = "") -> String {
        #"{"name": "a", "hook": "on_conflict",\#(config) "expect": {"decision": {"decision": "\#(side)"}},"#
            + #" "given": {"conflict": {"client": {"id": "1", "n": 1}, "server": {"id": "1", "n": 2}}}}"#
    }

    private func plan(_ bundle: PluginBundle, side: String, fuel: Int64? = nil) throws -> PluginPlan {
        var plan = try PluginPlan(bundle, config: ["side": JSON(side)], mode: .shadow)
        if let fuel { plan.hooks[.onConflict]?.budget.fuel = fuel }
        return plan
    }

    @Test("fixtures that say no configuration have the policy's, and all have its limits")
    func test() async throws {
        let bundle = try bundle([
            "tests/a.json": fixture("client"), "tests/b.json": fixture("server", config: #" "config": {},"#),
        ])
        var runner = FixtureRunner(bundle)
        #expect(await runner.run().results.map(\.isPassed) == [false, true])
        runner.plan = try plan(bundle, side: "client")
        #expect(await runner.run().results.map(\.isPassed) == [true, true])
        runner.plan = try plan(bundle, side: "delete")
        let failed = await runner.run()
        #expect(failed.results.map(\.isPassed) == [false, true])
        #expect(failed.lines.contains { $0.contains("# with the configuration of the policy: decision") })
        let own = try self.bundle(["tests/a.json": fixture("server")])
        var other = FixtureRunner(own)
        other.plan = try plan(own, side: "delete")
        let noted = await other.run()
        #expect(noted.isGood && noted.results[0].notes.count == 1, "\(noted.lines)")
        runner.plan = try plan(bundle, side: "client", fuel: 100)
        #expect(await runner.run().results.allSatisfy { $0.differences.joined().contains("out of fuel") })
    }

    @Test("bench, converge and fuzz take both")
    func others() async throws {
        let bundle = try bundle(["tests/a.json": fixture("client")])
        let plan = try plan(bundle, side: "client", fuel: 5000)
        let bench = await PluginBench(bundle, rounds: 1, in: plan).run()
        #expect(bench.failed.isEmpty && bench.hooks.first?.budget == 5000, "\(bench.lines)")
        #expect(!(await PluginBench(bundle, rounds: 1).run()).failed.isEmpty)
        var trial = PluginConvergence(bundle)
        (trial.plan, trial.conflicts, trial.stories) = (plan, 20, 1)
        #expect(try await trial.run().decisions.keys.sorted() == ["client"])
        trial.config = .object
        #expect(try await trial.run().decisions.keys.sorted() == ["server"])
        trial.config = nil
        trial.plan = try self.plan(bundle, side: "client", fuel: 100)
        #expect(try await trial.run().decisions.keys.sorted() == ["failure"])
        var fuzz = PluginFuzz(bundle)
        (fuzz.plan, fuzz.calls, fuzz.configurations) = (try self.plan(bundle, side: "fail"), 20, 0)
        #expect(!(await fuzz.run()).isGood)
    }
}
