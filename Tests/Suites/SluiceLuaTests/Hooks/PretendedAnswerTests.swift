import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("What a plugin may pretend")
struct PretendedAnswerTests {
    let transport = ScriptedTransport([], otherwise: .json(200, #"{"id":"1","version":"2","title":"milk"}"#))

    /// A push of an update, as the engine sends it.
    private var push: SyncRequest {
        var request = SyncRequest.sample(
            .patch, "/tables/todos/1", body: ["id": "1", "title": "oat milk"],
            [("If-Match", #""1""#), ("Authorization", "Bearer a"), ("X-Plain", "1")], action: .update)
        request.context.source = .push
        request.context.recordID = "1"
        request.context.version = "1"
        return request
    }

    private func send(_ hook: String, _ body: String, change: [String]) async throws -> (SyncResponse, [PluginDecision])
    {
        let text = PluginText(
            [hook], "return { \(hook) = function(a, b, c)\n\(body)\nend }",
            extra: ["permissions": ["change": JSON(change.map { JSON($0) })]])
        let plugins = try await text.loaded()
        let response = try await plugins.send(push, to: transport)
        return (response, await plugins.decisions)
    }

    static let answers = [
        ("request", "return decide.respond { status = 200, json = { id = '1', version = '9' } }"),
        ("filter", "return decide.respond { status = 200 }"),
        ("filter", "local res = b(a) res.status = 201 return res"),
        ("filter", "local res = b(a) res.body:set_text('{}') return res"),
        ("filter", "local res = b(a) res.headers:set('ETag', '\"9\"') return res"),
        ("response", "a.status = 201"), ("response", "a.body:set_json(json.object {})"),
        ("response", "return decide.respond { status = 200 }"),
    ]

    @Test("an answer to a push that the server did not give needs push.answer, and is marked", arguments: answers)
    func answersPush(hook: String, body: String) async throws {
        // Of `response` things go on as without the plugin, of the others the request fails.
        do {
            let (response, decisions) = try await send(hook, body, change: ["request.url"])
            let failure = try #require(decisions.first?.failure)
            #expect(hook == "response" && response.madeBy.isEmpty && response.status == 200)
            #expect(failure.kind == .permission && failure.message.contains("push.answer"))
        } catch let error as SluiceError {
            let failure = try #require(error.cause as? PluginFailure)
            #expect(failure.kind == .permission && failure.message.contains("push.answer"))
        }
        let (response, decisions) = try await send(hook, body, change: ["push.answer"])
        #expect(response.madeBy == ["probe"])
        #expect(decisions.first?.answersPush == true && decisions.first?.json["answers_push"] == true)
    }

    @Test("the server's answer as it came needs nothing and is not marked")
    func passedOn() async throws {
        let (response, decisions) = try await send("filter", "return b(a)", change: [])
        #expect(response.madeBy.isEmpty && decisions.first?.answersPush == false)
        let (same, _) = try await send("response", "local t = a.body:json()", change: [])
        #expect(same.madeBy.isEmpty)
    }

    static let fields = [
        ("req.headers:set('Authorization', 'Bearer b')", "request.credentials"),
        ("req.headers:remove('Authorization') req.headers:add('X-ZUMO-AUTH', 't')", "request.credentials"),
        ("req.headers:set('Cookie', 'a=b')", "request.credentials"),
        ("req.headers:remove('If-Match')", "request.conditions"),
        ("req.headers:set('If-Match', '*')", "request.conditions"),
        ("req.headers:set('if-none-match', '*')", "request.conditions"),
        ("req.body:set_json { id = '1', title = 'x', version = '2' }", "request.conditions"),
        ("req.body:set_json { id = '1', title = 'x', Version = '2' }", "request.conditions"),
        ("req.headers:set('X-HTTP-Method-Override', 'DELETE')", "request.method"),
        ("req.headers:add('x-http-method', 'DELETE')", "request.method"),
        ("req.headers:set('X-Original-URL', '/tables/other/1')", "request.url"),
        ("req.body:set_json { id = '2', title = 'x' }", "request.id"),
        ("req.body:set_json { id = '1', ID = '2' }", "request.id"),
        ("req.body:set_text('{\"id\":\"1\"')", "request.id"),
    ]

    @Test(
        "credentials, conditions, what stands for method and address, and the id of a body each need a permission",
        arguments: fields)
    func forged(line: String, permission: String) async throws {
        let body = "local req = a \(line)"
        let others = ChangePermission.allCases.map(\.rawValue).filter { $0 != permission }
        let error = await #expect(throws: SluiceError.self) { try await send("request", body, change: others) }
        let failure = try #require(error?.cause as? PluginFailure)
        #expect(failure.kind == .permission && failure.message.contains(permission), "\(failure)")
        #expect(transport.requests.isEmpty)
        _ = try await send("request", body, change: [permission])
        #expect(transport.requests.count == 1)
    }

    @Test(
        "other fields and properties need none",
        arguments: [
            "req.headers:set('X-Plain', '2')", "req.body:set_json { id = '1', title = 'x' }",
            "req.body:set_json { title = 'x' }", "req.body:set_json { id = '1', version = '1' }",
        ])
    func harmless(line: String) async throws {
        _ = try await send("request", "local req = a \(line)", change: [])
        #expect(transport.requests.first?.head.headerFields[.authorization] == "Bearer a")
        #expect(transport.requests.first?.head.headerFields[.ifMatch] == #""1""#)
    }

    @Test("a policy withholds a permission that the manifest asks for, and no other")
    func withheld() throws {
        let folder = try PolicyFolder()
        try folder.add("one", #"{"permissions": {"change": ["push.answer", "request.url"]}}"#)
        let one = "plugins:\n  one:\n    path: plugins/one\n    withhold: "
        let plan = try #require(try folder.policy(one + "[push.answer]").plans.first)
        #expect(plan.permissions.change == ["request.url"])
        let refusal = folder.refusal(one + "[request.id]")
        #expect(refusal.contains("does not ask for the permission change: request.id"), "\(refusal)")
    }

    @Test("what a plugin's answer settles is noted in the audit by the plugin's name")
    func audited() async throws {
        let body = """
            return { request = function(req)
              if req.source == "push" then
                return decide.respond { status = 200, json = { id = "1", version = "9", title = "never sent" } }
              end
            end }
            """
        let device = try await FaultInjectionTests.Device(
            PluginText(["request"], body, extra: ["permissions": ["change": ["push.answer"]]]))
        device.server.seed("todos", [["id": "1", "title": "milk"]])
        try await device.pull()
        try await device.todos.update(["id": "1", "title": "oat milk"])
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().isEmpty)
        #expect(device.server.rows("todos")["1"]?["title"] == "milk")
        #expect(try await device.context.queue.audit().map(\.what) == ["answered by probe"])
    }

    @Test(
        "so is what such an answer leaves in the queue, a refusal or a conflict, in the reason why it waits",
        arguments: [
            "{ status = 422, json = { error = 'no' } }", "{ status = 500 }", "{ status = 409 }",
            "{ status = 412, json = { id = '1', version = '9', title = 'theirs' } }",
            "{ status = 200, json = { id = '2', version = '9', title = 'theirs' } }",
        ])
    func leftWaiting(answer: String) async throws {
        let body = """
            return { request = function(req)
              if req.method == "PATCH" then return decide.respond \(answer) end
            end }
            """
        let device = try await FaultInjectionTests.Device(
            PluginText(["request"], body, extra: ["permissions": ["change": ["push.answer"]]]))
        device.server.seed("todos", [["id": "1", "title": "milk"]])
        try await device.pull()
        try await device.todos.update(["id": "1", "title": "oat milk"])
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.failure?.message.hasSuffix("(answered by probe)") == true, "\(operation)")
    }

    @Test(
        "a script sees no field that holds a credential, and none goes along to another host",
        arguments: [
            "X-Api-Key", "X-Auth-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "Proxy-Authorization",
            "X-Amz-Security-Token", "X-CSRF-Token",
        ])
    func credentialFields(_ name: String) async throws {
        let look = PluginText(
            ["request"],
            "return { request = function(req) req.headers:set('X-Seen', tostring(req.headers:get('\(name)'))) end }")
        var request = push
        request.head.headerFields[HTTPField.Name(name)!] = "hunter2-hunter2"
        _ = try await look.loaded().send(request, to: transport)
        let sent = try #require(transport.requests.first?.head)
        #expect(sent.headerFields[HTTPField.Name("X-Seen")!] == "nil")
        #expect(sent.headerFields[HTTPField.Name(name)!] == "hunter2-hunter2", "it goes to its own server")
        let move = PluginText(
            ["request"], "return { request = function(req) req.url = 'https://api.example.com/' end }",
            extra: ["permissions": ["change": ["request.url"], "http": ["api.example.com"]]])
        _ = try await move.loaded().send(request, to: transport)
        let moved = try #require(transport.requests.last?.head)
        #expect(moved.authority == "api.example.com" && moved.headerFields[HTTPField.Name(name)!] == nil)
    }

    @Test("a request that goes to another host takes no credential along, whatever the script does to its fields")
    func movedWithFields() async throws {
        let text = PluginText(
            ["request"],
            "return { request = function(req) req.url = 'https://api.example.com/' req.headers:set('X-Other', '1') end }",
            extra: ["permissions": ["change": ["request.url"], "http": ["api.example.com"]]])
        _ = try await text.loaded().send(push, to: transport)
        let sent = try #require(transport.requests.first?.head)
        #expect(sent.authority == "api.example.com" && sent.headerFields[.authorization] == nil)
        #expect(sent.headerFields[HTTPField.Name("X-Other")!] == "1")
    }
}
