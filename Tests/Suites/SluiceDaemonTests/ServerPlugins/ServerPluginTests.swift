import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceLua

@Suite(.timeLimit(.minutes(10))) struct ServerPluginTests {
    @Test("a script changes what goes in and what comes out, on every wire", arguments: ["2.0.0", "3.0.0", nil])
    func around(version: String?) async throws {
        let server = try await PluginBackend([
            "insert": "req.record.by = req.kind; local a = next(req); a.record.seen = a.record.by .. '!'; return a",
            "update":
                "req:set('by', req.stored.t .. tostring(req.replaces)); local a = next(req); a.record.seen = 'u'; return a",
            "read": "local a = next(req); for _, r in a:rows() do r.t = nil; r.seen = req.kind end; return a",
        ])
        let made = await server.send(.post, "/tables/t", #"{"id":"c","n":3}"#, version: version)
        #expect(made.status == 201, "\(made.text)")
        #expect(made.json["by"] == "insert" && made.json["seen"] == "insert!")
        let replaced = await server.send(.put, "/tables/t/a", #"{"n":9,"t":"z"}"#, version: version)
        #expect(replaced.json["by"] == "xtrue" && replaced.json["seen"] == "u", "\(replaced.text)")
        if version != nil {
            let patched = await server.send(.patch, "/tables/t/b", #"{"n":5}"#, version: version)
            #expect(patched.json["by"] == "yfalse" && patched.json["t"] == "y", "\(patched.text)")
        }
        let list = await server.send(.get, "/tables/t", version: version)
        let rows = list.json["items"]?.elements ?? list.json.elements ?? []
        #expect(rows.count == 3 && rows.allSatisfy { $0["seen"] == "read" && ($0["t"] ?? .null) == .null })
        let one = await server.send(.get, "/tables/t/c", version: version)
        #expect(one.json["seen"] == "lookup" && one.json["by"] == "insert")
    }

    @Test("a script refuses with a status and a message, and nothing is written")
    func refuses() async throws {
        let refusal = "return decide.refuse { status = 403, message = 'not ' .. req.kind .. ' ' .. (req.id or '-') }"
        let server = try await PluginBackend(["insert": refusal, "update": refusal, "delete": refusal])
        #expect(await server.send(.post, "/tables/t", #"{"id":"c"}"#).error == "not insert c")
        let refused = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(refused.status == 403 && refused.error == "not update a")
        #expect(await server.send(.delete, "/tables/t/a").error == "not delete a")
        #expect(await server.send(.post, "/tables/t/a").error == "not undelete a")
        #expect(await server.send(.get, "/tables/t").ids == ["a", "b"])
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 1)
        // Other tables are as they were: the plugin says nothing of them, so it is asked about them as well.
        #expect(await server.send(.delete, "/tables/other/o").status == 403)
    }

    @Test("a filter takes records away, in lists, by id and from changes; a condition of the list's stays")
    func filters() async throws {
        let narrow = "req.filter = 'n gt 1'; return next(req)"
        let server = try await PluginBackend(["read": narrow, "update": narrow, "delete": narrow])
        #expect(await server.send(.get, "/tables/t?$filter=n lt 3 or n ge 0").ids == ["b"])
        #expect(await server.send(.get, "/tables/t?$inlinecount=allpages").json["count"] == 1)
        #expect(await server.send(.get, "/tables/t/a").status == 404)
        #expect(await server.send(.patch, "/tables/t/a", #"{"n":7}"#).status == 404)
        #expect(await server.send(.delete, "/tables/t/a").status == 404)
        #expect(await server.send(.patch, "/tables/t/b", #"{"n":7}"#).json["n"] == 7)
        #expect(await server.send(.get, "/odata/v4/t").ids == ["b"])
        #expect(await server.send(.get, "/odata/v4/t/$count").text == "1")
    }

    @Test("scripts see the request: query, stored record, what it replaces")
    func sees() async throws {
        let server = try await PluginBackend([
            "read":
                "local q = req.query; local a = next(req); if q then a:row(1).seen = ('%s %s %s'):format(q.filter, q.top, q.skip) end; return a",
            "delete": "return decide.refuse { message = ('%s %s'):format(req.stored.n, req.record) }",
        ])
        let list = await server.send(.get, "/tables/t?$filter=n gt 0&$top=1&$skip=1")
        #expect(list.json[0]?["seen"] == "(n gt 0) 1 1", "\(list.text)")
        let refused = await server.send(.delete, "/tables/t/b")
        #expect(refused.status == 400 && refused.error == "2 nil")
    }

    @Test("plugins stand around each other in their order, and the last change goes in")
    func order() async throws {
        func script(_ mark: String) -> String {
            """
            return { update = function(req, next)
              req.record.by = (req.record.by or '') .. '\(mark)'
              local a = next(req)
              a.record.seen = (a.record.seen or '') .. '\(mark)'
              return a
            end }
            """
        }
        let server = try await PluginBackend(
            (script("1"), ["update": ["priority": 1]]), (script("2"), ["update": ["priority": 2]]),
            (script("3"), ["update": ["band": "early"]]))
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(answer.json["by"] == "321" && answer.json["seen"] == "123", "\(answer.text)")
    }

    @Test("where one of several refuses, those before it hear so in next, and nothing is written")
    func refusedWithin() async throws {
        let server = try await PluginBackend(
            (
                """
                return { update = function(req, next, ctx)
                  local ok, why = pcall(next, req)
                  ctx.log.info(ok and 'carried out' or 'refused')
                  return decide.refuse { message = 'outer' }
                end }
                """, ["update": ["band": "early"]]
            ),
            (
                "return { update = function() return decide.refuse { status = 422, message = 'inner' } end }",
                ["update": .object]
            ))
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#)
        #expect(answer.status == 422 && answer.error == "inner")
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 1)
        // Told when the request is let go of.
        while await server.plugins.decisions.count < 2 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(await server.plugins.decisions.flatMap(\.log).map(\.message) == ["refused"])
    }

    @Test("numbers that Lua does not hold go through unchanged")
    func numbers() async throws {
        let server = try await PluginBackend([
            "insert": "req.record.x = 1; local a = next(req); a.record.y = 2; return a",
            "read": "local a = next(req); for _, r in a:rows() do r.z = 3 end; return a",
        ])
        let body = #"{"id":"c","big":18446744073709551616,"long":1.10,"list":[12345678901234567890.5]}"#
        let made = await server.send(.post, "/tables/t", body)
        for part in ["18446744073709551616", "1.10", "12345678901234567890.5"] {
            #expect(made.text.contains(part), "\(made.text)")
            #expect(await server.send(.get, "/tables/t/c").text.contains(part))
        }
    }

    @Test("a shadow changes, refuses and hides nothing, and its decisions are written down")
    func shadow() async throws {
        let server = try await PluginBackend(
            (
                """
                return {
                  update = function(req, next) req.record.n = 77; local a = next(req); a.record.n = 78; return a end,
                  delete = function() return decide.refuse { status = 403 } end,
                  insert = function() error('broken') end,
                }
                """, ["update": .object, "delete": .object, "insert": .object]
            ), mode: .shadow)
        #expect(await server.send(.patch, "/tables/t/a", #"{"n":9}"#).json["n"] == 9)
        #expect(await server.send(.delete, "/tables/t/b").status == 204)
        #expect(await server.send(.post, "/tables/t", #"{"id":"c"}"#).status == 201)
        #expect(await server.plugins.decisions.map(\.decision) == ["changed", "refuse", "failed"])
    }

    @Test("a plugin that is for none of the tables is refused, and one without such hooks is let be")
    func idle() async throws {
        let match: JSON = ["read": ["match": ["tables": ["moveis"]]]]
        await #expect(throws: SluiceError.self) {
            _ = try await PluginBackend(("return { read = function(req, next) return next(req) end }", match))
        }
        let server = try await PluginBackend(
            ("return { request = function() error('asked') end }", ["request": .object]))
        #expect(await server.send(.get, "/tables/t").status == 200)
    }
}
