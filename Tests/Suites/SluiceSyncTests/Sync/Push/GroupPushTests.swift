import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Groups: all of their operations reach the server, or none")
struct GroupPushTests {
    /// A device with `a` pulled and a group that changes `a` and adds `b` and `c`.
    private func device(
        _ kind: StoreKind = .memory, filters: [any RequestFilter] = [], store: (any LocalStore)? = nil,
        server: ModelServer = ModelServer(), makesGroup: Bool = true
    ) async throws -> Device {
        server.offer([.batches])
        let device = try await Device(kind, server: server, filters: filters, store: store) { $0.batchSize = 10 }
        guard makesGroup else { return device }
        server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        server.clearLog()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.insert(["id": "b", "n": 2])
        try await device.todos.insert(["id": "c"])
        try await device.store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in try queue.reader.all() {
                operation.group = "g"
                try queue.put(operation)
            }
        }
        return device
    }

    @Test("a group goes as one atomicity group", arguments: StoreKind.allCases)
    func together(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        #expect(try await device.context.push().isClean)
        #expect(device.server.calls == ["POST /tables/$batch"])
        let parts = try #require(device.server.requests[0].body.json["requests"]?.elements)
        #expect(parts.map { $0["atomicityGroup"]?.string } == ["g", "g", "g"])
        #expect(device.remote("a")?["n"] == 2 && device.remote("b") != nil && device.remote("c") != nil)
    }

    @Test("if one of them is refused none has an effect, and all wait", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        device.server.seed("todos", [["id": "b", "n": 7]])
        let result = try await device.context.push()
        #expect(result.applied == 0 && result.conflicts == 1)
        #expect(device.remote("a")?["n"] == 1 && device.remote("c") == nil)
        #expect(try await device.queue() == ["update a pending", "insert b parked", "insert c pending"])
        #expect(try await device.context.push().applied == 0, "a group is never sent in parts")
        #expect(device.remote("a")?["n"] == 1 && device.remote("c") == nil)
    }

    @Test("a member that a filter does not let through keeps all of them back", arguments: [true, false])
    func filtered(_ answers: Bool) async throws {
        struct Boom: Error {}
        let filter = Tap { request, next in
            guard request.context.recordID == "b" else { return try await next(request) }
            if answers { return .model(403, nil) }
            throw Boom()
        }
        let device = try await device(filters: [filter])
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 0 && result.remaining == 3)
        #expect(device.server.requests.isEmpty)
    }

    @Test("a server that knows no batches gets no part of it, and the reason is told")
    func noBatches() async throws {
        let device = try await device()
        device.server.offer([])
        try await device.todos.insert(["id": "alone"])
        let result = try await device.context.push()
        #expect(result.applied == 1 && result.failures.count == 3)
        for failed in result.failures {
            #expect(failed.failure?.message.contains("batches") == true && failed.state == .pending, "\(failed)")
        }
        #expect(device.remote("a")?["n"] == 1 && device.remote("b") == nil && device.remote("alone") != nil)
    }

    @Test("a server that was being set up gets the group with the next push")
    func batchesLater() async throws {
        let device = try await device()
        device.server.offer([])
        #expect(try await device.context.push().failures.count == 3)
        device.server.offer([.batches])
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 3, "\(result)")
        #expect(device.remote("b") != nil && device.remote("c") != nil)
    }

    @Test("a server that took the batch for a record is sent none again, and nobody says that it was not sent")
    func mistaken() async throws {
        let device = try await device()
        device.server.onRequest { request in
            request.head.path?.hasSuffix("$batch") == true ? .answer(.json(201, #"{"id":"made"}"#)) : .none
        }
        for _ in 0..<3 {
            let result = try await device.context.push()
            #expect(result.end == .completed && result.applied == 0 && result.failures.count == 3, "\(result)")
            #expect(result.failures.allSatisfy { $0.isUncertain && !$0.sent.isEmpty }, "\(result.failures)")
        }
        #expect(device.server.calls == ["POST /tables/$batch"])
    }

    @Test("a lost answer to a group is recognised", arguments: StoreKind.allCases, [true, false])
    func lostAnswer(_ kind: StoreKind, _ remembers: Bool) async throws {
        let device = try await device(kind)
        if remembers { device.server.offer([.batches, .requestIDs]) }
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        #expect(try await device.context.push().end == .network)
        device.server.onRequest(nil)
        let rows = device.server.rows("todos")
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.server.rows("todos") == rows, "nothing was done twice")
        #expect(try await device.states() == 0)
    }

    @Test("a push that dies with a group under way is made good by the next", arguments: 0..<16)
    func crash(_ step: Int) async throws {
        let store = MortalStore(MemoryStore())
        let device = try await device(store: store)
        store.die(after: step)
        _ = try? await device.context.push()
        store.revive()
        let rows = device.server.rows("todos").filter { $0.key != "a" }.count
        #expect(rows == 0 || rows == 2, "all or nothing")
        let next = try await self.device(store: store, server: device.server, makesGroup: false)
        let result = try await next.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(next.remote("a")?["n"] == 2 && next.remote("b") != nil && next.remote("c") != nil)
    }
}
