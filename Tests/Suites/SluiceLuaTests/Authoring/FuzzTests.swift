import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("plugins that are given what nobody expects")
struct FuzzTests {
    private static let fixture = #"""
        {"name": "a", "hook": "on_conflict", "expect": {}, "config": {"field": "title"}, "given": {"conflict": {
          "client": {"id": "1", "title": "a", "n": 1}, "server": {"id": "1", "title": "b", "n": 2},
          "base": {"id": "1", "title": "c", "n": 0}}}}
        """#
    private static let schema: JSON = [
        "config_schema": ["type": "object", "properties": ["field": ["type": "string", "default": "title"]]]
    ]

    private func report(_ body: String) async throws -> FuzzReport {
        var fuzz = PluginFuzz(try .handler(body, extra: Self.schema, files: ["tests/a.json": Self.fixture]))
        fuzz.calls = 150
        fuzz.configurations = 40
        return await fuzz.run()
    }

    @Test("a filter that asks another host, answers itself and remembers stands it")
    func filter() async throws {
        let main = """
            local function filter(req, next, ctx)
              if kv.get("rest") then return decide.respond { status = 503, json = { error = "later" } } end
              local res = next(req)
              if res.status == 503 then kv.set("rest", true, 10) end
              if res.status ~= 401 then return res end
              local headers = { Authorization = secrets.get("login") }
              local answer = http.request { method = "POST", url = "https://login.example/token", headers = headers }
              local is_read, body = pcall(json.decode, answer.body)
              local token = is_read and type(body) == "table" and body.access_token
              if type(token) ~= "string" then error("no token", 0) end
              req.headers:set("Authorization", "Bearer " .. token)
              return next(req)
            end
            return { filter = filter }
            """
        let fixture = #"""
            {"name": "a", "hook": "filter", "expect": {"response": {"status": 200}},
             "given": {"request": {"path": "/tables/t"}},
             "host": {"secrets": {"login": "Basic eA=="}, "next": [{"status": 401}, {"status": 200}],
               "http": [{"reply": {"status": 200, "body": {"access_token": "t"}}}]}}
            """#
        let permissions: JSON = [
            "change": ["request.credentials"], "http": ["login.example"], "secrets": ["login"], "kv": ["bytes": 1000],
        ]
        let bundle = try PluginBundle.sample(
            ["filter"], main, extra: ["permissions": permissions], files: ["tests/a.json": fixture])
        let result = await FixtureRunner(bundle).run(try PluginFixture(bytes: Array(fixture.utf8), path: "a"))
        #expect(result.isPassed, "\(result.differences)")
        var fuzz = PluginFuzz(bundle)
        fuzz.calls = 150
        fuzz.configurations = 5
        let report = await fuzz.run()
        #expect(report.isGood, "\(report.lines)")
    }

    @Test("one that looks before it reads is fine")
    func good() async throws {
        let report = try await report("return c:merge { default = 'server' }")
        #expect(report.isGood, "\(report.lines)")
        #expect(report.calls > 100 && report.configurations == 40 && report.refused > 0)
    }

    @Test("one that does not is found out, with a fixture that shows it")
    func bad() async throws {
        let report = try await report("local t = c.client.title:upper() return decide.client()")
        let finding = try #require(report.findings.first)
        #expect(finding.message.contains("attempt to "))
        let again = await FixtureRunner(
            try .handler("local t = c.client.title:upper() return decide.client()", extra: Self.schema)
        ).run(try PluginFixture(finding.fixture, path: "again"))
        #expect(again.differences.first?.contains(finding.message) == true)
    }

    @Test("an error of the plugin's own is its way to refuse")
    func refuses() async throws {
        #expect(try await report("error('no', 0)").isGood)
    }

    @Test("those that come with Sluice stand it", arguments: AuthoredBundles.folders)
    func bundled(folder: String) async throws {
        var fuzz = PluginFuzz(try PluginBundle(folder: folder))
        fuzz.calls = 80
        fuzz.configurations = 30
        let report = await fuzz.run()
        #expect(report.isGood, "\(report.lines.joined(separator: "\n"))")
    }

    @Test("a large number of the server's that moves to another field is still the server's")
    func moved() async throws {
        let bundle = try PluginBundle.sample(
            ["after_pull"], "return { after_pull = function(rec) rec.b, rec.a = rec.a, nil end }")
        for value in [JSON(1e300), JSON(9_007_199_254_740_993)] {
            let fixture: JSON = [
                "name": "a", "hook": "after_pull", "given": ["record": ["id": "1", "a": value]],
                "expect": ["record": ["id": "1", "b": value]],
            ]
            let result = await FixtureRunner(bundle).run(try PluginFixture(fixture, path: "a"))
            #expect(result.isPassed, "\(result.differences)")
        }
        let doubling = try PluginBundle.sample(
            ["after_pull"], "return { after_pull = function(rec) rec.a = rec.a * 2.0 end }")
        let fixture: JSON = [
            "name": "a", "hook": "after_pull", "given": ["record": ["id": "1", "a": 1e300]],
            "expect": ["error": "bad_result"],
        ]
        #expect(await FixtureRunner(doubling).run(try PluginFixture(fixture, path: "a")).isPassed)
    }
}
