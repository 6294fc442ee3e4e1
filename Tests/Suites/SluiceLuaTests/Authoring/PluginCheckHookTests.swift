import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("what a check finds in hooks")
struct PluginCheckHookTests {
    private func lines(_ hooks: [String], _ main: String, files: [String: String] = [:]) async throws -> [String] {
        await PluginCheck.run(try .sample(hooks, main, files: files)).lines
    }

    private func expect(_ lines: [String], _ line: String, _ place: SourceLocation = #_sourceLocation) {
        #expect(lines.contains(line), "\(lines)", sourceLocation: place)
    }

    @Test("members that the objects of hooks do not have, however the hook is written down")
    func members() async throws {
        let found = try await lines(
            ["on_conflict", "on_push_error", "before_push", "on_event", "request"],
            """
            local function on_conflict(c, ctx)
              if c.sever and c.server.anything and c:merg {} then ctx.log.inf("x") end
              local name = "x" return c[name], c.client.title, ctx.config.whatever, ctx.deployment.labels.x
            end
            local function decide_it(e) return e.stats end
            local hooks = { on_conflict = on_conflict, on_push_error = decide_it, on_event = function(ev) return ev.kin end }
            function hooks.before_push(op, ctx) local f = function() return op.recrd end end
            hooks.request = function(req, context) return context.confg.x, req.headers:gett("A") end
            local function other(c) return c.sever end
            return hooks
            """)
        for line in [
            "main.lua:2: error: there is no c.sever; did you mean server?",
            "main.lua:2: error: there is no c.merg; did you mean merge?",
            "main.lua:2: error: there is no ctx.log.inf; did you mean info?",
            "main.lua:5: error: there is no e.stats; did you mean status?",
            "main.lua:6: error: there is no ev.kin; did you mean kind?",
            "main.lua:7: error: there is no op.recrd; did you mean record?",
            "main.lua:8: error: there is no context.confg; did you mean config?",
            "main.lua:8: error: there is no req.headers.gett; did you mean get?",
        ] { expect(found, line) }
        #expect(found.count { $0.contains("there is no ") } == 8, "\(found)")
    }

    @Test("a parameter that is put to another use is not looked at")
    func reused() async throws {
        let found = try await lines(
            ["on_conflict"], "return { on_conflict = function(c) c = c.client return c.anything end }")
        #expect(!found.contains { $0.contains("there is no c") }, "\(found)")
    }

    @Test("globals that are written in hooks, and in functions that may be called by them")
    func globals() async throws {
        let found = try await lines(
            ["on_conflict"],
            """
            early = 1
            local function helper() late = 2 end
            return { on_conflict = function(c)
              count = 1
              function inner() end
              local t = {} t.x = 1
            end }
            """)
        let rest = "cannot be written once the plugin is loaded; say local"
        expect(found, "main.lua:4: error: the global count \(rest)")
        expect(found, "main.lua:5: error: the global inner \(rest)")
        expect(found, "main.lua:2: warning: the global late \(rest)")
        #expect(found.count { $0.contains(rest) } == 3, "\(found)")
    }

    @Test("modules that are required too late, or are not there")
    func modules() async throws {
        let main = """
            local good = require "lib.good"
            return { on_conflict = function(c)
              require "lib.good"
              local late = require "lib.late"
              return require("lib.goood")
            end }
            """
        let files = ["lib/good.lua": "return {}", "lib/late.lua": "return {}"]
        let found = try await lines(["on_conflict"], main, files: files)
        expect(
            found,
            "main.lua:4: error: lib.late cannot be required once the plugin is loaded; require it outside of functions")
        expect(found, "main.lua:5: error: there is no module lib.goood in the plugin; did you mean lib.good?")
        #expect(!found.contains { $0.hasPrefix("main.lua:3") }, "\(found)")
        let late = try await failure("require('lib.late')", files)
        #expect(late.contains("'lib.late' is not loaded: require it while the plugin loads"), "\(late)")
        let missing = try await failure("require('lib.none')", files)
        #expect(missing.contains("there is no 'lib.none' in the plugin"), "\(missing)")
    }

    private func failure(_ body: String, _ files: [String: String]) async throws -> String {
        let fixture = try PluginFixture(
            ["name": "a", "hook": "on_conflict", "given": ["conflict": ["client": ["id": "1"]]], "expect": [:]],
            path: "a")
        return await FixtureRunner(try .handler(body, files: files)).run(fixture).differences.joined()
    }

    @Test("a hook whose name is misspelt in the script")
    func misspelt() async throws {
        let found = try await lines(["on_conflict"], "return { on_conflit = function() end }")
        #expect(
            found.contains { $0.contains("on_conflit is returned and not declared, did you mean on_conflict?") },
            "\(found)")
    }

    @Test("nobody knows which hook a fixture calls that cannot be read; and one is one")
    func unreadable() async throws {
        let found = await PluginCheck.run(try .handler("return decide.next()", files: ["tests/a.json": "{"])).lines
        #expect(!found.contains { $0.contains("no fixture calls") }, "\(found)")
        #expect(found.last == "sample: 1 error, 1 warning", "\(found)")
    }

    @Test("messages, coverage and profile name files by their paths")
    func paths() async throws {
        let bundle = try PluginBundle.handler(
            "local add = require('lib.items')\nif c.attempt > 5 then\n  return decide.ask()\nend\nreturn add(c)",
            files: [
                "lib/items.lua": "return function(c)\n  return c.client + 1\nend",
                "tests/a.json": #"""
                {"name": "a", "hook": "on_conflict", "given": {"conflict": {"client": {"id": "1"}}}, "expect": {}}
                """#,
            ])
        let main = String(decoding: bundle.files["main.lua"]!, as: UTF8.self)
        var files = bundle.files
        files["main.lua"] = Array(
            ("local add = require('lib.items')\n"
                + main.replacing("local add = require('lib.items')\n", with: "")).utf8)
        var runner = FixtureRunner(try PluginBundle(files: files, location: "sample"))
        runner.measuresCoverage = true
        let report = await runner.run()
        #expect(report.lines.contains { $0.contains("sample, on_conflict, lib/items.lua:2: ") }, "\(report.lines)")
        #expect(report.lines.contains { $0.hasPrefix("# main.lua: ") }, "\(report.lines)")
        let broken = await PluginCheck.run(try .sample(["on_conflict"], "local x =\n= 1", files: [:])).lines
        #expect(broken.contains { $0.hasPrefix("main.lua:2: error: ") }, "\(broken)")
    }
}
