import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("what hooks cost")
struct MeasureTests {
    private static let fixture = #"""
        {"name": "a", "hook": "on_conflict", "given": {"conflict": {"client": {"id": "1"}, "server": {"id": "1"}}},
         "expect": {"decision": {"decision": "client"}}}
        """#

    @Test("bench says fuel, time and memory for each hook, and the share of the budget")
    func bench() async throws {
        let bundle = try PluginBundle.handler(
            "for i = 1, 100 do local x = i end return decide.client()", files: ["tests/a.json": Self.fixture])
        let report = await PluginBench(bundle, rounds: 3).run()
        let hook = try #require(report.hooks.first)
        #expect(report.isGood && report.hooks.count == 1)
        #expect(hook.fuel[0] > 100 && hook.nanoseconds > 0 && hook.memory > 10_000 && hook.budget == 1_000_000)
        #expect(report.lines[1].hasPrefix("on_conflict: 1 fixture, fuel "))
    }

    @Test("bench is not content with a call near its budget, nor with a fixture that does not pass")
    func headroom() async throws {
        let near = try PluginBundle.handler(
            "for i = 1, 450000 do local x = i end return decide.client()", files: ["tests/a.json": Self.fixture])
        #expect(await PluginBench(near, rounds: 1).run().isGood == false)
        let failing = try PluginBundle.handler("return decide.server()", files: ["tests/a.json": Self.fixture])
        #expect(await PluginBench(failing, rounds: 1).run().failed == ["tests/a.json"])
    }

    @Test(
        "bench fails when a fixture does: one that cannot be read, and one of init",
        arguments: [
            ("tests/b.json", "{"),
            ("tests/b.json", #"{"name": "b", "hook": "init", "given": {}, "expect": {"log": [{"message": "x"}]}}"#),
        ])
    func failing(path: String, text: String) async throws {
        let bundle = try PluginBundle.sample(
            ["on_conflict", "init"],
            "return { on_conflict = function() return decide.client() end, init = function() end }",
            files: ["tests/a.json": Self.fixture, path: text])
        let report = await PluginBench(bundle, rounds: 1).run()
        #expect(!report.isGood && report.failed == [path], "\(report.lines)")
        #expect(report.hooks.map(\.hook) == [.onConflict], "what passes is measured all the same")
    }
}
