import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

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

    /// The results of a spec of a plugin that counts what it was asked in `kv`.
    private func counting(_ body: String) async throws -> FixtureReport {
        let main = """
            local calls = 0
            return {
              before_push = function(op, ctx)
                calls = calls + 1
                local n = kv.incr("pushes")
                ctx.log.info("asked", { n = n, calls = calls })
                if n > ctx.config.free then return decide.defer { after = 60, reason = "slowly" } end
                if op.record.bad then error("bad record") end
              end,
              filter = function(req, next)
                req.headers:set("X-Calls", tostring(calls))
                local res = next(req)
                if res.status == 503 then res = next(req) end
                return res
              end,
              after_pull_page = function(page) page:drop(1, "first") end,
              on_event = function() return time.now() end,
            }
            """
        let bundle = try PluginBundle.sample(
            ["before_push", "filter", "after_pull_page", "on_event"], main,
            extra: [
                "permissions": ["kv": ["bytes": 100]],
                "config_schema": ["type": "object", "properties": ["free": ["type": "integer", "default": 1]]],
            ], files: ["tests/calls_spec.lua": body])
        return await FixtureRunner(bundle).run()
    }

    @Test("a spec calls hooks, one after the other on one plugin, each it on its own")
    func hooks() async throws {
        let report = try await counting(
            #"""
            local push = { operation = { record = { id = "1", title = "a" } } }
            it("counts over calls", function()
              local p = plugin { config = { free = 2 } }
              expect(p:before_push(push).answer).to_be("none")
              expect(p.before_push(push).answer).to_be("none")
              local third = p:before_push(push)
              expect(third.decision).to_equal({ decision = "defer", after = 60, reason = "slowly" })
              expect(third.log).to_equal({ { level = "info", message = "asked", fields = { n = 3, calls = 3 } } })
              expect(third.kv.pushes).to_be(3)
            end)
            it("begins anew", function()
              local p = plugin()
              expect(p:before_push(push).kv.pushes).to_be(1)
              expect(plugin { host = { kv = { pushes = 5 } } }:before_push(push).kv.pushes).to_be(6)
              expect(p:before_push(push).kv.pushes).to_be(2)
            end)
            it("has what a filter sends and answers", function()
              local p = plugin()
              local res = p:filter({ request = { path = "/t?a=1" } },
                { next = { { status = 503 }, { status = 200, body = { n = 1 } } } })
              expect(res.response.status).to_be(200)
              expect(json.decode(res.response.body).n).to_be(1)
              expect(#res.sent).to_be(2)
              expect(res.sent[2].headers["X-Calls"]).to_be("0")
              expect(res.request.url).to_be("https://example.com/t?a=1")
            end)
            it("has pages, and failures as values", function()
              local p = plugin()
              local page = p:after_pull_page { page = { rows = { { id = "1" }, { id = "2" } } } }.page
              expect(page.dropped).to_equal({ ["1"] = "first" })
              expect(#page.rows).to_be(2)
              local failed = p:before_push { operation = { record = { id = "1", bad = true } } }
              expect(failed.error.kind).to_be("runtime")
              expect(failed.answer).to_be("failed")
              expect(p:on_event { event = { kind = "status" } }.error.kind).to_be("permission")
            end)
            """#)
        #expect(report.isGood, "\(report.lines)")
        #expect(report.results.count == 4)
    }

    @Test(
        "what a spec says wrongly fails with what is wrong",
        arguments: [
            ("plugin { configuration = json.object {} }", "unknown name"),
            ("plugin { config = { free = 'x' } }", "config"),
            ("plugin():on_conflict { conflict = {} }", "an empty table"),
            ("plugin():on_conflict { conflict = { client = { id = '1' } } }", "no hook on_conflict"),
            ("plugin():before_push { operations = { id = '1' } }", "operations"),
            ("plugin():filter { request = { path = '/a' } }", "no answer left"),
            ("plugin():before_push({ operation = { id = '1' } }, { kv = { a = 1 } })", "kv"),
            ("local p = plugin() p = p.nothing.x", "nil"),
        ])
    func wrong(line: String, words: String) async throws {
        let report = try await counting("it('is wrong', function()\n\(line)\nend)")
        #expect(report.failed == 1)
        #expect(report.results[0].differences.joined().contains(words), "\(report.lines)")
    }

    @Test("a spec that loads plugins without end is stopped")
    func bounds() async throws {
        let bundle = try PluginBundle.sample(
            ["on_event"], "return { on_event = function() end }",
            files: ["tests/much_spec.lua": #"it("loads", function() for _ = 1, 17 do plugin() end end)"#])
        let report = await FixtureRunner(bundle).run()
        let texts = report.results.flatMap(\.differences).joined(separator: " ")
        #expect(texts.contains("16 times at most"), "\(texts)")
    }

    @Test("a plugin has no spec to ask")
    func noSpec() async throws {
        let plugins = try await PluginText(["request"], "return { request = function() return spec.load() end }")
            .loaded()
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(.sample(), to: ScriptedTransport([], otherwise: .json(200, "{}")))
        }
        #expect(error?.message.contains("spec") == true)
    }
}
