import Foundation
import Sluice
import SluiceBackend
import Testing

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
        let todos = try context.table("todos")

        try await todos.insert(["text": "buy milk", "done": false])
        let result = try await context.push()
        try await todos.pull(named: "all")
        let open = try await todos.records(
            matching: Query("todos", filter: try QueryExpression(odata: "done eq false")))

        #expect(result.isClean && result.applied == 1)
        #expect(open.map { $0["text"] } == ["buy milk"])
        #expect(open.first?["version"]?.string != nil, "the server's version has come back")
        try await store.close()
    }
}
