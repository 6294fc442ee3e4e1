import Foundation
import Sluice
import SluiceBackend
import Testing

private struct Todo: SyncRecord {
    static let tableName = "todos"
    var id: String?
    var text: String
    var done = false
}

@Suite("The README's ten lines")
struct ReadmeTests {
    @Test("they sync a table with a real server and a real file", .timeLimit(.minutes(1)))
    func tenLines() async throws {
        let backend = try await Backend(BackendConfiguration(tables: [.init("todos")]))
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let server = Task { try await backend.serve { continuation.yield($0) } }
        defer { server.cancel() }
        let port = try #require(await ports.first { _ in true })
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("readme-\(UUID().uuidString).db").path
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        let client = SluiceClient(endpoint: try Endpoint("http://127.0.0.1:\(port)"), transport: AsyncHTTPTransport())
        let store = try SQLiteStore(path: path)
        let context = try await SyncContext(client: client, store: store)
        let todos = try context.table(Todo.self)

        let milk = try await todos.insert(Todo(text: "buy milk"))
        try await todos.update(id: milk.id, set: \.done, to: true)
        let result = try await context.push()
        try await todos.pull(named: "all")
        let open = try await todos.records(where: #Predicate { !$0.done })

        #expect(result.isClean && result.applied == 1)
        #expect(open.isEmpty)
        let done = try await todos.records(where: #Predicate { $0.done })
        #expect(done.map(\.text) == ["buy milk"] && done.map(\.id) == [milk.id])
        let stored = try await context.table("todos").records()
        #expect(stored.first?["version"]?.string != nil, "the server's version has come back")
        try await store.close()
    }
}
