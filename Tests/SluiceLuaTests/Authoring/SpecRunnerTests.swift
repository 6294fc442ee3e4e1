import SluiceCore
import Testing

@testable import SluiceLua

@Suite("specs")
struct SpecRunnerTests {
    private func report(_ spec: String) async throws -> FixtureReport {
        let bundle = try PluginBundle.handler(
            "return decide.client()", extra: ["permissions": ["kv": ["bytes": 100]]],
            files: ["lib/sums.lua": "return { add = function(a, b) return a + b end }", "tests/sums_spec.lua": spec])
        return await FixtureRunner(bundle).run()
    }

    @Test("describe, it and expect, with the plugin's modules and host functions")
    func passes() async throws {
        let report = try await report(
            #"""
            local sums = require("lib.sums")
            describe("sums", function()
              it("adds", function() expect(sums.add(1, 2)).to_be(3) end)
              it("keeps values", function()
                kv.set("a", 1)
                expect(kv.get("a")).to_be(1)
              end)
              it("knows what is alike", function()
                expect({ 1, { a = 2 } }).to_equal({ 1, { a = 2 } })
                expect(1).to_be_truthy()
                expect(nil).to_be_falsy()
                expect(function() error("no such thing") end).to_fail("no such")
              end)
            end)
            """#)
        #expect(report.isGood, "\(report.lines)")
        #expect(report.results.map(\.name) == ["sums adds", "sums keeps values", "sums knows what is alike"])
    }

    @Test("what does not hold fails alone, with its line")
    func fails() async throws {
        let report = try await report(
            """
            describe("sums", function()
              it("is wrong", function()
                expect({ 1 }).to_equal({ 2 })
              end)
              it("is right", function() expect(1).to_be(1) end)
            end)
            """)
        #expect((report.passed, report.failed) == (1, 1))
        #expect(report.results[0].differences == ["tests/sums_spec.lua:3: expected [2], found [1]"])
    }

    @Test("a spec that is no Lua, and one without an it, fail")
    func unreadable() async throws {
        #expect(try await report("describe(").isGood == false)
        #expect(try await report("local a = 1").isGood == false)
    }
}
