import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The log, which fails no hook, and chance, which needs its permission")
struct LogAndChanceTests {
    private func result(
        _ body: String, _ expect: JSON, host: JSON = .object, permissions: JSON = .object
    ) async throws -> [String] {
        let fixture = try PluginFixture(
            [
                "name": "a", "hook": "on_conflict", "host": host, "expect": expect,
                "given": ["conflict": ["client": ["id": "1", "a": 1], "server": ["id": "1"]]],
            ], path: "a")
        let bundle = try PluginBundle.handler(body, extra: ["permissions": permissions])
        return await FixtureRunner(bundle).run(fixture).differences
    }

    @Test(
        "fields that JSON cannot say are shown all the same",
        arguments: [
            ("{ a = c.client.nothing }", [:]), ("{}", [:]), ("json.array {}", []),
            ("{ a = print }", ["a": "a function"]),
            ("{ n = 0/0 }", ["n": "-nan"]), ("{ 1, nil, 3 }", ["1": 1, "3": 3]), ("{ 1, x = 2 }", ["1": 1, "x": 2]),
            ("{ a = '\\xff!' }", ["a": "?!"]), ("{ rec = c.client }", ["rec": ["id": "1", "a": 1]]),
            ("{ [true] = json.null }", ["true": .null]), ("{ a = { b = { 'c' } } }", ["a": ["b": ["c"]]]),
        ] as [(String, JSON)])
    func fields(fields: String, shown: JSON) async throws {
        let body = "local print = function() end log.info('x', \(fields)) return decide.next()"
        let run = try await result(body, ["log": [["message": "x", "fields": shown]]])
        #expect(run.isEmpty || shown["n"] != nil && run.allSatisfy { $0.contains("nan") }, "\(run)")
    }

    @Test("a cycle, a deep table and a large one end")
    func endless() async throws {
        let body = """
            local t = {} t.t = t
            local deep = {} for i = 1, 100 do deep = { deep } end
            local large = {} for i = 1, 5000 do large[i] = i end
            log.info('x', t) log.info('x', deep) log.info('x', large) log.info('x', { [t] = 1 })
            log.info(('\\xff'):rep(10000), { s = ('\\u{20AC}'):rep(10000) })
            log.info(t) log.info(nil) log.info(c.client) log.info(json.null) log.info(5)
            return decide.next()
            """
        #expect(try await result(body, ["decision": ["decision": "next"]]) == [])
    }

    @Test("a message that is no text is shown as JSON")
    func messages() async throws {
        let body =
            "log.info({ 1 }) log.info(c.client) log.info(nil) log.info(true) ctx.log:info('y') return decide.next()"
        #expect(try await result(body, ["log": ["[1]", #"{"id":"1","a":1}"#, "nil", "true", "y"]]) == [])
    }

    @Test("math.random needs the permission, and says so")
    func permission() async throws {
        let run = try await result("return decide.ask { reason = tostring(math.random(6)) }", ["error": "permission"])
        #expect(run == [])
        let lines = await PluginCheck.run(try .handler("local n, f = math.random(6), math.floor(1)")).lines
        #expect(lines.contains("main.lua:2: error: math.random needs the permission random in plugin.json"), "\(lines)")
        let granted = await PluginCheck.run(
            try .handler("local n = math.random(6)", extra: ["permissions": ["random": true]])
        ).lines
        #expect(!granted.contains { $0.contains("random") }, "\(granted)")
    }

    @Test("in a fixture chance follows from its seed")
    func seeded() async throws {
        let body = """
            local t = {} for i = 1, 8 do t[i] = math.random(1000000) end
            error(table.concat(t, ' ') .. ' ' .. math.random() .. ' ' .. math.random(-5, -5) .. ' ' .. math.type(math.random(0)))
            """
        func run(_ seed: Int) async throws -> [String] {
            try await result(body, .object, host: ["random": JSON(seed)], permissions: ["random": true])
        }
        let (first, second, other) = (try await run(7), try await run(7), try await run(8))
        #expect(first == second && first != other, "\(first)")
        #expect(first.first?.contains(" -5 integer") == true, "\(first)")
    }

    @Test(
        "what math.random takes",
        arguments: ["math.random(0.5)", "math.random(2, 1)", "math.random('x')", "math.random(1, 2, 3)"])
    func arguments(call: String) async throws {
        let run = try await result(
            "return decide.ask { reason = tostring(\(call)) }", ["error": "runtime"], permissions: ["random": true])
        #expect(run == [])
    }
}
