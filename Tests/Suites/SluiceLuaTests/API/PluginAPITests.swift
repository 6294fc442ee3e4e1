import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The description of the plugin API")
struct PluginAPITests {
    /// Set SLUICE_WRITE_DOCS to write the page anew.
    @Test("docs/plugins-api.md is what the description says")
    func page() throws {
        let file = URL(fileURLWithPath: Repository.path("docs/plugins-api.md"))
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try PluginAPIPage.text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == PluginAPIPage.text)
    }

    @Test("stubs have the hooks, every member, and the tables of the deployment")
    func stubs() {
        let table = TableSchema("todo", columns: [.init("title", .string), .init("due date", .date)])
        let text = LuaStubs.text(tables: [table])
        #expect(text.hasPrefix("---@meta sluice\n"))
        for word in [
            "---@class app.todo: sluice.Record\n---@field title? string\n---@field [\"due date\"]? string\n",
            "function _Conflict:merge(rules) end", "function decide.merge(record, options) end",
            "---@field on_conflict? fun(c: sluice.Conflict, ctx: sluice.Context): (sluice.Decision)?",
            "---@field base? sluice.Record", "function crypto.sha256(text, encoding) end",
        ] { #expect(text.contains(word), "no \(word)") }
    }

    @Test("every decision that a hook may answer with is described, and each that is described is some hook's")
    func decisions() {
        let described = Set(PluginAPI.modules.first { $0.name == "decide" }?.members.map(\.name) ?? [])
        #expect(described == Set(HookKind.allCases.flatMap(\.decisions)))
        #expect(PluginAPI.hooks.map(\.kind.rawValue).sorted() == HookKind.allCases.map(\.rawValue).sorted())
    }

    /// Lua that says which of a part's members are not there, in `missing`.
    func probe(_ part: PluginAPI.Part, as expression: String) -> String {
        let checks = part.members.map { member in
            switch member.form {
            case .field: "if \(expression).\(member.name) == nil then missing[#missing + 1] = '\(member.name)' end"
            case .method, .function:
                "if type(\(expression).\(member.name)) ~= 'function' then missing[#missing + 1] = '\(member.name)' end"
            }
        }
        return """
            local missing = {}
            \(checks.joined(separator: "\n"))
            if #missing > 0 then error("\(part.name) misses " .. table.concat(missing, ", ")) end
            """
    }

    func loaded(_ hook: String, _ body: String) async throws -> Plugins {
        try await PluginText([hook], "return { \(hook) = function(a, b, c)\n\(body)\nend }").loaded()
    }

    func part(_ name: String) throws -> PluginAPI.Part { try #require(PluginAPI.parts.first { $0.name == name }) }

    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    var fullRequest: SyncRequest {
        var request = SyncRequest.sample(.post, body: ["a": 1], action: .insert)
        request.context.recordID = "1"
        request.context.operationID = "op"
        request.context.version = "v"
        request.context.systemProperties = ["*"]
        request.context.tags = ["a"]
        return request
    }

    @Test("each module has its members", arguments: PluginAPI.modules.map(\.name))
    func modules(name: String) async throws {
        let plugins = try await loaded("request", probe(try part(name), as: name))
        _ = try await plugins.send(.sample(), to: transport)
    }

    @Test("each function that stands alone is one", arguments: PluginAPI.globals.map(\.name))
    func globals(name: String) async throws {
        let plugins = try await loaded("request", "assert(type(\(name)) == 'function')")
        _ = try await plugins.send(.sample(), to: transport)
    }

    @Test(
        "the objects of an exchange have their members",
        arguments: [
            ("request", "req", "a"), ("request", "headers", "a.headers"), ("request", "query", "a.query"),
            ("request", "body", "a.body"), ("filter", "req", "a"), ("response", "res", "a"),
            ("response", "headers", "a.request.headers"), ("response", "headers", "a.headers"),
        ])
    func exchange(hook: String, name: String, expression: String) async throws {
        let text = probe(try part(name), as: expression) + (hook == "filter" ? "\nreturn b(a)" : "")
        var plan = try PluginText([hook], "return { \(hook) = function(a, b, c)\n\(text)\nend }").plan
        plan.hooks[try #require(HookKind(rawValue: hook))]?.onError = .failClosed
        let plugins = try await Plugins([plan])
        _ = try await plugins.send(fullRequest, to: transport)
    }

    @Test("ctx has its members")
    func context() async throws {
        let whole = try part("ctx")
        let part = PluginAPI.Part(
            name: "ctx", type: whole.type, text: "", isModule: false,
            members: whole.members.filter { !["question", "table"].contains($0.name) })
        let plugins = try await loaded("request", probe(part, as: "b"))
        _ = try await plugins.send(.sample(), to: transport)
    }

    @Test("conflicts, operations, errors, rows, pages, questions and events have their members")
    func records() async throws {
        let now = Timestamp("2026-01-01T00:00:00Z")!
        var operation = TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update, createdAt: now)
        operation.group = "g"
        operation.failure = .init(code: "x", message: "y")
        let record: JSON = [
            "id": "1", "version": "v", "updatedAt": "2026-01-01T00:00:00Z", "createdAt": "2026-01-01T00:00:00Z",
            "deleted": false,
        ]
        let conflict = Conflict(
            operation: operation, client: record, server: record, base: record, maybeApplied: false, status: 412,
            isDeletedOnServer: false)
        _ = try await loaded("on_conflict", probe(try part("c"), as: "a")).conflictHandler.decide(conflict)
        _ = try await loaded("on_conflict", probe(try part("rec"), as: "a.client")).conflictHandler.decide(conflict)
        let whole = try part("op")
        func op(_ names: Set<String>) -> PluginAPI.Part {
            PluginAPI.Part(
                name: "op", type: whole.type, text: "", isModule: false,
                members: whole.members.filter { !names.contains($0.name) })
        }
        let inPush = op(["before"])
        _ = try await loaded("before_push", probe(inPush, as: "a")).syncHook.beforePush(operation, record: record)
        let inWrite = op(["operation", "sequence", "queued_at", "version", "last_error"])
        _ = try await loaded("before_enqueue", probe(inWrite, as: "a")).syncHook.beforeEnqueue(
            EnqueuedChange(table: "todos", recordID: "1", kind: .update, record: record, before: record, group: "g"))
        _ = try await loaded("on_push_error", probe(try part("e"), as: "a")).syncHook.onPushError(
            PushResult.Failure(
                operation: operation, record: record, code: .rejected, message: "no", status: 400,
                retryAfter: .seconds(1)))
        let page = PulledPage(table: "todos", queryName: "all", rows: [PulledRow(id: "1", record: record)])
        _ = try await loaded("after_pull_page", probe(try part("page"), as: "a")).syncHook.afterPull(page)
        _ = try await loaded("after_pull", probe(try part("rec"), as: "a")).syncHook.afterPull(page)
        let schedule = try await loaded("on_schedule", probe(try part("ctx.question"), as: "a.question"))
        _ = try await schedule.scheduleHook.onSchedule(
            ScheduleQuestion(reason: .timer, now: now, next: now, notBefore: now))
        #expect(await schedule.metrics.errors.isEmpty)
    }

    @Test("on_event sees each kind of event")
    func events() async throws {
        let plugins = try await loaded(
            "on_event", "b.log.info(a.kind .. ' ' .. (a.status or a.tables[1]))")
        await plugins.tell(PluginEvent(.pushing))
        await plugins.tell(
            PluginEvent(
                ChangeBatch(
                    id: 1, changes: [StoreChange(table: "todos", recordID: "1", kind: .inserted, source: .local)])))
        #expect(await plugins.decisions.flatMap(\.log).map(\.message) == ["status pushing", "changes todos"])
    }

    @Test("requests to a server's tables, their queries and answers have their members")
    func tables() async throws {
        var question = TableQuestion(table: "todos", kind: .update)
        (question.user, question.claims, question.recordID) = ("ann", ["sub": "ann"], "1")
        (question.record, question.stored) = (["id": "1"], ["id": "1"])
        question.query = TableQuery(
            "todos", filter: try QueryExpression(odata: "a eq 1"), top: 1, select: ["a"])
        let request = probe(try part("req of a table"), as: "a")
        let query = probe(try part("req.query of a table"), as: "a.query")
        let answer = probe(try part("answer of a table"), as: "d")
        let plugins = try await loaded(
            "update", "a.filter = 'a eq 1'\n\(request)\n\(query)\nlocal d = b(a)\n\(answer)\nreturn d")
        let call = TableCall(plugins)
        try await call.before(&question)
        #expect(try await call.after([["id": "1"]], question) == [["id": "1"]])
        #expect(question.filter == question.query?.filter)
    }

    @Test("each merge rule that is described is one")
    func rules() async throws {
        for rule in PluginAPI.mergeRules {
            let plugins = try await loaded("on_conflict", "return a:merge { title = '\(rule.name)' }")
            let operation = TableOperation(
                id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update,
                createdAt: Timestamp("2026-01-01T00:00:00Z")!)
            let base: JSON = ["id": "1", "title": "a"]
            let conflict = Conflict(
                operation: operation, client: base, server: base, base: base, maybeApplied: false, status: 412,
                isDeletedOnServer: false)
            #expect(try await plugins.conflictHandler.decide(conflict) == .replace(base))
        }
    }
}
