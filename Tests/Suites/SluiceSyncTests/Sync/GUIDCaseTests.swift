import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

/// Servers whose ids are GUIDs of their database: they find them in letters of any case, and write them in one.
@Suite("GUIDs that come back in another case")
struct GUIDCaseTests {
    private static let id = "A1b2C3d4-0000-4000-8000-00000000ABcd"

    /// A server of one table that writes ids as it likes them, and may lose the answer to the first creation.
    private final class Server: Transport {
        private struct State {
            var rows: [String: JSON] = [:]
            var version = 0
            var lists = 0
            var losesAnswer: Bool
        }
        private let state: Mutex<State>
        private let spelled: @Sendable (String) -> String

        init(losesAnswer: Bool, _ spelled: @escaping @Sendable (String) -> String) {
            state = Mutex(State(losesAnswer: losesAnswer))
            self.spelled = spelled
        }

        var rows: [String: JSON] { state.withLock { $0.rows } }

        /// Writes all ids as it spells them by now.
        func respell() {
            state.withLock { state in
                let rows = state.rows.values.map { row in
                    row.setting(["id": JSON(spelled(row["id"]?.string ?? ""))])
                }
                state.rows = Dictionary(rows.map { ($0["id"]?.string ?? "", $0) }) { first, _ in first }
            }
        }

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            let body = request.body.isEmpty ? JSON.object : try request.body.json
            let last = (request.head.path ?? "").prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
            let answer = state.withLock { state -> SyncResponse? in
                let id = spelled(body["id"]?.string ?? last)
                switch request.head.method {
                case .get where last != "items":
                    return state.rows[id].map { .json(200, $0.description) } ?? .json(404, "{}")
                case .get:
                    // A pull asks until a page is empty.
                    let isPull = request.context.source == .pull
                    state.lists += isPull ? 1 : 0
                    let isOver = isPull && state.lists.isMultiple(of: 2)
                    return .json(200, JSON(isOver ? [] : Array(state.rows.values)).description)
                case .delete:
                    return state.rows.removeValue(forKey: id) == nil ? .json(404, "{}") : .json(204, "")
                case .post where state.rows[id] != nil:
                    return .json(409, state.rows[id]?.description ?? "")
                default:
                    state.version += 1
                    var row = (state.rows[id] ?? .object).setting(body)
                    row["id"] = JSON(id)
                    row["version"] = JSON("v\(state.version)")
                    row["updatedAt"] = "2024-01-01T00:00:00.000Z"
                    state.rows[id] = row
                    defer { state.losesAnswer = false }
                    return state.losesAnswer ? nil : .json(request.head.method == .post ? 201 : 200, row.description)
                }
            }
            guard let answer else { throw SluiceError(.network, "the answer was lost") }
            return answer
        }
    }

    @Test(
        "a record made with capitals is there once, under the server's spelling, and can be changed and deleted",
        arguments: [false, true], [false, true])
    func madeHere(isUpper: Bool, losesAnswer: Bool) async throws {
        let spelled: @Sendable (String) -> String = { isUpper ? $0.uppercased() : $0.lowercased() }
        let server = Server(losesAnswer: losesAnswer, spelled)
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: ClientOptions(retry: .never))
        let context = try await SyncContext(client: client, store: MemoryStore(), tables: [])
        let items = try context.table("items")
        try await items.insert(["id": JSON(Self.id), "t": "1"])
        if losesAnswer { _ = try? await context.push() }
        #expect(try await context.push().isClean)
        try await items.pull()
        #expect(try await items.records().map { $0["id"] } == [JSON(spelled(Self.id))])
        // The application may go on with the id that it gave.
        let capitals = Self.id.uppercased()
        #expect(try await items.lookup(id: capitals)?["t"] == "1")
        try await items.update(["id": JSON(capitals), "t": "2"])
        #expect(try await context.push().isClean)
        #expect(server.rows[spelled(Self.id)]?["t"] == "2")
        try await items.delete(id: Self.id.lowercased())
        #expect(try await context.push().isClean)
        #expect(server.rows.isEmpty)
    }

    @Test("a list that spells a settled record otherwise moves it, and makes no second one")
    func settled() async throws {
        let isUpper = Mutex(false)
        let server = Server(losesAnswer: false) { id in
            isUpper.withLock { $0 } ? id.uppercased() : id.lowercased()
        }
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: ClientOptions(retry: .never))
        let context = try await SyncContext(client: client, store: MemoryStore(), tables: [])
        let items = try context.table("items")
        try await items.insert(["id": JSON(Self.id.lowercased()), "t": "1"])
        #expect(try await context.push().isClean)
        isUpper.withLock { $0 = true }
        server.respell()
        try await items.pull(named: "all")
        #expect(try await items.records().map { $0["id"] } == [JSON(Self.id.uppercased())])
        isUpper.withLock { $0 = false }
        server.respell()
        try await items.pull(named: "all")
        #expect(try await items.records().map { $0["id"] } == [JSON(Self.id.lowercased())])
    }

    @Test("every query that holds a record holds it under its new spelling")
    func members() async throws {
        let isUpper = Mutex(false)
        let server = Server(losesAnswer: false) { id in
            isUpper.withLock { $0 } ? id.uppercased() : id.lowercased()
        }
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: ClientOptions(retry: .never))
        let store = MemoryStore()
        let context = try await SyncContext(client: client, store: store, tables: [])
        let items = try context.table("items")
        try await items.insert(["id": JSON(Self.id.lowercased()), "t": "1"])
        #expect(try await context.push().isClean)
        let part = TableQuery("items", filter: .binary(.eq, .column("t"), .literal(.string("1"))))
        for name in ["one", "two"] { try await context.pull(part, named: name) }
        isUpper.withLock { $0 = true }
        server.respell()
        try await context.pull(part, named: "one")
        let members = try await store.read { try $0.records(matching: TableQuery("sluice_members")) }
        let names = members.compactMap { $0["id"]?.string?.split(separator: "/").last.map(String.init) }
        #expect(names == [Self.id.uppercased(), Self.id.uppercased()])
    }

    @Test("ids are the same by their bytes, and GUIDs in any case")
    func same() {
        #expect(RecordID(Self.id).isSame(as: RecordID(Self.id.lowercased())))
        #expect(!RecordID("Abc").isSame(as: "abc"))
        #expect(!RecordID("é").isSame(as: RecordID("e\u{301}")))
        #expect(!RecordID(Self.id).isSame(as: RecordID(String(Self.id.dropLast()) + "e")))
    }
}
