import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("the check of a bundle")
struct PluginCheckTests {
    private func findings(_ main: String, extra: JSON = .object) async throws -> [String] {
        await PluginCheck.run(try .handler(main, extra: extra)).lines
    }

    @Test("a plugin that is whole has no errors")
    func good() async throws {
        let report = await PluginCheck.run(
            try .handler("local t = text.trim(' a ') return decide.next { reason = t .. math.type(1) }"))
        #expect(report.isGood)
        #expect(report.findings.allSatisfy { $0.severity == .warning })
    }

    @Test("names that are not there, and those that plugins do not have, are found without running them")
    func names() async throws {
        let lines = try await findings(
            """
            if c.attempt > 100 then
              os.execute("x")
              helper(c)
              load("x")
              return decide.mergee()
            end
            """)
        for line in [
            "main.lua:3: error: plugins do not have os.execute", "main.lua:4: error: there is no helper",
            "main.lua:5: error: plugins do not have load", "main.lua:6: error: there is no decide.mergee",
        ] { #expect(lines.contains(line), "\(line) in \(lines)") }
    }

    @Test("what the plugin defines itself is there")
    func own() async throws {
        let bundle = try PluginBundle.sample(
            ["on_conflict"],
            "function helper() return 1 end\nlocal function f() return helper() end\nreturn { on_conflict = f }")
        let report = await PluginCheck.run(bundle)
        #expect(report.isGood, "\(report.lines)")
    }

    @Test("permissions that are used and not asked for, and asked for and not used")
    func permissions() async throws {
        let lines = try await findings(
            "local t = time.now() secrets.get('a')", extra: ["permissions": ["random": true]])
        #expect(lines.contains("main.lua:2: error: time.now needs the permission clock in plugin.json"))
        #expect(lines.contains("main.lua:2: error: secrets.get needs the permission secrets in plugin.json"))
        #expect(lines.contains("plugin.json: warning: the permission random is not used"))
    }

    @Test(
        "header fields that are written need the permission that a request with them is refused without",
        arguments: [
            ("set('If-Match', '*')", "the header If-Match may need the permission change: request.conditions"),
            ("remove 'authorization'", "the header authorization may need the permission change: request.credentials"),
            ("add('X-HTTP-Method', 'PUT')", "the header X-HTTP-Method may need the permission change: request.method"),
        ])
    func headers(call: String, expected: String) async throws {
        func lines(_ line: String, _ permissions: JSON) async throws -> [String] {
            let script = "return { request = function(req)\n\(line)\nreturn decide.next()\nend }"
            return await PluginCheck.run(try .sample(["request"], script, extra: ["permissions": permissions])).lines
                .filter { $0.contains("permission") }
        }
        let found = try await lines("req.headers:\(call)", .object)
        #expect(found.contains { $0.hasPrefix("main.lua:2: warning: ") && $0.hasSuffix(expected) }, "\(found)")
        let permission = String(expected.split(separator: " ").last ?? "")
        #expect(try await lines("req.headers:\(call)", ["change": [JSON(permission)]]).isEmpty)
        #expect(try await lines("req.headers:set('X-Plain', '*')", .object).isEmpty)
    }

    @Test("a Lua spec is named by a check and a test, and fails neither")
    func spec() async throws {
        let bundle = try PluginBundle.handler(
            "return decide.client()", files: ["tests/a_spec.lua": "error('x')", "tests/b.lua": ""])
        let line = "tests/a_spec.lua: warning: Lua specs are not run any more; write JSON fixtures"
        let check = await PluginCheck.run(bundle)
        #expect(check.isGood && check.lines.filter { $0.hasPrefix("tests/") } == [line], "\(check.lines)")
        let report = await FixtureRunner(bundle).run()
        #expect(report.isGood && report.lines == ["# sample", "1..0", "# \(line)", "0 passed, 0 failed"])
        #expect(report.json["warnings"] == JSON([JSON(line)]))
    }

    @Test("a script that is no Lua, and hooks that differ from the manifest")
    func loading() async throws {
        let broken = await PluginCheck.run(try .sample(["on_conflict"], "local x =\nreturn {}"))
        #expect(!broken.isGood)
        let other = await PluginCheck.run(
            try .sample(["on_conflict", "request"], "return { on_conflict = function() end }"))
        #expect(other.lines.contains { $0.contains("request is declared and not returned") })
    }

    @Test("a folder that is no bundle")
    func folder() async {
        let report = await PluginCheck(folder: "/nowhere/at/all").run()
        #expect(!report.isGood)
    }

    @Test("a fixture for a hook that is not there")
    func fixtures() async throws {
        let report = await PluginCheck.run(
            try .handler(
                "return decide.next()",
                files: ["tests/a.json": #"{"name": "a", "hook": "request", "given": {}, "expect": {}}"#]))
        #expect(report.lines.contains("tests/a.json: error: the plugin has no hook request"))
    }
}
