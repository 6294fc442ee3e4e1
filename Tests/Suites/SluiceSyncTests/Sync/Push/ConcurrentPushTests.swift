import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Concurrent push: independent records side by side, each record in order")
struct ConcurrentPushTests {
    /// Counts how many requests are under way, and holds each back until so many are, or nothing more comes.
    private final class Gate: Sendable {
        private struct State {
            var underWay = 0
            var most = 0
        }
        private let state = Mutex(State())
        var most: Int { state.withLock { $0.most } }

        func pass() async {
            state.withLock {
                $0.underWay += 1
                $0.most = max($0.most, $0.underWay)
            }
            for _ in 0..<50 { await Task.yield() }
            try? await Task.sleep(for: .milliseconds(2))
            state.withLock { $0.underWay -= 1 }
        }
    }

    @Test("as many requests are under way as are allowed, and no more", arguments: StoreKind.allCases, [1, 4])
    func bound(_ kind: StoreKind, _ concurrency: Int) async throws {
        let gate = Gate()
        let device = try await Device(kind) { $0.concurrency = concurrency }
        for n in 0..<20 { try await device.todos.insert(["id": JSON("r\(n)"), "n": JSON(n)]) }
        device.server.onRequest { _ in
            await gate.pass()
            return .none
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 20)
        #expect(concurrency == 1 ? gate.most == 1 : (2...concurrency).contains(gate.most), "\(gate.most)")
        #expect(device.server.rows("todos").count == 20)
    }

    @Test("one at a time they go in the queue's order, whatever is declared", arguments: StoreKind.allCases)
    func serial(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        for n in 0..<10 { try await device.todos.insert(["id": JSON("r\(n)")]) }
        #expect(try await device.context.push().isClean)
        let ids = try device.server.requests.map { try $0.body.json["id"]?.string ?? "" }
        #expect(ids == (0..<10).map { "r\($0)" })
    }

    @Test("edits made meanwhile follow on their own records", arguments: StoreKind.allCases)
    func successors(_ kind: StoreKind) async throws {
        let device = try await Device(kind) { $0.concurrency = 4 }
        device.server.seed("todos", (0..<8).map { ["id": JSON("r\($0)"), "n": 0, "m": 0] })
        try await device.todos.pull()
        for n in 0..<8 { try await device.todos.update(["id": JSON("r\(n)"), "n": 1]) }
        let todos = device.todos
        let edited = Mutex<Set<String>>([])
        device.server.onRequest { request in
            if request.isWrite, let id = request.context.recordID?.text, edited.withLock({ $0.insert(id).inserted }) {
                _ = try? await todos.update(["id": JSON(id), "m": 1])
            }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 16 && result.conflicts == 0, "\(result)")
        for n in 0..<8 { #expect(device.remote("r\(n)") == ["id": JSON("r\(n)"), "n": 1, "m": 1]) }
        #expect(try await device.states() == 0)
    }

    @Test("one that fails or waits for a decision stops none of the others", arguments: StoreKind.allCases)
    func failures(_ kind: StoreKind) async throws {
        let device = try await Device(kind) { $0.concurrency = 3 }
        for n in 0..<9 { try await device.todos.insert(["id": JSON("r\(n)")]) }
        device.server.onRequest { request in
            request.context.recordID == "r4" ? .answer(.model(400, nil)) : .none
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 8 && result.failures.map(\.recordID) == ["r4"])
    }

    @Test("without network nothing new is begun, and what is under way comes to its end", arguments: StoreKind.allCases)
    func network(_ kind: StoreKind) async throws {
        let device = try await Device(kind) { $0.concurrency = 3 }
        for n in 0..<12 { try await device.todos.insert(["id": JSON("r\(n)")]) }
        device.server.onRequest { request in
            if request.context.recordID == "r1" { return .loseRequest }
            for _ in 0..<200 { await Task.yield() }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.end == .network && result.applied + result.remaining == 12 && result.remaining >= 1)
        #expect(device.server.rows("todos").count == result.applied, "an answer that came was not lost")
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
    }

    @Test("a push that is cancelled at any request loses nothing", arguments: [2, 5], 1..<8)
    func cancelled(_ concurrency: Int, _ step: Int) async throws {
        let device = try await Device(.memory) { $0.concurrency = concurrency }
        for n in 0..<8 { try await device.todos.insert(["id": JSON("r\(n)")]) }
        let count = Mutex(0)
        let (reached, signal) = AsyncStream<Void>.makeStream()
        device.server.onRequest { _ in
            let n = count.withLock {
                $0 += 1
                return $0
            }
            guard n == step else { return .none }
            signal.finish()
            try? await Task.sleep(for: .seconds(60))
            return n % 2 == 0 ? .loseAnswer : .loseRequest
        }
        let push = Task { try await device.context.push() }
        for await _ in reached {}
        push.cancel()
        _ = try? await push.value
        device.server.onRequest(nil)
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.server.rows("todos").count == 8)
    }

    @Test("a push that dies at any use of the store is made good by the next", arguments: [2, 4], 0..<20)
    func crash(_ concurrency: Int, _ step: Int) async throws {
        let store = MortalStore(MemoryStore())
        let device = try await Device(.memory, store: store) { $0.concurrency = concurrency }
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.insert(["id": "c", "n": 2])
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        store.die(after: step)
        _ = try? await device.context.push()
        store.revive()
        let next = try await Device(.memory, server: device.server, store: store) { $0.concurrency = concurrency }
        let result = try await next.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(next.remote("a")?["n"] == 2 && next.remote("b") == nil && next.remote("c")?["n"] == 2)
        #expect(try await next.states() == 0)
    }
}
