import Foundation
import SluiceCore
import SluicePredicate
import Testing

@testable import SluiceTesting

@Suite("Calls of every day: several records, upsert, ids as they come, results and errors as text")
struct EverydayCallsTests {
    private struct Task: SyncRecord, Equatable {
        static let tableName = "tasks"
        var id: UUID?
        var text: String
    }

    private func context(_ server: ModelServer = ModelServer()) async throws -> SyncContext {
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: ClientOptions(retry: .never))
        return try await SyncContext(client: client, store: MemoryStore())
    }

    @Test("several records are added in one transaction, or none of them")
    func several() async throws {
        let tasks = try await context().table(Task.self)
        let made = try await tasks.insert([Task(text: "a"), Task(text: "b")])
        #expect(made.map(\.text) == ["a", "b"] && made.allSatisfy { $0.id != nil })
        let error = await #expect(throws: SluiceError.self) {
            try await tasks.insert([Task(text: "c"), made[0]])
        }
        #expect(error?.code == .recordExists)
        #expect(try await tasks.count() == 2)
    }

    @Test("upsert adds a record and writes over the stored one")
    func upsert() async throws {
        let context = try await context()
        let tasks = try context.table(Task.self)
        let id = UUID()
        try await tasks.upsert(Task(id: id, text: "a"))
        try await tasks.upsert(Task(id: id, text: "b"))
        try await tasks.upsert(Task(text: "c"))
        #expect(try await tasks.lookup(id: id)?.text == "b")
        #expect(try await tasks.count() == 2)
        #expect(try await context.queue.operations().map(\.kind) == [.insert, .insert])
    }

    @Test("a UUID is an id, and so is an optional one; a nil one is no record's")
    func ids() async throws {
        let tasks = try await context().table(Task.self)
        let made = try await tasks.insert(Task(text: "a"))
        try await tasks.update(id: made.id, set: \.text, to: "b")
        #expect(try await tasks.lookup(id: try #require(made.id))?.text == "b")
        let nothing: UUID? = nil
        let error = await #expect(throws: SluiceError.self) {
            try await tasks.update(id: nothing, set: \.text, to: "c")
        }
        #expect(error?.code == .recordMissing || error?.code == .invalidRecord)
        await #expect(throws: SluiceError.self) { try await tasks.undelete(id: nothing) }
        await #expect(throws: SluiceError.self) { try await tasks.delete(id: nothing) }
        try await tasks.delete(id: made.id)
        #expect(try await tasks.count() == 0)
    }

    @Test("a result prints its counts and the first reasons, and no content")
    func results() async throws {
        let server = ModelServer()
        let context = try await context(server)
        let tasks = try context.table(Task.self)
        for index in 0..<5 { try await tasks.insert(Task(text: "secret \(index)")) }
        server.onRequest { $0.context.action == .insert ? .answer(.model(403, ["error": "not yours"])) : .none }
        let text = "\(try await context.push())"
        #expect(text.hasPrefix("push: 0 changes sent, 5 left in the queue\n  insert of tasks/"), "\(text)")
        #expect(text.hasSuffix("\n  2 more failed") && text.split(separator: "\n").count == 5, "\(text)")
        #expect(!text.contains("secret"), "\(text)")
        server.onRequest(nil)
        #expect("\(try await tasks.pull())" == "pull: nothing new")
    }

    @Test("an error's localized description is its own")
    func localized() {
        let error: any Error = SluiceError(.invalidArgument, "the page size is 0")
        #expect(error.localizedDescription == "\(error)")
    }
}
