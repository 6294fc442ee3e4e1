import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Poison: what fails again and again is put aside with its reason, and blocks nothing else")
struct PoisonTests {
    private func answer(_ device: Device, _ record: String, _ fault: ModelServer.Fault?) {
        device.server.onRequest { request in
            request.isWrite && request.context.recordID?.text == record ? fault ?? .none : .none
        }
    }

    @Test("after as many failures in a row it is dead, and others go on", arguments: StoreKind.allCases)
    func dead(_ kind: StoreKind) async throws {
        let device = try await Device(kind, maximumAttempts: 3)
        try await device.todos.insert(["id": "a", "n": 1])
        answer(device, "a", .answer(.model(500, ["error": "boom"])))
        for attempt in 1...3 {
            try await device.todos.insert(["id": JSON("b\(attempt)"), "n": 1])
            let result = try await device.context.push()
            #expect(result.applied == 1 && result.failures.count == 1)
            let operation = try #require(try await device.context.queue.operations().first)
            #expect(operation.failedAttempts == attempt)
            #expect(operation.state == (attempt < 3 ? .pending : .dead))
            #expect(operation.failure?.status == 500 && operation.failure?.message == "boom")
        }
        device.server.clearLog()
        #expect(try await device.context.push().end == .completed)
        #expect(device.server.calls.isEmpty, "a dead operation is passed by")
        #expect(try await device.context.status().dead == 1)
        #expect(try await device.local("a")?["n"] == 1)
    }

    @Test(
        "failures of the network and of what is on the way do not count", arguments: StoreKind.allCases,
        [302, 307, 401, 407, 408, 425, 429, 502, 503, 504, 511, 0])
    func passing(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await Device(kind, maximumAttempts: 1)
        try await device.todos.insert(["id": "a", "n": 1])
        answer(device, "a", status == 0 ? .loseAnswer : .answer(.model(status, nil)))
        for _ in 0..<3 { _ = try await device.context.push() }
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.failedAttempts == 0 && operation.state != .dead)
        answer(device, "a", nil)
        #expect(try await device.context.push().isClean)
    }

    @Test("a filter that fails before anything is sent does not count", arguments: StoreKind.allCases)
    func filter(_ kind: StoreKind) async throws {
        struct Broken: RequestFilter {
            struct Boom: Error {}
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse { throw Boom() }
        }
        let device = try await Device(kind, filters: [Broken()], maximumAttempts: 1)
        try await device.todos.insert(["id": "a", "n": 1])
        for _ in 0..<3 { _ = try await device.context.push() }
        #expect(try await device.context.queue.operations().first?.state == .pending)
    }

    @Test("a filter that fails on the answer does count", arguments: StoreKind.allCases)
    func filterOnAnswer(_ kind: StoreKind) async throws {
        struct Broken: RequestFilter {
            struct Boom: Error {}
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                _ = try await next(request)
                throw Boom()
            }
        }
        let device = try await Device(kind, filters: [Broken()], maximumAttempts: 2)
        try await device.todos.insert(["id": "a", "n": 1])
        for _ in 0..<2 { _ = try await device.context.push() }
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.state == .dead && operation.isUncertain)
    }

    @Test("what succeeds between is no failure in a row: an edit begins anew", arguments: StoreKind.allCases)
    func edited(_ kind: StoreKind) async throws {
        let device = try await Device(kind, maximumAttempts: 2)
        try await device.todos.insert(["id": "a", "n": 1])
        answer(device, "a", .answer(.model(500, nil)))
        _ = try await device.context.push()
        try await device.todos.update(["id": "a", "n": 2])
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().first?.state == .pending)
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().first?.state == .dead)
        try await device.todos.update(["id": "a", "n": 3])
        answer(device, "a", nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3)
    }

    @Test("a dead operation holds its successors, is retried, and all of it arrives", arguments: StoreKind.allCases)
    func successors(_ kind: StoreKind) async throws {
        let device = try await Device(kind, maximumAttempts: 1)
        try await device.todos.insert(["id": "a", "n": 1])
        let todos = device.todos
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            try? await todos.delete(id: "a")
            return .answer(.model(500, nil))
        }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.queue() == ["insert a dead", "delete a pending"])
        #expect(try await device.context.push().remaining == 2)
        #expect(try await device.context.queue.retryAll(TableOperation.Filter(states: [.dead])) == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil && device.server.rows("todos").count == 1)
    }

    @Test("an operation has at least one attempt")
    func limits() async throws {
        await #expect(throws: SluiceError.self) {
            _ = try await SyncContext(store: MemoryStore(), options: SyncOptions(maximumAttempts: 0))
        }
        await #expect(throws: SluiceError.self) {
            _ = try await SyncContext(store: MemoryStore(), options: SyncOptions(batchSize: 101))
        }
    }

    @Test(
        "an answer that shows that nothing was done leaves no doubt, however often it came within one push",
        arguments: StoreKind.allCases, [408, 429, 503])
    func nothingDone(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await Device(kind, retry: RetryPolicy(attempts: 3, firstPause: .zero))
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .none }
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(!operation.isUncertain && operation.attempts == 3)
        #expect(operation.sent.allSatisfy { !$0.mayBeDone })
        // So the insert restores a row that was deleted before.
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "a", "n": 0]])
        device.server.softDelete("todos", "a")
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 1)
    }

    @Test("one of a proxy that did not get the answer does", arguments: StoreKind.allCases, [502, 504])
    func maybeDone(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await Device(kind, retry: RetryPolicy(attempts: 2, firstPause: .zero))
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .none }
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().first?.isUncertain == true)
    }
}
