import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Lists without versions")
struct UnversionedListTests {
    /// A device whose server's lists have no versions; all other answers have.
    private func device(_ kind: StoreKind, readsDocument: Bool) async throws -> Device {
        struct Stripped: Transport {
            let inner: ModelServer
            func send(_ request: SyncRequest) async throws -> SyncResponse {
                var response = try await inner.send(request)
                guard request.head.method == .get, let rows = try? response.body.json.elements else { return response }
                response.body = MessageBody(
                    json: JSON(
                        rows.map { row in
                            var row = row
                            row["version"] = nil
                            return row
                        }))
                return response
            }
        }
        struct Hook: SyncHook {
            let hookName = "seen"
            func wants(_ point: HookPoint, table: String) -> Bool { point == .afterPull }
            func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
                page.rows.map { _ in .set(["seen": true]) }
            }
        }
        let server = ModelServer()
        return try await Device(
            kind, server: server, transport: Stripped(inner: server),
            adjust: { if readsDocument { $0.hooks = [Hook()] } })
    }

    @Test(
        "take no known version away: an edit still goes out with its condition", arguments: StoreKind.allCases,
        [false, true])
    func kept(_ kind: StoreKind, _ hooked: Bool) async throws {
        let device = try await device(kind, readsDocument: hooked)
        try await device.todos.insert(["id": "a", "n": 1])
        #expect(try await device.context.push().isClean)
        let version = try #require(try await device.todos.lookup(id: "a")?["version"])
        device.server.seed("todos", [["id": "b", "n": 1]])
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.lookup(id: "a")?["version"] == version)
        #expect(try await device.todos.lookup(id: "b")?["version"] == nil)
        // Another changes it, and nobody here has seen the new version: nothing of that is overwritten.
        device.server.seed("todos", [["id": "a", "n": 7]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "m": 2])
        _ = try await device.context.push()
        let update = device.server.requests.last { $0.isWrite && $0.head.method != .post }
        #expect(update?.head.headerFields[.ifMatch] != nil)
    }

    @Test("nor does one that comes while a change waits")
    func mirror() async throws {
        let device = try await device(.memory, readsDocument: false)
        try await device.todos.insert(["id": "a", "n": 1])
        #expect(try await device.context.push().isClean)
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .answer(.model(400, ["error": "no"])) : .none }
        #expect(try await device.todos.pull(named: "all").conflicts == 0)
        let state = try await device.store.read { try QueueReader($0).state(of: "a", in: "todos") }
        #expect(state?.mirror?["version"] != nil && state?.mirror?["version"] == state?.base?["version"])
    }
}
