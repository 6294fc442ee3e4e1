import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("The tombstone of an insert that was sent and deleted")
struct UnansweredSendTests {
    /// A device whose insert of `a` was lost on its way, as far as it can tell, and whose record was deleted since.
    private func device(
        _ kind: StoreKind, discards: Bool = false, hooks: [any SyncHook] = []
    ) async throws -> Device {
        let device = try await Device(kind, hooks: hooks)
        try await device.todos.insert(["id": "a", "text": "mine"])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        if discards {
            let operation = try #require(try await device.context.queue.operations().first)
            try await device.context.queue.discard(operation.id)
        } else {
            try await device.todos.delete(id: "a")
            #expect(try await device.context.push().isClean)
        }
        #expect(try await device.queue() == [] && device.remote("a") == nil)
        return device
    }

    private func tombstones(_ device: Device) async throws -> Int {
        try await device.store.read { try $0.count(matching: TableQuery(UnansweredSend.schema.name)) }
    }

    @Test(
        "if the row appears after all, its delete is queued again", arguments: StoreKind.allCases, [false, true])
    func lateInsert(_ kind: StoreKind, _ discards: Bool) async throws {
        let device = try await device(kind, discards: discards)
        #expect(try await tombstones(device) == 1)
        // The request comes late: a proxy had it.
        device.server.seed("todos", [["id": "a", "text": "mine", "addedByServer": 1]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == nil, "what was deleted does not come back")
        #expect(try await device.queue() == ["delete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
        #expect(try await tombstones(device) == 0)
        #expect(try await device.states() == 0)
    }

    @Test("another's restore of a row that came deleted is nobody's to delete", arguments: [true, false])
    func restoredByAnother(discards: Bool) async throws {
        let device = try await device(.memory, discards: discards)
        device.server.seed("todos", [["id": "a", "text": "mine"]])
        device.server.softDelete("todos", "a")
        try await device.todos.pull(named: "all")
        #expect(try await tombstones(device) == 0)
        device.server.seed("todos", [["id": "a", "text": "mine"]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == ["id": "a", "text": "mine"])
        #expect(try await device.queue() == [])
    }

    @Test("a late insert that a hook drops is deleted all the same", arguments: StoreKind.allCases)
    func dropped(_ kind: StoreKind) async throws {
        let hook = TestHook(pull: { page in page.rows.map { _ in .drop(reason: "no") } })
        let device = try await device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a", "text": "mine"], ["id": "b", "text": "theirs"]])
        let result = try await device.todos.pull(named: "all")
        #expect(result.dropped == 1)
        #expect(try await device.queue() == ["delete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil && device.remote("b") != nil)
        #expect(try await tombstones(device) == 0)
    }

    @Test("a row of that id that is not what was sent is another's, and stays", arguments: StoreKind.allCases)
    func another(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        try await device.todos.pull()
        #expect(try await device.local("a") == ["id": "a", "text": "theirs"])
        #expect(try await device.queue() == [])
        #expect(try await tombstones(device) == 0)
    }

    @Test("what was sent without a property is no proof, and another's row stays", arguments: [false, true])
    func nothingSaid(isInsert: Bool) async throws {
        let device = try await Device(.memory)
        let todos = device.todos
        if isInsert { try await todos.insert(["id": "a"]) } else { try await todos.undelete(id: "a") }
        device.server.onRequest { $0.isWrite ? .answer(.model(500, nil)) : .none }
        _ = try await device.context.push()
        let waiting = try #require(try await device.context.queue.operations().first)
        #expect(waiting.isUncertain && waiting.sent.count == 1)
        if !isInsert { try await todos.delete(id: "a") }
        for operation in try await device.context.queue.operations() {
            try await device.context.queue.discard(operation.id)
        }
        #expect(try await device.queue() == [])
        #expect(try await tombstones(device) == 0)
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        try await device.todos.pull()
        #expect(try await device.local("a") == ["id": "a", "text": "theirs"])
        #expect(try await device.queue() == [])
    }

    @Test("one that is made here again is not deleted", arguments: StoreKind.allCases)
    func madeAgain(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "a", "text": "mine"])
        #expect(try await device.context.push().isClean)
        try await device.todos.pull()
        #expect(try await device.local("a") == ["id": "a", "text": "mine"])
        #expect(device.remote("a") != nil)
    }

    @Test("an insert that never reached a connection leaves none", arguments: StoreKind.allCases)
    func neverSent(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "mine"])
        device.server.onRequest { _ in .answer(.model(400, nil)) }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "a")
        #expect(try await device.context.push().isClean)
        #expect(try await tombstones(device) == 0)
    }

    @Test("a record that the server had leaves none", arguments: StoreKind.allCases)
    func knownRecord(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "a")
        device.server.hardDelete("todos", "a")
        #expect(try await device.context.push().isClean)
        #expect(try await tombstones(device) == 0)
    }

    @Test("of two that were sent and deleted, one after the other, either may come late", arguments: [1, 2])
    func twice(_ late: Int) async throws {
        let device = try await Device(.memory)
        for n in [1, 2] {
            try await device.todos.insert(["id": "a", "n": JSON(n)])
            device.server.onRequest { $0.isWrite ? .loseRequest : .none }
            _ = try await device.context.push()
            device.server.onRequest(nil)
            try await device.todos.delete(id: "a")
            #expect(try await device.context.push().isClean)
        }
        #expect(try await tombstones(device) == 1)
        device.server.seed("todos", [["id": "a", "n": JSON(late)]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == nil)
        #expect(try await device.queue() == ["delete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
        #expect(try await tombstones(device) == 0)
    }
}
