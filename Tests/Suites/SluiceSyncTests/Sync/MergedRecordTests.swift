import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A merge is a record of that id, or it is refused")
struct MergedRecordTests {
    private static let noRecords: [JSON] = [
        .null, [1, 2], "text", 5, true, ["id": "b", "n": 9], ["id": 7, "n": 9], ["id": .null, "n": 9],
        ["id": "a", "ID": "b", "n": 9], ["Id": "b", "n": 9], ["id": "a", "n": 8, "N": 9],
    ]

    private func device(_ kind: StoreKind, handlers: [any ConflictHandler] = []) async throws -> Device {
        let device = try await Device(kind, handlers: handlers)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 5]])
        return device
    }

    @Test("a handler's is refused, and the operation held", arguments: StoreKind.allCases, 0..<11)
    func handler(_ kind: StoreKind, _ index: Int) async throws {
        let record = Self.noRecords[index]
        let device = try await device(kind, handlers: [ConflictClosure { _ in .merge(record) }])
        let result = try await device.context.push()
        #expect(result.remaining == 1 && result.end == .completed)
        let held = try #require(try await device.context.queue.operations().first)
        #expect(held.state == .parked && held.failure?.message.contains("merge is refused") == true)
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
        #expect(device.remote("a") == ["id": "a", "n": 5, "m": 1])
        try await device.context.queue.resolve(held.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("so is that of a decision by hand", arguments: StoreKind.allCases, 0..<11)
    func resolve(_ kind: StoreKind, _ index: Int) async throws {
        let device = try await device(kind)
        _ = try await device.context.push()
        let held = try #require(try await device.context.queue.operations().first)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.resolve(held.id, .merge(Self.noRecords[index]))
        }
        #expect(error?.code == .invalidRecord && error?.recordID == "a")
        #expect(try await device.context.queue.operations() == [held])
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
    }

    @Test("a merge that nests too deep is refused as an insert of it is")
    func deep() async throws {
        var deep: JSON = 1
        for _ in 0..<JSON.maximumDepth - 2 { deep = ["in": deep] }
        let record: JSON = ["id": "a", "deep": deep]
        let device = try await device(.memory, handlers: [ConflictClosure { _ in .merge(record) }])
        _ = try await device.context.push()
        #expect(try await device.queue() == ["update a parked"])
    }
}
