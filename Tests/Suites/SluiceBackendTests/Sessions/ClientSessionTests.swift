import HTTPTypes
import Sluice
import SluiceCore
import Testing

@testable import SluiceBackend

/// Two devices and one server, over real sockets, on each wire.
@Suite("A client's session") struct ClientSessionTests {
    /// One device: a store in memory and a context over it.
    private func device(_ dialect: Dialect, _ endpoint: Endpoint) async throws -> SyncContext {
        let client = SluiceClient(endpoint: endpoint, dialect: dialect, transport: AsyncHTTPTransport())
        return try await SyncContext(client: client, store: MemoryStore())
    }

    private func pushed(_ context: SyncContext) async throws {
        let result = try await context.push()
        #expect(result.end == .completed && result.failures.isEmpty, "\(result)")
    }

    @Test(
        "Inserts, updates, deletes and undeletes of one device reach the other", .timeLimit(.minutes(2)),
        arguments: Dialect.all.map(\.name))
    func session(_ name: String) async throws {
        let dialect = try #require(Dialect.all.first { $0.name == name })
        let fixture = try await BackendFixture(.init("notes", pageSize: 2))
        try await fixture.listening { endpoint in
            let (a, b) = (try await device(dialect, endpoint), try await device(dialect, endpoint))
            let (notesA, notesB) = (try a.table("notes"), try b.table("notes"))
            for (index, text) in ["eggs", "it's 50% #1 + more", "größe 日本"].enumerated() {
                _ = try await notesA.insert(["id": JSON("n\(index)"), "text": JSON(text), "stars": 1])
            }
            try await pushed(a)
            try await notesB.pull(named: "all")
            #expect(try await notesB.records().map { $0["text"] } == ["eggs", "it's 50% #1 + more", "größe 日本"])

            _ = try await notesB.update(["id": "n0", "stars": 2])
            try await notesB.delete(id: "n1")
            try await pushed(b)
            try await notesA.pull(named: "all")
            #expect(try await notesA.lookup(id: "n0")?["stars"] == 2)
            #expect(try await notesA.lookup(id: "n0")?["text"] == "eggs")
            #expect(try await notesA.lookup(id: "n1") == nil)

            // The other one is not pulled: the server refuses the stale change, and nothing is lost.
            _ = try await notesA.update(["id": "n2", "stars": 5])
            try await pushed(a)
            _ = try await notesB.update(["id": "n2", "text": "mine"])
            let refused = try await b.push()
            let failure = try #require(refused.failures.first)
            #expect(failure.failure?.serverRecord?["stars"] == 5, "\(refused)")
            #expect(try await notesB.lookup(id: "n2")?["text"] == "mine")
            try await b.queue.discard(try #require(await b.queue.operations().first).id)
            #expect(try await notesB.lookup(id: "n2")?["stars"] == 5)
        }
    }

    @Test(
        "A deleted record comes back on both devices", .timeLimit(.minutes(2)),
        arguments: Dialect.all.map(\.name))
    func undelete(_ name: String) async throws {
        let dialect = try #require(Dialect.all.first { $0.name == name })
        let fixture = try await BackendFixture.empty()
        try await fixture.listening { endpoint in
            let (a, b) = (try await device(dialect, endpoint), try await device(dialect, endpoint))
            let (tableA, tableB) = (try a.table("t"), try b.table("t"))
            _ = try await tableA.insert(["id": "x", "text": "keep", "stars": 3])
            try await pushed(a)
            try await tableB.pull(named: "all")
            try await tableA.delete(id: "x")
            try await pushed(a)
            try await tableB.pull(named: "all")
            #expect(try await tableB.lookup(id: "x") == nil)
            try await tableA.undelete(id: "x")
            try await pushed(a)
            try await tableB.pull(named: "all")
            #expect(try await tableB.lookup(id: "x")?["text"] == "keep")
            #expect(try await tableB.lookup(id: "x")?["stars"] == 3)
        }
    }
}
