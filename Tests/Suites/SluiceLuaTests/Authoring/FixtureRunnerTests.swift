import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("fixtures")
struct FixtureRunnerTests {
    private func run(_ bundle: PluginBundle, _ fixture: JSON) async throws -> FixtureResult {
        await FixtureRunner(bundle).run(try PluginFixture(fixture, path: "tests/one.json"))
    }

    private static let conflict: JSON = [
        "name": "a", "hook": "on_conflict",
        "given": [
            "conflict": [
                "client": ["id": "1", "a": 1, "b": 2], "server": ["id": "1", "a": 1, "b": 3],
                "base": ["id": "1", "a": 0, "b": 0],
            ]
        ],
    ]

    private func expecting(_ expectation: JSON, host: JSON? = nil) -> JSON {
        var fixture = Self.conflict
        fixture["expect"] = expectation
        fixture["host"] = host
        return fixture
    }

    @Test("a decision that is as expected passes, whatever else it says")
    func passes() async throws {
        let bundle = try PluginBundle.handler("return decide.ask { reason = 'why' }")
        let result = try await run(bundle, expecting(["decision": ["decision": "ask"]]))
        #expect(result.differences == [])
        #expect(result.fuel > 0)
    }

    @Test("a difference is one line that names the place")
    func difference() async throws {
        let bundle = try PluginBundle.handler("return c:merge { default = 'client' }")
        let result = try await run(
            bundle,
            expecting(["decision": ["decision": "merge", "record": ["id": "1", "a": 1, "b": 3]], "log": ["x"]]))
        #expect(
            result.differences == ["decision.record.b: expected 3, found 2", "log: expected 1 line, found 0: []"])
    }

    @Test("a failure fails a fixture that expects none, and passes one that expects it")
    func failures() async throws {
        let bundle = try PluginBundle.handler("error('no', 0)")
        let result = try await run(bundle, expecting(["log": .array]))
        #expect(result.differences.count == 1)
        #expect(result.differences.first?.contains("failed with runtime") == true)
        #expect(try await run(bundle, expecting(["error": "runtime"])).isPassed)
        #expect(try await run(bundle, expecting(["error": "fuel"])).isPassed == false)
    }

    @Test("fuel is compared with the most that is expected")
    func fuel() async throws {
        let bundle = try PluginBundle.handler("for i = 1, 1000 do local x = i end return decide.next()")
        #expect(try await run(bundle, expecting(["fuel_max": 100])).isPassed == false)
        #expect(try await run(bundle, expecting(["fuel_max": 100_000])).isPassed)
    }

    @Test("the world is the fixture's: clock, chance, values, secrets, http and the store")
    func world() async throws {
        let bundle = try PluginBundle.handler(
            #"""
            ctx.log.info(time.format(time.now(), 0) .. " " .. tostring(kv.get("n")))
            kv.set("n", kv.get("n") + 1)
            local answer = http.request { url = "https://a.example/x", method = "GET" }
            ctx.sleep(1500)
            ctx.log.info(time.format(time.now(), 1) .. " " .. answer.status .. " " .. answer.body)
            ctx.log.info(tostring(crypto.random() == crypto.random()) .. " " .. store.get("todo", "1").title)
            return decide.next()
            """#,
            extra: [
                "permissions": [
                    "clock": true, "random": true, "kv": ["bytes": 1000], "http": ["a.example"],
                    "tables": ["todo": "r"],
                ]
            ])
        let host: JSON = [
            "clock": "2026-05-01T10:00:00Z", "kv": ["n": 2], "store": ["todo": [["id": "1", "title": "milk"]]],
            "http": [["expect": ["url": "https://a.example/x"], "reply": ["status": 200, "body": "hi"]]],
        ]
        let lines: JSON = ["2026-05-01T10:00:00Z 2", "2026-05-01T10:00:01.5Z 200 hi", "false milk"]
        let result = try await run(bundle, expecting(["log": lines, "kv": ["n": 3]], host: host))
        #expect(result.differences == [])
    }

    @Test("a call of the host that nobody wrote down fails the fixture, and one that was not made too")
    func unexpected() async throws {
        let bundle = try PluginBundle.handler(
            "pcall(http.request, { url = 'https://a.example/x' }) return decide.next()",
            extra: ["permissions": ["http": ["a.example"]]])
        let result = try await run(bundle, expecting(["decision": ["decision": "next"]]))
        #expect(result.differences == ["host.http: no answer left for GET https://a.example/x"])
        let reply: JSON = ["reply": ["status": 200]]
        let two = try await run(bundle, expecting(.object, host: ["http": [reply, reply]]))
        #expect(two.differences == ["host.http: 1 not asked for"])
        let other = try await run(
            bundle, expecting(.object, host: ["http": [["expect": ["method": "POST"], "reply": ["status": 200]]]]))
        #expect(other.differences.count == 1)
    }

    @Test("a misspelt member is a mistake in the fixture, with its place")
    func misspelt() throws {
        for (fixture, place) in [
            (expecting(["decisoin": .null]), "/expect/decisoin"), (expecting(.object, host: ["clok": 1]), "/host/clok"),
        ] {
            let error = #expect(throws: SluiceError.self) { try PluginFixture(fixture, path: "tests/a.json") }
            #expect(error?.message.contains("tests/a.json \(place)") == true)
        }
    }

    @Test("what a hook is not given is a mistake too")
    func given() async throws {
        var fixture = expecting(.object)
        fixture["given"] = ["request": .object]
        let result = try await run(try .handler("return decide.next()"), fixture)
        #expect(result.differences.first?.contains("/given/request: unknown name") == true)
    }

    @Test("coverage names the statements that did not run")
    func coverage() async throws {
        let fixture = expecting(["decision": ["decision": "client"]])
        let bundle = try PluginBundle.handler(
            "if c.status == 409 then\n  return decide.server()\nend\nreturn decide.client()",
            files: ["tests/a.json": fixture.description])
        var runner = FixtureRunner(bundle)
        runner.measuresCoverage = true
        let report = await runner.run()
        #expect(report.isGood)
        #expect(report.coverage?.files.first?.missing == [3])
        #expect(report.lines.last == "1 passed, 0 failed")
    }

    @Test("a fixture that cannot be read is a failed one")
    func unreadable() async throws {
        let bundle = try PluginBundle.handler("return decide.client()", files: ["tests/a.json": "{"])
        let report = await FixtureRunner(bundle).run()
        #expect((report.passed, report.failed) == (0, 1))
        #expect(report.lines.last == "0 passed, 1 failed")
    }

    @Test("as a gate, a plugin whose fixtures do not pass is not put in the place of one that serves")
    func gate() async throws {
        let fixture = expecting(["decision": ["decision": "client"]]).description
        let good = try PluginPlan(try .handler("return decide.client()", files: ["tests/a.json": fixture]))
        let bad = try PluginPlan(try .handler("return decide.server()", files: ["tests/a.json": fixture]))
        let plugins = try await Plugins([good], options: PluginOptions(gate: FixtureRunner.gate))
        let error = await #expect(throws: SluiceError.self) { try await plugins.reload([bad]) }
        #expect(error?.message.contains("tests/a.json does not pass: decision.decision") == true)
        try await plugins.reload([good])
    }

    /// The filter that `sluice plugin new --kind filter` begins, in Swift.
    private struct Again: RequestFilter {
        var statuses = [503]

        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            let response = try await next(request)
            guard statuses.contains(response.status), request.head.method == .get else { return response }
            return try await next(request)
        }
    }

    @Test("a filter that was written anew in Swift is held against the same fixtures", arguments: [503, 500])
    func swift(status: Int) async throws {
        let bundle = try PluginBundle(
            files: try PluginScaffold(name: "again", kind: .filter).files.filter { !$0.key.hasPrefix(".") },
            location: "again")
        let runner = FixtureRunner(bundle)
        for path in bundle.fixtures {
            let result = await runner.run(try bundle.fixture(at: path), through: Again(statuses: [status]))
            // One that sends again after another status is another filter.
            #expect(result.isPassed == (status == 503 || path == "tests/once.json"), "\(result.differences)")
        }
    }

    @Test(
        "what is no record is refused where one is given",
        arguments: [
            (HookKind.onConflict, ["conflict": ["client": "x"]], "/given/conflict/client"),
            (.onConflict, ["conflict": ["base": [1]]], "/given/conflict/base"),
            (.beforePush, ["operation": ["record": 5]], "/given/operation/record"),
            (.onPushError, ["error": ["record": true]], "/given/error/record"),
            (.afterPullPage, ["page": ["rows": ["x"]]], "/given/page/rows/0"),
        ] as [(HookKind, JSON, String)])
    func noRecord(hook: HookKind, given: JSON, place: String) async throws {
        let bundle = try PluginBundle.sample([hook.rawValue], "return { \(hook.rawValue) = function() end }")
        let fixture: JSON = ["name": "a", "hook": JSON(hook.rawValue), "given": given, "expect": [:]]
        let differences = try await run(bundle, fixture).differences
        #expect(differences.first?.contains("\(place): expected a record") == true, "\(differences)")
    }
}
