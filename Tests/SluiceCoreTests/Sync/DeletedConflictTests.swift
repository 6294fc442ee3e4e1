import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A record that was deleted after its insert met one of the server's does not come back unasked")
struct DeletedConflictTests {
    /// A device whose insert of `a` was refused with a record of the server's, in numbers made texts perhaps its own, and
    /// which has deleted it since.
    private func device(_ kind: StoreKind) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": "1"]])
        try await device.todos.insert(["id": "a", "n": 1])
        let held = try #require(try await device.context.push().failures.first)
        #expect(held.state == .parked && held.failure?.serverRecord?["n"] == "1")
        try await device.todos.delete(id: "a")
        return device
    }

    @Test("the delete is queued, and its conflict is shown", arguments: StoreKind.allCases)
    func shown(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        #expect(try await device.local("a") == nil)
        #expect(try await device.context.queue.operations().map(\.kind) == [.delete])
        let failure = try #require(try await device.context.push().failures.first)
        #expect(failure.kind == .delete && failure.state == .parked && failure.failure?.serverRecord?["n"] == "1")
        #expect(try await device.local("a") == nil && device.remote("a") != nil)
    }

    @Test("whoever decides has it deleted there, or brought here", arguments: StoreKind.allCases, [true, false])
    func decided(_ kind: StoreKind, _ isDeleted: Bool) async throws {
        let device = try await device(kind)
        let failure = try #require(try await device.context.push().failures.first)
        try await device.context.queue.resolve(failure.id, isDeleted ? .client : .server)
        #expect(try await device.context.push().isClean)
        #expect((device.remote("a") == nil) == isDeleted)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.states() == 0)
    }

    @Test("so it is where a pull has brought a row of a refused insert", arguments: StoreKind.allCases)
    func pulled(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .answer(.model(403, nil)) : .none }
        #expect(try await device.context.push().failures.map(\.state) == [.parked])
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        #expect(try await device.local("a") == nil)
        // It has all that was sent: the insert has brought it.
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a") == nil && device.remote("a") == nil)
    }

    @Test("an insert that was refused, and whose id the server is not known to have, is taken back")
    func takenBack() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .answer(.model(403, nil)) : .none }
        _ = try await device.context.push()
        try await device.todos.delete(id: "a")
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
    }
}
