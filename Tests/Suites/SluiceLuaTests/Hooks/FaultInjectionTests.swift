import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A plugin that fails inside the engine")
struct FaultInjectionTests {
    /// A device that has pulled two todos, with plugins, against a server.
    struct Device {
        let server = ModelServer()
        let plugins: Plugins
        let context: SyncContext

        init(_ text: PluginText) async throws {
            plugins = try await text.loaded()
            var options = ClientOptions()
            options.retry = .never
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, filters: [plugins.filter],
                options: options)
            var sync = SyncOptions()
            sync.commitLag = .zero
            context = try await SyncContext(client: client, store: MemoryStore(), options: plugins.added(to: sync))
        }

        var todos: SyncTable<JSON> { get throws { try context.table("todos") } }

        func pull() async throws { _ = try await context.pull(TableQuery("todos"), named: "all") }
    }

    static let hooks = [
        "request", "filter", "response", "before_enqueue", "before_push", "on_conflict", "on_push_error", "after_pull",
        "after_pull_page",
    ]

    static let faults = [
        "error('no')", "while true do end", "return 5", "return { decision = 'explode' }",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", "return json.null.x",
        "local t = {} t.t = t return t", "return print",
    ]

    @Test(
        "no fault of any hook loses or alters what waits, moves a pull's place or counts as success",
        arguments: hooks, faults)
    func nothingIsLost(hook: String, fault: String) async throws {
        let on = "if ctx.config.armed then \(fault) end"
        let body =
            hook == "filter"
            ? "filter = function(req, next, ctx) \(on) return next(req) end"
            : "\(hook) = function(a, ctx) \(on) end"
        func text(armed: Bool) -> PluginText {
            PluginText(
                [hook], "return { \(body) }",
                extra: ["config_schema": ["type": "object", "properties": ["armed": ["type": "boolean"]]]],
                config: ["armed": JSON(armed)])
        }
        let device = try await Device(text(armed: false))
        device.server.seed("todos", [["id": "1", "title": "milk"], ["id": "2", "title": "tea"]])
        try await device.pull()
        try await device.plugins.reload([try text(armed: true).plan])

        // A change, a conflict, a change that the server refuses, and a row of the server's that is not here yet.
        let accepted = (try? await device.todos.update(["id": "1", "title": "oat milk"])) != nil
        if accepted { _ = try? await device.todos.update(["id": "2", "title": "green tea"]) }
        device.server.seed("todos", [["id": "2", "title": "black tea"], ["id": "3", "title": "beer"]])
        if hook == "on_push_error" {
            device.server.onRequest { $0.head.method == .patch ? .answer(.json(400, #"{"error":"no"}"#)) : .none }
        }
        let before = try await device.context.queue.operations()
        #expect(before.count == (accepted ? 2 : 0) && accepted == (hook != "before_enqueue"))
        let bodies = try await bodies(before, device)

        _ = try? await device.context.push()
        let isPulled = (try? await device.pull()) != nil

        // What has not reached the server waits, as it was made.
        let waiting = try await device.context.queue.operations()
        for (operation, body) in zip(before, bodies) {
            if let now = waiting.first(where: { $0.id == operation.id }) {
                #expect(now.kind == operation.kind && now.recordID == operation.recordID)
                #expect(try await device.context.queue.body(of: now)?["title"] == body?["title"])
            } else {
                #expect(device.server.rows("todos")[operation.recordID]?["title"] == body?["title"])
            }
        }
        if accepted {
            #expect(try await device.todos.lookup(id: "1")?["title"] == "oat milk")
            #expect(try await device.todos.lookup(id: "2")?["title"] == "green tea")
        }
        if ["after_pull", "after_pull_page", "request", "filter"].contains(hook) {
            #expect(!isPulled)
            #expect(try await device.todos.lookup(id: "3") == nil)
        }

        // Without the fault everything goes on from where it was.
        device.server.onRequest(nil)
        try await device.plugins.reload([try text(armed: false).plan])
        if !accepted { try await device.todos.update(["id": "1", "title": "oat milk"]) }
        _ = try await device.context.queue.retryAll()
        _ = try await device.context.push()
        try await device.pull()
        #expect(device.server.rows("todos")["1"]?["title"] == "oat milk")
        #expect(try await device.todos.lookup(id: "3")?["title"] == "beer")
    }

    func bodies(_ operations: [TableOperation], _ device: Device) async throws -> [JSON?] {
        var bodies: [JSON?] = []
        for operation in operations { bodies.append(try await device.context.queue.body(of: operation)) }
        return bodies
    }

    @Test("a conflict that is answered without end is held")
    func endlessConflict() async throws {
        let device = try await Device(
            PluginText(["on_conflict"], "return { on_conflict = function(c) return decide.client() end }"))
        device.server.seed("todos", [["id": "1", "title": "milk"]])
        try await device.pull()
        try await device.todos.update(["id": "1", "title": "oat milk"])
        // Somebody else is always quicker.
        let server = device.server
        server.onRequest { request in
            if request.head.method == .patch {
                server.seed("todos", [["id": "1", "title": JSON("x\(server.requests.count)")]])
            }
            return .none
        }
        _ = try await device.context.push()
        let waiting = try await device.context.queue.operations()
        #expect(waiting.count == 1 && server.requests.count < 40)
        #expect(try await device.todos.lookup(id: "1")?["title"] == "oat milk")
    }

    @Test("a failure of a plugin is the reason that the queue shows")
    func reason() async throws {
        let device = try await Device(
            PluginText(["on_conflict"], "return { on_conflict = function(c)\nerror('no idea')\nend }"))
        device.server.seed("todos", [["id": "1", "title": "milk"]])
        try await device.pull()
        try await device.todos.update(["id": "1", "title": "oat milk"])
        device.server.seed("todos", [["id": "1", "title": "goat milk"]])
        _ = try await device.context.push()
        let failure = try await device.context.queue.operations().first?.failure
        #expect(failure?.message.contains("probe, on_conflict, main.lua:2: no idea") == true)
    }

    @Test("a conflict is merged by a script, stored and sent")
    func merged() async throws {
        let device = try await Device(
            PluginText(
                ["on_conflict"], "return { on_conflict = function(c) return c:merge { default = 'client' } end }"))
        device.server.seed("todos", [["id": "1", "title": "milk", "count": 1]])
        try await device.pull()
        try await device.todos.update(["id": "1", "title": "oat milk"])
        device.server.seed("todos", [["id": "1", "title": "goat milk", "count": 2]])
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().isEmpty)
        #expect(device.server.rows("todos")["1"]?["title"] == "oat milk")
        #expect(device.server.rows("todos")["1"]?["count"] == 2)
        #expect(try await device.todos.lookup(id: "1")?["count"] == 2)
    }

    @Test("two plugins that undo each other's changes come to an end, and the change waits")
    func undoing() async throws {
        func text(_ name: String, _ from: String, _ to: String) throws -> PluginPlan {
            var text = PluginText(
                ["before_push"],
                """
                return { before_push = function(op)
                  if op.record.title == "\(from)" then
                    op.record.title = "\(to)"
                    return decide.change_action(op.kind, op.record)
                  end
                end }
                """)
            text.name = name
            return try text.plan
        }
        let device = try await Device(PluginText(["before_push"], "return { before_push = function() end }"))
        device.server.seed("todos", [["id": "1", "title": "milk"]])
        try await device.pull()
        try await device.plugins.reload([try text("one", "a", "b"), try text("two", "b", "a")])
        try await device.todos.update(["id": "1", "title": "a"])
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().count == 1)
        #expect(device.server.rows("todos")["1"]?["title"] == "milk")
    }
}
