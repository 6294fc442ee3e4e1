import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("SyncTable: local reads and writes")
struct SyncTableTests {
    @Test("an insert without an id gets one, and row and operation are there", arguments: StoreKind.allCases)
    func insert(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let record = try await device.todos.insert(["text": "milk"])
        let id = try #require(record["id"]?.string)
        #expect(id.count == 36)
        #expect(try await device.local(id) == ["id": JSON(id), "text": "milk"])
        #expect(try await device.queue() == ["insert \(id) pending"])
        #expect(device.server.requests.isEmpty)
    }

    @Test("what only the server sets is not taken from the application", arguments: StoreKind.allCases)
    func systemColumns(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1", "version": "mine", "deleted": true, "text": "milk"])
        #expect(try await device.todos.lookup(id: "1") == ["id": "1", "text": "milk"])
    }

    @Test("a refused change leaves row and queue as they were", arguments: StoreKind.allCases)
    func refusals(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1", "text": "milk"])
        await #expect(throws: SluiceError.self) { try await device.todos.insert(["id": "1", "text": "other"]) }
        await #expect(throws: SluiceError.self) { try await device.todos.update(["id": "2", "text": "none"]) }
        await #expect(throws: SluiceError.self) { try await device.todos.delete(id: "2") }
        await #expect(throws: SluiceError.self) { try await device.todos.undelete(id: "1") }
        #expect(try await device.local("1")?["text"] == "milk")
        #expect(try await device.queue() == ["insert 1 pending"])
    }

    @Test(
        "an id that the servers of the family refuse is refused for a new record",
        arguments: [
            "", " ", ".", "..", "a/b", "a\"b", "a+b", "a?b", "a\\b", "a`b", "a\u{0}b", "a\u{7F}",
            String(repeating: "x", count: 256),
        ])
    func badIDs(_ id: String) async throws {
        let device = try await Device(.memory)
        let error = await #expect(throws: SluiceError.self) {
            try await device.todos.insert(["id": JSON(id), "text": "x"])
        }
        #expect(error?.code == .invalidRecord)
        #expect(try await device.queue().isEmpty)
    }

    @Test("an id of 255 characters of any script is good", arguments: StoreKind.allCases)
    func longIDs(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let id = String(repeating: "é", count: 254) + "'"
        try await device.todos.insert(["id": JSON(id), "text": "x"])
        #expect(try await device.local(id)?["text"] == "x")
    }

    @Test(
        "table names that are the engine's own or no names are refused",
        arguments: ["", "sluice_operations", "SLUICE_x", "sqlite_master", "a b", "1a", "a;drop", "é"])
    func badTables(_ name: String) async throws {
        let device = try await Device(.memory)
        let error = #expect(throws: SluiceError.self) { try device.context.table(name) }
        #expect(error?.code == .invalidTable)
    }

    @Test("an update changes what it names and keeps the rest, null being a value", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1", "text": "milk", "done": false])
        try await device.todos.update(["id": "1", "done": .null])
        #expect(try await device.local("1") == ["id": "1", "text": "milk", "done": .null])
        #expect(try await device.queue() == ["insert 1 pending"])
    }

    @Test("an insert that is deleted before a push leaves nothing", arguments: StoreKind.allCases)
    func insertDelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1", "text": "milk"])
        try await device.todos.delete(id: "1")
        #expect(try await device.local("1") == nil)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
    }

    @Test("a delete that was never sent is taken back by undelete, mirror and all", arguments: StoreKind.allCases)
    func deleteUndelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "1", "text": "milk"]])
        try await device.todos.pull()
        let before = try await device.todos.lookup(id: "1")
        try await device.todos.delete(id: "1")
        #expect(try await device.local("1") == nil)
        try await device.todos.undelete(id: "1")
        #expect(try await device.todos.lookup(id: "1") == before)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
    }

    @Test("a delete goes to the end of the queue, after the deletes of its children", arguments: StoreKind.allCases)
    func deleteGoesLast(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        try await device.todos.delete(id: "a")
        #expect(try await device.queue() == ["delete b pending", "delete a pending"])
    }

    @Test("a deleted record that is inserted again replaces the server's row as a whole", arguments: StoreKind.allCases)
    func deleteInsert(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "1", "text": "milk", "note": "old"]])
        try await device.todos.pull()
        try await device.todos.delete(id: "1")
        try await device.todos.insert(["id": "1", "text": "bread"])
        #expect(try await device.queue() == ["update 1 pending"])
        let result = try await device.context.push()
        #expect(result.isClean)
        #expect(device.remote("1") == ["id": "1", "text": "bread", "note": .null])
    }

    @Test("what the server keeps is the wire's matter, with a client and without one")
    func dialectWithoutClient() async throws {
        for (dialect, kept) in [(Dialect.datasync, true), (.azureV2, false)] {
            let context = try await SyncContext(store: MemoryStore(), options: SyncOptions(dialect: dialect))
            let record = try await context.table("todos").insert(["id": "1", "createdAt": "a day of mine"])
            #expect((record["createdAt"] != nil) == kept)
        }
    }
}
