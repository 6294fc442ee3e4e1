import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("409 for another reason than the record: held with the server's words, and sent once")
struct OtherReasonTests {
    private let words = "Violation of UNIQUE KEY constraint 'UQ_email'"

    private func writes(_ device: Device) -> Int { device.server.requests.count(where: \.isWrite) }

    @Test("an insert", arguments: StoreKind.allCases)
    func insert(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let refused = SyncResponse.model(409, ["error": JSON(words)])
        device.server.onRequest { request in
            request.isWrite && (try? request.body.json)?["email"] == "taken" ? .answer(refused) : .none
        }
        try await device.todos.insert(["id": "a", "email": "taken"])
        try await device.todos.insert(["id": "b", "email": "free"])
        for _ in 0..<3 { _ = try await device.context.push() }
        let held = try #require(try await device.context.queue.operations().first)
        #expect(held.state == .parked && held.failure?.message == words && held.failure?.status == 409)
        #expect(held.attempts == 1 && writes(device) == 2 && device.remote("b") != nil)
        try await device.todos.update(["id": "a", "email": "another"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["email"] == "another")
    }

    @Test(
        "an update and a delete of a record that is as they found it", arguments: StoreKind.allCases,
        [TableOperation.Kind.update, .delete])
    func change(_ kind: StoreKind, _ change: TableOperation.Kind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "email": "old"]])
        try await device.todos.pull()
        if change == .update {
            try await device.todos.update(["id": "a", "email": "taken"])
        } else {
            try await device.todos.delete(id: "a")
        }
        let refused = SyncResponse.model(409, ["error": JSON(words)])
        device.server.onRequest { $0.isWrite ? .answer(refused) : .none }
        let result = try await device.context.push()
        #expect(result.conflicts == 0 && result.failures.first?.failure?.message == words, "\(result)")
        #expect(result.failures.first?.state == .parked && result.failures.first?.attempts == 1)
        let id = try #require(result.failures.first?.id)
        await #expect(throws: SluiceError.self) { try await device.context.queue.resolve(id, .client) }
        device.server.onRequest(nil)
        try await device.context.queue.retry(id)
        #expect(try await device.context.push().isClean)
    }

    @Test("after a send of unknown outcome it waits, for the list may be older", arguments: StoreKind.allCases)
    func uncertain(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest { request in
            request.isWrite ? .answer(.model(409, nil)) : .answer(.model(200, .array))
        }
        _ = try await device.context.push()
        #expect(try await device.queue() == ["insert a pending"])
    }

    /// A server that checks each record before the condition: `low` must be less than `high`.
    private func checking(_ device: Device) {
        device.server.onRequest { request in
            guard request.head.method == .put, let body = try? request.body.json,
                let low = body["low"]?.int, let high = body["high"]?.int, low >= high
            else { return .none }
            return .answer(.model(400, ["error": "low must be less than high"]))
        }
    }

    @Test(
        "a record replaced on an older one than is known is a conflict, though the server refuses its values first",
        arguments: [true, false])
    func refusedValues(isPulled: Bool) async throws {
        let device = try await Device(.memory, handlers: [FieldMerge()], dialect: .datasync)
        device.server.seed("todos", [["id": "a", "low": 1, "high": 5]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "low": 7])
        checking(device)
        if !isPulled { #expect(try await device.context.push().failures.first?.failure?.code == "rejected") }
        device.server.seed("todos", [["id": "a", "low": 1, "high": 9]])
        try await device.todos.pull()
        for operation in try await device.context.queue.operations() where operation.state == .parked {
            try await device.context.queue.retry(operation.id)
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 1, "\(result)")
        #expect(device.remote("a")?["low"] == 7 && device.remote("a")?["high"] == 9)
    }

    @Test("values that are refused on the newest record too are held for them, and sent once more for it")
    func refusedForGood() async throws {
        let device = try await Device(.memory, policy: .clientWins, dialect: .datasync)
        device.server.seed("todos", [["id": "a", "low": 1, "high": 5]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "low": 7])
        checking(device)
        device.server.seed("todos", [["id": "a", "low": 2, "high": 5]])
        // The pull pushes first.
        try await device.todos.pull()
        let held = try #require(try await device.context.queue.operations().first)
        #expect(held.state == .parked && writes(device) == 1)
        try await device.context.queue.retry(held.id)
        let result = try await device.context.push()
        #expect(result.failures.first?.failure?.message == "low must be less than high", "\(result)")
        #expect(result.failures.first?.state == .parked && writes(device) == 3)
    }
}
