import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Operations that never merge go out as they were made")
struct NonMergeableTests {
    private static let alone = OperationOptions(isMergeable: false)

    private func device(_ kind: StoreKind, policy: ConflictPolicy = .hold) async throws -> Device {
        let device = try await Device(kind, policy: policy)
        device.server.seed("todos", [["id": "a", "n": 0, "m": 0]])
        try await device.todos.pull()
        device.server.clearLog()
        return device
    }

    private func bodies(_ device: Device) -> [String] {
        device.server.requests.filter(\.isWrite).map { request in
            "\(request.head.method.rawValue) \((try? request.body.json["n"])?.description ?? "-")"
        }
    }

    @Test("each edit is a request of its own, in order, with what it changed alone", arguments: StoreKind.allCases)
    func edits(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for n in 1...3 { try await device.todos.update(["id": "a", "n": JSON(n)], options: Self.alone) }
        try await device.todos.update(["id": "a", "m": 9], options: Self.alone)
        #expect(try await device.queue().count == 4)
        #expect(try await device.local("a") == ["id": "a", "n": 3, "m": 9])
        #expect(try await device.context.push().isClean)
        #expect(bodies(device) == ["PATCH 1", "PATCH 2", "PATCH 3", "PATCH -"])
        #expect(device.remote("a") == ["id": "a", "n": 3, "m": 9])
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
        #expect(try await device.states() == 0)
    }

    @Test("an insert that never merges goes out before its edits and its delete", arguments: StoreKind.allCases)
    func insert(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "b", "n": 1], options: Self.alone)
        try await device.todos.update(["id": "b", "n": 2])
        try await device.todos.update(["id": "b", "n": 3])
        #expect(try await device.queue() == ["insert b pending", "update b pending"])
        try await device.todos.delete(id: "b", options: Self.alone)
        #expect(try await device.queue() == ["insert b pending", "update b pending", "delete b pending"])
        #expect(try await device.context.push().isClean)
        #expect(bodies(device) == ["POST 1", "PATCH 3", "DELETE -"])
        #expect(try await device.local("b") == nil)
    }

    @Test("what the server computes for the first is not undone by the second", arguments: StoreKind.allCases)
    func computed(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for n in 1...3 { try await device.todos.update(["id": "a", "n": JSON(n)], options: Self.alone) }
        let server = device.server
        let first = Mutex(true)
        server.onRequest { request in
            guard request.isWrite, first.withLock({ $0 }) else { return .none }
            first.withLock { $0 = false }
            // The server sets a property of its own with the first edit.
            var row = server.rows("todos")["a"] ?? .object
            row["n"] = 1
            row["m"] = 7
            server.seed("todos", [row])
            return .answer(.model(200, server.rows("todos")["a"]))
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 3, "m": 7])
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("a lost answer sends none of them twice", arguments: StoreKind.allCases, 0..<3)
    func lostAnswer(_ kind: StoreKind, _ lost: Int) async throws {
        let device = try await device(kind)
        for n in 1...3 { try await device.todos.update(["id": "a", "n": JSON(n)], options: Self.alone) }
        let count = Mutex(0)
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            return count.withLock {
                $0 += 1
                return $0 == lost + 1 ? .loseAnswer : .none
            }
        }
        _ = try await device.context.push()
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3)
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("discarding one of them leaves the others, each as it was made", arguments: StoreKind.allCases, 0..<3)
    func discard(_ kind: StoreKind, _ index: Int) async throws {
        let device = try await device(kind)
        for changes: JSON in [["id": "a", "x": 1], ["id": "a", "y": 1], ["id": "a", "z": 1]] {
            try await device.todos.update(changes, options: Self.alone)
        }
        let operation = try await device.context.queue.operations()[index]
        try await device.context.queue.discard(operation.id)
        var expected: JSON = ["id": "a", "n": 0, "m": 0, "x": 1, "y": 1, "z": 1]
        expected[["x", "y", "z"][index]] = nil
        #expect(try await device.local("a") == expected)
        #expect(try await device.queue().count == 2)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == expected)
        #expect(device.server.requests.filter(\.isWrite).count == 2)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.audit().count == 1)
    }

    @Test("discarding the insert they stand on makes the next one the insert", arguments: StoreKind.allCases)
    func discardInsert(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "b", "n": 1], options: Self.alone)
        try await device.todos.update(["id": "b", "m": 2], options: Self.alone)
        try await device.todos.update(["id": "b", "m": 3], options: Self.alone)
        try await device.context.queue.discard(device.context.queue.operations()[0].id)
        #expect(try await device.queue() == ["insert b pending", "update b pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b")?["m"] == 3)
        #expect(try await device.local("b") == device.remote("b"))
    }

    @Test(
        "a conflict of the first is decided, and the others go on top of it", arguments: StoreKind.allCases,
        [ConflictPolicy.clientWins, .serverWins])
    func conflict(_ kind: StoreKind, _ policy: ConflictPolicy) async throws {
        let device = try await device(kind, policy: policy)
        try await device.todos.update(["id": "a", "n": 1], options: Self.alone)
        try await device.todos.update(["id": "a", "x": 2], options: Self.alone)
        try await device.todos.update(["id": "a", "y": 3], options: Self.alone)
        device.server.seed("todos", [["id": "a", "n": 5, "m": 5]])
        device.server.clearLog()
        #expect(try await device.context.push().isClean)
        let n: JSON = policy == .clientWins ? 1 : 5
        #expect(device.remote("a")?["n"] == n && device.remote("a")?["x"] == 2 && device.remote("a")?["y"] == 3)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(device.server.requests.filter(\.isWrite).count == (policy == .clientWins ? 4 : 3))
        #expect(try await device.states() == 0)
    }

    @Test("a record deleted on the server comes back with all of them", arguments: StoreKind.allCases)
    func deletedOnServer(_ kind: StoreKind) async throws {
        let device = try await device(kind, policy: .clientWins)
        try await device.todos.update(["id": "a", "n": 1], options: Self.alone)
        try await device.todos.update(["id": "a", "n": 2], options: Self.alone)
        device.server.softDelete("todos", "a")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test(
        "one that is parked is not revived by an edit, but goes out first after a retry", arguments: StoreKind.allCases)
    func parked(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "a", "n": 1], options: Self.alone)
        device.server.onRequest { $0.isWrite ? .answer(.model(400, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "a", "m": 2])
        #expect(try await device.queue() == ["update a parked", "update a pending"])
        device.server.clearLog()
        try await device.context.queue.retryAll()
        #expect(try await device.context.push().isClean)
        #expect(bodies(device) == ["PATCH 1", "PATCH 2"])
        #expect(device.remote("a") == ["id": "a", "n": 2, "m": 2])
    }
}
