import HTTPTypes
import MetricsTestKit
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Metrics of plugins")
struct PluginMetersTests {
    private let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    @Test("calls, decisions and what they cost are counted by plugin, mode, hook and outcome")
    func counted() async throws {
        let metrics = TestMetrics()
        let text = PluginText(
            ["request"],
            """
            return { request = function(req)
              if req.query:get("fail") then error("no") end
              if req.query:get("answer") then return decide.respond { status = 204 } end
              req.headers:set("X-A", "1")
            end }
            """)
        let plugins = try await text.loaded(PluginOptions(metrics: metrics))
        for path in ["/a", "/a?answer=1", "/a?answer=1", "/a?fail=1"] {
            _ = try? await plugins.send(.sample(.get, path), to: transport)
        }
        let labels = [("plugin", "probe"), ("mode", "enforce"), ("hook", "request")]
        func calls(_ outcome: String) throws -> Int64 {
            try metrics.expectCounter("sluice.plugin.calls", labels + [("outcome", outcome)]).totalValue
        }
        func decisions(_ name: String) throws -> Int64 {
            try metrics.expectCounter("sluice.plugin.decisions", labels + [("decision", name)]).totalValue
        }
        #expect(try calls("ok") == 3 && calls("runtime") == 1)
        #expect(try decisions("changed") == 1 && decisions("respond") == 2)
        #expect(throws: (any Error).self) { try decisions("failed") }
        let ok = try metrics.expectTimer("sluice.plugin.duration", labels + [("outcome", "ok")])
        #expect(ok.values.count == 3 && ok.values.allSatisfy { $0 >= 0 })
        #expect(try metrics.expectTimer("sluice.plugin.cpu", labels).values.count == 4)
        let fuel = await plugins.metrics.hooks["probe"]?["request"]?.fuel
        #expect(try Int(metrics.expectCounter("sluice.plugin.fuel", labels).totalValue) == fuel)
        #expect(metrics.counters.count == 5 && metrics.timers.count == 3)
    }

    @Test("what is refused before it begins is counted, and a shadow by its mode")
    func refused() async throws {
        let metrics = TestMetrics()
        var text = PluginText(["request"], "return { request = function() error('no') end }")
        text.mode = .shadow
        let plugins = try await text.loaded(PluginOptions(metrics: metrics))
        for _ in 0..<7 { _ = try? await plugins.send(.sample(), to: transport) }
        let labels = [("plugin", "probe"), ("mode", "shadow"), ("hook", "request")]
        func calls(_ outcome: String) throws -> Int64 {
            try metrics.expectCounter("sluice.plugin.calls", labels + [("outcome", outcome)]).totalValue
        }
        #expect(try calls("runtime") == 5 && calls("breaker_open") == 2)
    }
}
