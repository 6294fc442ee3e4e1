import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Crashes: the process ends anywhere, and another goes on with the store")
struct CrashTests {
    /// Runs a push that dies at its `step`-th use of the store, then goes on with a new context on the same store.
    private func crash(
        _ kind: StoreKind, at step: Int, policy: ConflictPolicy = .hold, _ prepare: (Device) async throws -> Void,
        between edit: (Device) async throws -> Void = { _ in }
    ) async throws -> Device {
        let store = MortalStore(try await kind.make())
        let device = try await Device(kind, policy: policy, store: store)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await prepare(device)
        store.die(after: step)
        _ = try? await device.context.push()
        store.revive()
        let next = try await Device(kind, server: device.server, policy: policy, store: store)
        try await edit(next)
        return next
    }

    @Test("a push that dies at any use of the store is made good by the next", arguments: StoreKind.allCases, 0..<16)
    func anywhere(_ kind: StoreKind, _ step: Int) async throws {
        let device = try await crash(kind, at: step) { device in
            try await device.todos.insert(["id": "c", "n": 2])
            try await device.todos.update(["id": "a", "n": 2])
            try await device.todos.delete(id: "b")
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 2 && device.remote("b") == nil && device.remote("c")?["n"] == 2)
        for id in ["a", "b", "c"] { #expect(try await device.local(id) == device.remote(id)) }
        #expect(try await device.states() == 0)
    }

    @Test("edits between the crash and the next push arrive too", arguments: StoreKind.allCases, 0..<16)
    func withEdits(_ kind: StoreKind, _ step: Int) async throws {
        let device = try await crash(kind, at: step) { device in
            try await device.todos.insert(["id": "c", "n": 2])
            try await device.todos.update(["id": "a", "n": 2])
            try await device.todos.delete(id: "b")
        } between: { device in
            try await device.todos.update(["id": "c", "m": 3])
            try await device.todos.update(["id": "a", "n": 1, "m": 3])
            try await device.todos.insert(["id": "b", "n": 4])
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a") == ["id": "a", "n": 1, "m": 3])
        #expect(device.remote("c") == ["id": "c", "n": 2, "m": 3])
        #expect(device.remote("b") == ["id": "b", "n": 4])
        for id in ["a", "b", "c"] { #expect(try await device.local(id) == device.remote(id)) }
    }

    @Test("a delete after the crash arrives", arguments: StoreKind.allCases, 0..<12)
    func withDelete(_ kind: StoreKind, _ step: Int) async throws {
        let device = try await crash(kind, at: step) { device in
            try await device.todos.insert(["id": "c", "n": 2])
            try await device.todos.update(["id": "a", "n": 2])
        } between: { device in
            try await device.todos.delete(id: "c")
            try await device.todos.delete(id: "a")
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a") == nil && device.remote("c") == nil)
        #expect(try await device.local("a") == nil)
        #expect(try await device.states() == 0)
    }

    @Test("what was under way when the process died may have been done, and a conflict says so")
    func maybeApplied() async throws {
        for step in 0..<8 {
            let device = try await crash(.memory, at: step) { try await $0.todos.update(["id": "a", "n": 2]) }
            let wasUnderWay = try await device.context.queue.operations().first?.state == .inFlight
            device.server.seed("todos", [["id": "a", "n": 9]])
            let seen = Mutex<Bool?>(nil)
            let handler = ConflictClosure { conflict in
                seen.withLock { $0 = conflict.maybeApplied }
                return .ask
            }
            let next = try await Device(.memory, server: device.server, handlers: [handler], store: device.store)
            _ = try await next.context.push()
            if wasUnderWay { #expect(seen.withLock { $0 } == true, "died at \(step)") }
        }
    }

    @Test(
        "a delete during the send of an edited insert whose first answer was lost arrives",
        arguments: StoreKind.allCases)
    func deleteDuringRevision(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        try await device.todos.update(["id": "a", "n": 2])
        let todos = device.todos
        device.server.onRequest { request in
            if request.head.method == .post { try? await todos.delete(id: "a") }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.isClean, "\(result)")
        #expect(device.remote("a") == nil)
        #expect(try await device.states() == 0)
    }

    @Test("a push cancelled at any request loses nothing", arguments: StoreKind.allCases, 1..<8)
    func cancelled(_ kind: StoreKind, _ step: Int) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.insert(["id": "c", "n": 2])
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
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
        let push = Task {
            let result = try await device.context.push()
            signal.finish()
            return result
        }
        for await _ in reached {}
        push.cancel()
        _ = try? await push.value
        device.server.onRequest(nil)
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 2 && device.remote("b") == nil && device.remote("c")?["n"] == 2)
    }

    @Test("a pull that dies at any use of the store leaves page and cursor together", arguments: 0..<10)
    func pull(_ step: Int) async throws {
        let store = MortalStore(MemoryStore())
        let server = ModelServer(pageSize: 3)
        server.seed("todos", (0..<10).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let device = try await Device(.memory, server: server, store: store)
        store.die(after: step)
        _ = try? await device.todos.pull(named: "all")
        store.revive()
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10)
    }
}

/// A store whose process dies: from some use on every call fails, and a dying write is either there or not.
final class MortalStore: LocalStore {
    private let inner: any LocalStore
    private let usesLeft = Mutex<Int?>(nil)

    init(_ inner: any LocalStore) { self.inner = inner }

    func die(after uses: Int) { usesLeft.withLock { $0 = uses } }
    func revive() { usesLeft.withLock { $0 = nil } }

    private func use() -> Bool {
        usesLeft.withLock { left in
            guard let uses = left else { return true }
            left = max(0, uses - 1)
            return uses > 0
        }
    }

    private var dead: SluiceError { SluiceError(.storeClosed, "the process is gone") }

    func define(_ tables: [TableSchema]) async throws { try await inner.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        guard use() else { throw dead }
        return try await inner.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        guard use() else { throw dead }
        let result = try await inner.write(body)
        // The commit may be there and nobody learns of it.
        guard use() else { throw dead }
        return result
    }

    func close() async throws {}
}
