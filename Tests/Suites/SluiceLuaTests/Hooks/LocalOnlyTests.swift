import SluiceCore
import SluiceLua
import SluiceTesting
import Testing

@Suite("A plugin that keeps a change here")
struct LocalOnlyTests {
    /// A context with plugins that are asked in this order, each with the body of its `before_enqueue`.
    func context(_ bodies: [String]) async throws -> SyncContext {
        let plans = try bodies.enumerated().map { index, body in
            var text = PluginText(
                ["before_enqueue"], "return { before_enqueue = function(op, ctx)\n\(body)\nend }")
            text.name = "p\(index)"
            return try text.plan
        }
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: ModelServer())
        let options = try await Plugins(plans).added(to: SyncOptions())
        return try await SyncContext(client: client, store: MemoryStore(), options: options)
    }

    @Test(
        "what plugins changed before it is stored, and nothing is queued",
        arguments: [
            ["op:set('title', 'B')", "return decide.local_only()"],
            ["op:set('title', 'B') return decide.local_only()"],
            ["op:set('title', 'x')", "op:set('title', 'B')", "", "return decide.local_only()"],
            ["op:set('title', 'x')", "op:set('title', 'B') return decide.local_only()", "error('not asked')"],
        ])
    func changedAndLocal(bodies: [String]) async throws {
        let context = try await context(bodies)
        let todos = try context.table("todos")
        try await todos.insert(["id": "1", "title": "a", "n": 1])
        #expect(try await todos.lookup(id: "1")?["title"] == "B")
        #expect(try await todos.lookup(id: "1")?["n"] == 1)
        #expect(try await context.queue.operations().isEmpty)
    }

    @Test("of two writes of the same at once only the one that a plugin keeps here stays here")
    func apart() async throws {
        let context = try await context([
            "op:set('title', 'B')", "if op.tags[1] == 'mine' then return decide.local_only() end",
        ])
        let todos = try context.table("todos")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let tags: Set<String> = number % 2 == 0 ? ["mine"] : []
                    try await todos.insert(
                        ["id": JSON("\(number)"), "title": "a"], options: OperationOptions(tags: tags))
                }
            }
            try await group.waitForAll()
        }
        let queued = try await context.queue.operations().map(\.recordID)
        #expect(Set(queued) == Set((0..<40).filter { $0 % 2 == 1 }.map { "\($0)" }))
    }
}
