import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Proof of an older revision: ours where no later one can have been there")
struct OlderRevisionTests {
    /// A device whose first edit of `a` has been sent, and whose answer was lost.
    private func device(_ kind: StoreKind, _ first: ModelServer.Fault) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? first : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        return device
    }

    @Test("a lost answer and an edit: the edit follows, without a conflict", arguments: StoreKind.allCases)
    func lostThenEdited(_ kind: StoreKind) async throws {
        let device = try await device(kind, .loseAnswer)
        try await device.todos.update(["id": "a", "n": 3])
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 3)
    }

    @Test("where a later revision may have been there, an older one's values conflict", arguments: StoreKind.allCases)
    func setBack(_ kind: StoreKind) async throws {
        // The first send never arrives, the second does; and another sets the record back to what the first one says.
        let device = try await device(kind, .loseRequest)
        try await device.todos.update(["id": "a", "n": 3])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(device.remote("a")?["n"] == 3)
        device.server.seed("todos", [["id": "a", "n": 2]])
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && result.remaining == 1, "\(result)")
        #expect(device.remote("a")?["n"] == 2, "what another has written stands")
        #expect(try await device.context.queue.operations().first?.isUncertain == true)
    }

    @Test("the same for an insert", arguments: StoreKind.allCases)
    func insertSetBack(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        try await device.todos.update(["id": "a", "n": 3])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "a", "n": 2]])
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && device.remote("a")?["n"] == 2, "\(result)")
    }

    @Test("a revision that the server refused for certain was never there", arguments: StoreKind.allCases)
    func refusedBetween(_ kind: StoreKind) async throws {
        let device = try await device(kind, .loseAnswer)
        try await device.todos.update(["id": "a", "n": 30])
        device.server.onRequest { $0.isWrite ? .answer(.model(400, ["error": "too large"])) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "n": 3])
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 3)
    }

    @Test("what may have been done is remembered by the store")
    func stored() throws {
        var operation = TableOperation(
            id: "o", sequence: 1, table: "t", recordID: "a", kind: .update, createdAt: Timestamp(ticks: 0))
        operation.sent = [SentBody(revision: 1, request: ["id": "a"], final: ["id": "a"], local: nil)]
        operation.doubt()
        #expect(try TableOperation(record: operation.record).sent.map(\.mayBeDone) == [true])
    }
}
