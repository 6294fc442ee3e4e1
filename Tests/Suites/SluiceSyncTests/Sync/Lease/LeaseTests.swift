import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("The lease: one at a time synchronises a store, and all may write")
struct LeaseTests {
    /// Two contexts on one store, as two processes have it open, and a gate in front of the server.
    private struct Pair {
        let one: SyncContext
        let two: SyncContext
        let server = ModelServer()
        let gate = Gate()
        let todos: SyncTable<JSON>

        init(_ stores: [any LocalStore], timeout: Duration = .zero) async throws {
            var options = ClientOptions()
            options.retry = .never
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, options: options)
            let sync = SyncOptions(conflictPolicy: .hold, commitLag: .zero, leaseTimeout: timeout)
            one = try await SyncContext(client: client, store: stores[0], options: sync)
            two = try await SyncContext(client: client, store: stores[stores.count - 1], options: sync)
            todos = try one.table("todos")
        }

        /// Holds up the first request that `isHeld` picks until the gate is opened, and says when it has come.
        func holdUp(_ isHeld: @escaping @Sendable (SyncRequest) -> Bool) {
            server.onRequest { [gate] request in
                if isHeld(request), gate.claim() { await gate.wait() }
                return .none
            }
        }
    }

    /// Two stores on one file, or one store in memory twice.
    private static func stores(_ kind: StoreKind, _ folder: Folder) throws -> [any LocalStore] {
        switch kind {
        case .memory: [MemoryStore()]
        case .sqlite: [try SQLiteStore(path: folder.file), try SQLiteStore(path: folder.file)]
        }
    }

    private let folder = Folder()

    @Test(
        "while one pushes, another's push, pull, purge and discard are busy, and writes go on",
        arguments: StoreKind.allCases)
    func busy(_ kind: StoreKind) async throws {
        let pair = try await Pair(Self.stores(kind, folder))
        try await pair.todos.insert(["id": "a", "n": 1])
        pair.holdUp { $0.isWrite }
        async let first = pair.one.push()
        await pair.gate.reached()
        let id = try #require(await pair.two.queue.operations().first?.id)
        for attempt: @Sendable () async throws -> Void in [
            { _ = try await pair.two.push() }, { _ = try await pair.two.pull(TableQuery("other")) },
            { _ = try await pair.two.purge(TableQuery("todos"), force: true) },
            { try await pair.two.queue.discard(id) },
        ] {
            let error = await #expect(throws: SluiceError.self) { try await attempt() }
            #expect(error?.code == .storeBusy)
        }
        try await pair.two.table("todos").update(["id": "a", "n": 2])
        try await pair.two.table("todos").insert(["id": "b", "n": 3])
        pair.gate.open()
        // What was edited meanwhile is after it in the queue and goes with the same push; another record waits.
        #expect(try await first.waiting == 1)
        #expect(pair.server.rows("todos")["a"]?["n"] == 2 && pair.server.rows("todos")["b"] == nil)
        #expect(try await pair.two.push().isClean)
        #expect(pair.server.rows("todos")["b"]?["n"] == 3)
    }

    @Test("whoever may wait gets the lease when it is free", arguments: StoreKind.allCases)
    func waits(_ kind: StoreKind) async throws {
        let pair = try await Pair(Self.stores(kind, folder), timeout: .seconds(20))
        try await pair.todos.insert(["id": "a", "n": 1])
        pair.holdUp { $0.isWrite }
        async let first = pair.one.push()
        await pair.gate.reached()
        async let second = pair.two.push()
        try await Task.sleep(for: .milliseconds(30))
        pair.gate.open()
        #expect(try await first.applied == 1)
        #expect(try await second.isClean)
        #expect(pair.server.calls == ["POST /tables/todos"])
    }

    @Test("a wait that is cancelled ends at once")
    func cancelled() async throws {
        let pair = try await Pair([MemoryStore()], timeout: .seconds(3600))
        let lease = try await pair.one.store.takeLease()
        let push = Task { try await pair.two.push() }
        push.cancel()
        let error = await #expect(throws: SluiceError.self) { try await push.value }
        #expect(error?.code == .cancelled)
        lease?.release()
        #expect(try await pair.two.push().isClean)
    }

    @Test("a lease ends with a push that fails", arguments: StoreKind.allCases)
    func failing(_ kind: StoreKind) async throws {
        let pair = try await Pair(Self.stores(kind, folder))
        try await pair.todos.insert(["id": "a"])
        pair.server.onRequest { _ in .loseAnswer }
        #expect(try await pair.one.push().end == .network)
        await #expect(throws: SluiceError.self) { try await pair.one.pull(TableQuery("other")) }
        pair.server.onRequest(nil)
        #expect(try await pair.two.push().isClean)
    }

    @Test(
        "a pusher that stood still while another took over writes nothing when it wakes", arguments: StoreKind.allCases)
    func stoppedPush(_ kind: StoreKind) async throws {
        let pair = try await Pair(Self.stores(kind, folder))
        try await pair.todos.insert(["id": "a", "n": 1])
        try await pair.todos.insert(["id": "b", "n": 1])
        pair.holdUp { $0.isWrite }
        async let stopped = pair.one.push()
        await pair.gate.reached()
        try await pair.two.breakLease()
        #expect(try await pair.two.push().isClean)
        try await pair.two.table("todos").update(["id": "a", "n": 2])
        let before = try await pair.two.queue.operations()
        pair.gate.open()
        let result = try await stopped
        #expect(result.end == .store && result.error?.code == .storeLeaseLost)
        #expect(try await pair.two.queue.operations() == before)
        #expect(try await pair.two.table("todos").lookup(id: "a")?["n"] == 2)
        #expect(try await pair.one.push().isClean)
        #expect(pair.server.rows("todos").count == 2 && pair.server.rows("todos")["a"]?["n"] == 2)
    }

    @Test("a puller that stood still while another took over stores no page", arguments: StoreKind.allCases)
    func stoppedPull(_ kind: StoreKind) async throws {
        let pair = try await Pair(Self.stores(kind, folder))
        pair.server.seed("todos", [["id": "a", "n": 1]])
        let (gate, server) = (pair.gate, pair.server)
        // The answer is made before the stop, and so is old when it comes.
        pair.server.onRequest { request in
            guard gate.claim() else { return .none }
            let old = try? await server.send(request)
            await gate.wait()
            return old.map { .answer($0) } ?? .none
        }
        async let stopped = pair.todos.pull(named: "all")
        await gate.reached()
        try await pair.two.breakLease()
        server.seed("todos", [["id": "a", "n": 2], ["id": "b", "n": 2]])
        try await pair.two.table("todos").pull(named: "all")
        let status = try await pair.two.status()
        gate.open()
        let error: SluiceError?
        do {
            _ = try await stopped
            error = nil
        } catch let thrown {
            error = thrown as? SluiceError
        }
        #expect(error?.code == .storeLeaseLost)
        #expect(try await pair.two.status() == status)
        #expect(try await pair.todos.lookup(id: "a")?["n"] == 2)
    }

    @Test("of two holders, as when the lock's file was deleted, the second to write ends")
    func deletedFile() async throws {
        let pair = try await Pair(Self.stores(.sqlite, folder))
        try await pair.todos.insert(["id": "a", "n": 1])
        pair.server.seed("other", [["id": "x"]])
        pair.holdUp { $0.head.method == .get }
        async let pull = pair.one.pull(TableQuery("other"))
        await pair.gate.reached()
        try FileManager.default.removeItem(atPath: folder.file + "-lease")
        #expect(try await pair.two.push().isClean)
        pair.gate.open()
        do {
            _ = try await pull
            Issue.record("the pull stored its page")
        } catch {
            #expect((error as? SluiceError)?.code == .storeLeaseLost)
        }
        #expect(try await pair.one.pull(TableQuery("other")).stored == 1)
    }

    @Test("a lease that was broken does not end its successor's when it is released")
    func brokenRelease() async throws {
        for kind in StoreKind.allCases {
            let stores = try Self.stores(kind, folder)
            let old = try await stores[0].takeLease()
            #expect(old != nil)
            #expect(try await stores[0].takeLease() == nil)
            try await stores[0].breakLease()
            let new = try await stores[stores.count - 1].takeLease()
            #expect(new != nil)
            old?.release()
            #expect(try await stores[0].takeLease() == nil)
            new?.release()
            new?.release()
            #expect(try await stores[0].takeLease() != nil)
        }
    }
}

/// Lets one request through when it is told to.
private final class Gate: Sendable {
    private let arrived = AsyncStream<Void>.makeStream()
    private let released = AsyncStream<Void>.makeStream()
    private let isClaimed = Mutex(false)

    /// Whether the caller is the first.
    func claim() -> Bool {
        isClaimed.withLock { claimed in
            defer { claimed = true }
            return !claimed
        }
    }
    func wait() async {
        arrived.continuation.finish()
        for await _ in released.stream {}
    }
    func reached() async { for await _ in arrived.stream {} }
    func open() { released.continuation.finish() }
}

/// A folder with a store's file, removed with the value.
private final class Folder: Sendable {
    private let path: String
    var file: String { path + "/store.db" }

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
