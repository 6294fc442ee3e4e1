import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceLua

/// Scripts that fail, or do what they may not.
@Suite(.timeLimit(.minutes(10))) struct ServerPluginFailureTests {
    /// What a script does before its request is carried out, and how it fails.
    static let hostile: [(name: String, script: String, kind: String)] = [
        ("raises an error", "error('the key is hunter2')", "runtime"),
        ("loops", "while true do end", "fuel"),
        ("loops within pcall", "pcall(function() while true do end end); return next(req)", "fuel"),
        ("takes memory", "local s = ('x'):rep(100000000); return next(req)", "memory"),
        (
            "makes a huge record", "req.record.f = ('x'):rep(5000000); return next(req)", "memory"
        ),
        ("returns nothing", "return nil", "bad_result"),
        ("returns a table", "return { record = req.record }", "bad_result"),
        ("returns the request", "return req", "bad_result"),
        ("returns another decision", "return decide.server()", "bad_result"),
        ("refuses with no status", "return decide.refuse { status = 200 }", "bad_result"),
        ("changes the id", "req.record.id = 'z'; return next(req)", "runtime"),
        ("changes the id by set", "req:set('id', 'z'); return next(req)", "runtime"),
        ("changes the version", "req.record.version = 'z'; return next(req)", "runtime"),
        ("changes what is stored", "req.stored.n = 1; return next(req)", "runtime"),
        ("sets another record", "req.record = { id = 'z' }; return next(req)", "runtime"),
        ("gives next something else", "return next({ record = {} })", "runtime"),
        ("yields", "coroutine.yield()", "blocked_function"),
        ("waits for ever", "ctx.sleep(3600000); return next(req)", "deadline"),
        ("writes what is no JSON", "req.record.f = print; return next(req)", "bad_result"),
        ("filters with no filter", "req.filter = 'n lt'; return next(req)", "runtime"),
        ("calls next in a callback", "('x'):gsub('x', function() next(req) end)", "yield"),
        ("calls decide.next", "return decide.next()", "bad_result"),
    ]

    @Test(
        "a script that fails before its next: 500, nothing written, nothing of it in the answer",
        arguments: hostile.indices)
    func closed(index: Int) async throws {
        let (name, script, kind) = Self.hostile[index]
        let server = try await PluginBackend(["update": script])
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(answer.status == 500, "\(name): \(answer.text)")
        #expect(answer.error == "a hook of the table failed", "\(name)")
        let read = await server.send(.get, "/tables/t/a")
        #expect(read.json["n"] == 1 && read.json["id"] == "a", "\(name)")
        let failure = await server.plugins.decisions.compactMap(\.failure).first
        #expect(failure?.kind.rawValue == kind, "\(name): \(String(describing: failure))")
    }

    @Test("with fail_open the change goes on as if the plugin were not there", arguments: hostile.indices)
    func open(index: Int) async throws {
        let (name, script, _) = Self.hostile[index]
        let server = try await PluginBackend(["update": script], onError: "fail_open")
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(answer.status == 200 && answer.json["n"] == 9, "\(name): \(answer.text)")
        #expect(await server.send(.get, "/tables/t/a").json.names.count == answer.json.names.count, "\(name)")
    }

    @Test(
        "after its next a script's failure is 500 too, and the change stands: it is done once",
        arguments: [
            ("next(req); return next(req)", "runtime"), ("next(req)", "bad_result"),
            ("local a = next(req); a.record.id = 'z'; return a", "runtime"),
            ("local a = next(req); while true do end", "fuel"),
            ("local a = next(req); a.record = { id = 'z' }; return a", "runtime"),
            ("local a = next(req); ctx.sleep(3600000); return a", "deadline"),
        ])
    func after(script: String, kind: String) async throws {
        let server = try await PluginBackend(["update": "req.record.n = (req.record.n or 0) + 1\n\(script)"])
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(answer.status == 500 && answer.error == "a hook of the table failed", "\(answer.text)")
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 10)
        #expect(await server.plugins.decisions.compactMap(\.failure?.kind.rawValue) == [kind])
        let open = try await PluginBackend(["update": script], onError: "fail_open")
        #expect(await open.send(.patch, "/tables/t/a", #"{"n":9}"#).json["n"] == 9)
    }

    @Test("a read that a script was to hide from is not shown where the script fails")
    func hidden() async throws {
        let server = try await PluginBackend(["read": "local a = next(req); error('x'); return a"])
        for path in ["/tables/t", "/tables/t/a", "/odata/v4/t", "/odata/v4/t('a')"] {
            let answer = await server.send(.get, path)
            #expect(answer.status == 500 && !answer.text.contains("\"x\""), "\(path): \(answer.text)")
        }
    }

    @Test("a hook that fails again and again is not asked for a while, and refuses meanwhile")
    func breaker() async throws {
        let server = try await PluginBackend(["update": "error('no')"])
        for _ in 0..<7 { #expect(await server.send(.patch, "/tables/t/a", #"{"n":9}"#).status == 500) }
        #expect(await server.plugins.metrics.hooks["p1"]?["update"]?.calls["breaker_open"] == 2)
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 1)
    }

    @Test("a secret's value is in no refusal")
    func secrets() async throws {
        var options = PluginOptions()
        options.secret = { _ in "hunter2-hunter2" }
        let server = try await PluginBackend(
            (
                """
                return { update = function(req, next)
                  return decide.refuse { status = 403, message = 'key ' .. req.record.guess .. ' ' .. secrets.get('k') }
                end }
                """, ["update": .object]
            ), extra: ["permissions": ["secrets": ["k"]]], options: options)
        let answer = await server.send(.patch, "/tables/t/a", #"{"guess":"hunter2-hunter2"}"#)
        #expect(answer.status == 403 && !answer.text.contains("hunter2"), "\(answer.text)")
    }

    @Test("a table that the plugin may only read is not written to by its scripts")
    func permissions() async throws {
        func server(_ access: String) async throws -> PluginBackend {
            try await PluginBackend(
                ["update": "req.record.n = 5; return next(req)"],
                extra: ["permissions": ["tables": ["t": JSON(access)]]])
        }
        #expect(await (try server("r")).send(.patch, "/tables/t/a", #"{"n":9}"#).status == 500)
        #expect(await (try server("rw")).send(.patch, "/tables/t/a", #"{"n":9}"#).json["n"] == 5)
    }

    @Test("a page of a thousand records that are all written to is within what a script may cost")
    func pages() async throws {
        let server = try await PluginBackend(
            ["read": "local a = next(req); for _, r in a:rows() do r.t = r.t .. a:count(); r.x = nil end; return a"],
            seed: (0..<1000).map { ["id": JSON("r\($0)"), "t": "t", "x": 1, "n": JSON($0)] })
        let list = await server.send(.get, "/tables/t")
        let rows = list.json.elements ?? []
        #expect(rows.count == 1000, "\(list.text.prefix(200))")
        #expect(rows.allSatisfy { $0["t"] == "t1000" && ($0["x"] ?? .null) == .null })
        let fuel = await server.plugins.decisions.last?.fuel ?? .max
        #expect(fuel < 2_000_000)
    }

    @Test("requests that are refused after the script's next leave nothing waiting")
    func letsGo() async throws {
        let server = try await PluginBackend(["update": "return next(req)", "read": "return next(req)"])
        for _ in 0..<300 {
            #expect(await server.send(.patch, "/tables/t/nobody", #"{"n":9}"#).status == 404)
            #expect(await server.send(.get, "/tables/t/nobody").status == 404)
        }
        while await server.plugins.metrics.callsUnderWay > 0 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(await server.plugins.decisions.map(\.decision).allSatisfy { $0 == "passed_on" })
        #expect(await server.send(.patch, "/tables/t/a", #"{"n":9}"#).status == 200)
    }
}
