import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// A service that assigns keys knows a lost insert by its request alone.
@Suite("A lost insert of a wire whose records have keys of their own")
struct UncertainInsertTests {
    private func lost(_ kind: StoreKind) async throws -> Device {
        var dialect = Dialect.azureV2
        dialect.namesKeys = true
        let device = try await Device(kind, dialect: dialect)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try? await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.context.queue.operations().first?.isUncertain == true)
        return device
    }

    @Test("is repeated as it was, and the edit follows", arguments: StoreKind.allCases)
    func edit(_ kind: StoreKind) async throws {
        let device = try await lost(kind)
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "a", "n": 3])
        #expect(try await device.queue() == ["insert a pending", "update a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3)
        #expect(try await device.local("a")?["n"] == 3)
        let inserts = device.server.requests.filter { $0.head.method == .post }.map(\.body.bytes)
        #expect(inserts.count == 2 && Set(inserts).count == 1)
    }

    @Test("is repeated before it is deleted", arguments: StoreKind.allCases)
    func delete(_ kind: StoreKind) async throws {
        let device = try await lost(kind)
        try await device.todos.delete(id: "a")
        #expect(try await device.queue() == ["insert a pending", "delete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
        #expect(try await device.local("a") == nil)
    }

    @Test("is not edited in the queue", arguments: StoreKind.allCases)
    func queue(_ kind: StoreKind) async throws {
        let device = try await lost(kind)
        let insert = try #require(try await device.context.queue.operations().first)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.edit(insert.id, to: ["id": "a", "n": 2])
        }
        #expect(error?.message.contains("push") == true)
    }
}
