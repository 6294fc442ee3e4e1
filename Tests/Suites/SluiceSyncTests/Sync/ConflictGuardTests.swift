import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Conflicts that come again")
struct ConflictGuardTests {
    /// A device with an edit of a record that another changes before each request of this one arrives.
    private func device(
        _ kind: StoreKind, _ decide: @escaping @Sendable (Conflict) async throws -> ConflictDecision
    ) async throws -> Device {
        let device = try await Device(kind, handlers: [ConflictClosure(decide)])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        let server = device.server
        let others = Shared<Int64>(100)
        server.onRequest { request in
            guard request.isWrite else { return .none }
            others.change { $0 += 1 }
            server.seed("todos", [["id": "a", "m": JSON(others.value)]])
            return .none
        }
        return device
    }

    @Test(
        "the same merge twice while the server's record moves is held as not converging", arguments: StoreKind.allCases)
    func sameMerge(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _ in .merge(["id": "a", "n": 7, "m": 0]) }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.conflicts == 2)
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.state == .parked && operation.failure?.message.contains("not converging") == true)
        #expect(try await device.local("a") == ["id": "a", "n": 7, "m": 0])
        // Someone decides, and nobody is in the way.
        device.server.onRequest(nil)
        try await device.context.queue.resolve(operation.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 7, "m": 0])
    }

    @Test("a merge that follows the server has five rounds", arguments: StoreKind.allCases)
    func movingMerge(_ kind: StoreKind) async throws {
        let device = try await device(kind) { conflict in
            var merged = conflict.server ?? .object
            merged["n"] = 7
            return .merge(merged)
        }
        let result = try await device.context.push()
        #expect(result.conflicts == OperationSession.maximumRounds)
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.state == .parked && operation.failure?.message.contains("5 times") == true)
    }
}
