import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("A record that nests deep")
struct DeepRecordTests {
    private let server = ModelServer()
    private let store = MemoryStore()

    private func context() async throws -> SyncContext {
        var options = ClientOptions()
        options.retry = .never
        return try await SyncContext(
            client: SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server, options: options),
            store: store, tables: [TableSchema("todos")], options: SyncOptions(commitLag: .zero))
    }

    /// A record of so many levels.
    private func record(_ id: String, depth: Int) -> JSON {
        var value: JSON = 1
        for _ in 1..<depth { value = [value] }
        return ["id": JSON(id), "deep": value]
    }

    @Test("is changed, sent and discarded, or refused when it is changed", arguments: 58...65)
    func depth(depth: Int) async throws {
        let context = try await context()
        let todos = try context.table("todos")
        do {
            for id in ["sent", "discarded"] { try await todos.insert(record(id, depth: depth)) }
            #expect(depth <= RecordRules.maximumDepth)
        } catch let error as SluiceError {
            #expect(depth > RecordRules.maximumDepth && error.code == .invalidRecord)
            #expect(try await context.queue.operations().isEmpty)
            return
        }
        let waiting = try await context.queue.operations()
        let other = try #require(waiting.first { $0.recordID == "discarded" })
        try await context.queue.discard(other.id)
        let push = try await context.push()
        #expect(push.end == .completed, "\(push)")
        #expect(server.rows("todos").keys.sorted() == ["sent"])
        try await todos.update(["id": "sent", "n": 1])
        #expect(try await context.push().end == .completed)
        #expect(server.rows("todos")["sent"]?["n"] == 1)
    }

    @Test("that was pulled is there, and is deleted, but not changed", arguments: 61...62)
    func pulled(depth: Int) async throws {
        server.seed("todos", [record("1", depth: depth)])
        let context = try await context()
        let todos = try context.table("todos")
        try await todos.pull(named: "all")
        #expect(try await todos.records().count == 1)
        let error = await #expect(throws: SluiceError.self) { try await todos.update(["id": "1", "n": 1]) }
        #expect(error?.code == .invalidRecord && error?.recordID == "1")
        #expect(try await context.queue.operations().isEmpty)
        try await todos.delete(id: "1")
        let operation = try #require(try await context.queue.operations().first)
        try await context.queue.discard(operation.id)
        #expect(try await todos.records().count == 1)
        try await todos.delete(id: "1")
        #expect(try await context.push().end == .completed)
        #expect(server.rows("todos")["1"]?["deleted"] == true)
    }
}
