import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("What a hook that answers wrongly is told")
struct AnswerMessageTests {
    private static let conflict: JSON = [
        "client": ["id": "1", "title": "tea", "items": ["a"], "note": .null],
        "server": ["id": "1", "title": "milk", "items": ["b"], "note": .null, "version": "2"],
        "base": ["id": "1", "title": "beer", "items": [], "note": .null, "version": "1"],
    ]

    /// What differs from a fixture that expects nothing: that the hook failed, and how. Empty where it did not.
    private func faults(_ body: String, expecting: JSON = .object) async throws -> String {
        let fixture = try PluginFixture(
            ["name": "a", "hook": "on_conflict", "given": ["conflict": Self.conflict], "expect": expecting], path: "a")
        return await FixtureRunner(try .handler(body)).run(fixture).differences.joined(separator: "\n")
    }

    @Test(
        "a rule returns a value: a decision is refused, whatever it is called",
        arguments: [
            ("return c:merge { default = 'server', items = function() return decide.ask { reason = 'x' } end }", "ask"),
            ("local d = decide.next() d.decision = nil\nreturn c:merge { default = function() return d end }", "nil"),
            ("return c:merge { default = function() return c:merge { default = 'server' } end }", "merge"),
        ])
    func rules(body: String, name: String) async throws {
        let faults = try await faults(body)
        #expect(faults.contains("bad_result"), "\(faults)")
        #expect(faults.contains("returned decide.\(name): a rule returns the field's value"), "\(faults)")
    }

    @Test("a decision's function is no rule")
    func functionAsRule() async throws {
        let faults = try await faults("return c:merge { default = 'server', items = decide.ask }")
        #expect(faults.contains("the rule for items is decide.ask: a rule returns the field's value"), "\(faults)")
    }

    @Test("a value that has a member of that name is a value")
    func valueWithDecision() async throws {
        let faults = try await faults(
            "return c:merge { default = 'server', items = function() return { decision = 'ask' } end }",
            expecting: [
                "record": ["id": "1", "title": "milk", "items": ["decision": "ask"], "note": .null, "version": "2"]
            ])
        #expect(faults == "")
    }

    @Test(
        "options that a decision does not have, or of another type, are refused",
        arguments: [
            ("return decide.server { reasn = 'x' }", "decide.server has no option reasn; did you mean reason?"),
            ("return decide.server { after = 5 }", "decide.server has no option after; it takes reason"),
            ("return decide.ask { 'why' }", "decide.ask has no option 1; it takes reason"),
            ("return decide.server { reason = 5 }", "decide.server: reason is a text, not 5"),
            ("return decide.defer { after = '5m' }", "decide.defer: after is a number of seconds from 0, not \"5m\""),
            ("return decide.defer { after = -5 }", "decide.defer: after is a number of seconds from 0, not -5"),
            ("return decide.ask 'why'", "decide.ask takes a table of options, not \"why\""),
            ("return decide.ask(c)", "decide.ask takes a table of options, not conflict"),
        ])
    func options(body: String, message: String) async throws {
        let faults = try await faults(body)
        #expect(faults.contains("bad_result") && faults.contains(message), "\(faults)")
    }

    @Test("an option that is null says nothing")
    func nullOption() async throws {
        #expect(
            try await faults(
                "return decide.ask { reason = c.client.note }", expecting: ["decision": ["decision": "ask"]])
                == "")
    }

    @Test("a call at a hook's end leaves the hook's own line")
    func tailCalls() async throws {
        for body in ["return decide.ask { reasn = 'x' }", "return c:merge { title = 'biggest' }"] {
            let faults = try await faults(body)
            #expect(faults.contains("sample, on_conflict, main.lua:1: "), "\(faults)")
        }
        let inner = try await faults("local d = decide.ask { reasn = 'x' }\nreturn d")
        #expect(inner.contains("main.lua:2: "), "\(inner)")
    }

    @Test("a function that was not called is named")
    func functionAsAnswer() async throws {
        let named = try await faults("return decide.server")
        #expect(named.contains("main.lua:1: it returned a function: call it, decide.server()"), "\(named)")
        let other = try await faults("return function() end")
        #expect(other.contains("it returned a function, which is no answer"), "\(other)")
    }

    @Test(
        "messages of Lua call null by its name, and objects by theirs",
        arguments: [
            ("return c.client.note .. 'x'", "attempt to concatenate json.null (field 'note')"),
            ("return c.client.note < 1", "attempt to compare json.null with number"),
            ("return ('x'):rep(c.client.note)", "got json.null"), ("error(json.null)", "error object (json.null)"),
            ("return c.client .. 'x'", "attempt to concatenate a rec value"),
        ])
    func null(body: String, message: String) async throws {
        let faults = try await faults(body)
        #expect(faults.contains(message), "\(faults)")
    }

    @Test(
        "functions of text say themselves what they take",
        arguments: ["trim(nil)", "lines(nil)", "split(nil, ',')", "starts_with(nil, 'a')", "ends_with('a', nil)"])
    func texts(call: String) async throws {
        let faults = try await faults("local t = text.\(call)")
        let name = call.prefix { $0 != "(" }
        #expect(faults.contains("main.lua:2: text.\(name) takes a text, not nil"), "\(faults)")
    }

    @Test("a table that leaves out what both sides have is no whole record, unless it says so")
    func partOfRecord() async throws {
        let part = "decide.merge({ id = '1', version = '2', title = 'x', items = json.array {} }"
        let faults = try await faults("return \(part))")
        #expect(faults.contains("decide.merge leaves out note, which both sides have"), "\(faults)")
        let record: JSON = ["id": "1", "version": "2", "title": "x", "items": []]
        #expect(try await self.faults("return \(part), { remove = { 'note' } })", expecting: ["record": record]) == "")
        let object = "local r = c.server r.note = nil r.title = 'x' r.items = json.array {} return decide.merge(r)"
        #expect(try await self.faults(object, expecting: ["decision": ["decision": "merge"]]) == "")
    }
}
