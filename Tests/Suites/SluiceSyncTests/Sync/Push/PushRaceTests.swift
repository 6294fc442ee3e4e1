import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Each is a way in which an older engine of the family went wrong when the application wrote while a push ran.
@Suite("Races between a push and the application's writes")
struct PushRaceTests {
    /// A device with `a` pulled, and a server at whose first change `body` runs before the answer.
    private func device(
        _ kind: StoreKind, fault: ModelServer.Fault = .none, _ body: @escaping @Sendable (SyncTable<JSON>) async -> Void
    ) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old", "n": 1]])
        try await device.todos.pull()
        device.server.clearLog()
        let todos = device.todos
        let isDone = Flag()
        device.server.onRequest { request in
            guard request.isWrite, !isDone.isSet else { return .none }
            isDone.set()
            await body(todos)
            return fault
        }
        return device
    }

    @Test(
        "the second operation on a record goes out with the version that the first was answered with",
        arguments: StoreKind.allCases)
    func secondOperationHasTheNewVersion(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _ = try? await $0.update(["id": "a", "n": 2]) }
        try await device.todos.update(["id": "a", "text": "new"])
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 2 && result.conflicts == 0)
        let conditions = device.server.requests.map { $0.head.headerFields[.ifMatch] }
        #expect(conditions.count == 2 && conditions[0] != conditions[1])
        #expect(device.remote("a") == ["id": "a", "text": "new", "n": 2])
    }

    @Test("a write does not wait for the answer that is under way", arguments: StoreKind.allCases)
    func writesDoNotWait(_ kind: StoreKind) async throws {
        // The write returns while the server holds its answer back: were it to wait, this would never end.
        let written = Flag()
        let device = try await device(kind) { todos in
            _ = try? await todos.update(["id": "a", "n": 2])
            _ = try? await todos.insert(["id": "b", "n": 1])
            written.set()
        }
        try await device.todos.update(["id": "a", "text": "new"])
        #expect(try await device.context.push().waiting == 1)
        #expect(try await device.context.push().isClean)
        #expect(written.isSet && device.remote("b") == ["id": "b", "n": 1])
    }

    @Test("a write on one table does not wait for a push of another store", arguments: StoreKind.allCases)
    func storesAreApart(_ kind: StoreKind) async throws {
        let other = try await Device(kind)
        let device = try await device(kind) { _ in _ = try? await other.todos.insert(["id": "b"]) }
        try await device.todos.update(["id": "a", "text": "new"])
        #expect(try await device.context.push().isClean)
        #expect(try await other.queue() == ["insert b pending"])
    }

    @Test(
        "what is under way is known as such after a crash, and an edit does not change it",
        arguments: StoreKind.allCases)
    func inFlightIsStored(_ kind: StoreKind) async throws {
        let store = MortalStore(try await kind.make())
        let device = try await Device(kind, store: store)
        device.server.seed("todos", [["id": "a", "text": "old", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "new"])
        device.server.onRequest { _ in
            store.die(after: 0)
            return .none
        }
        _ = try? await device.context.push()
        store.revive()
        device.server.onRequest(nil)
        let next = try await Device(kind, server: device.server, store: store)
        #expect(try await next.queue() == ["update a inFlight"])
        try await next.todos.update(["id": "a", "n": 2])
        #expect(try await next.queue() == ["update a inFlight", "update a pending"])
        try await next.todos.delete(id: "a")
        let result = try await next.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(next.remote("a") == nil)
    }

    @Test(
        "a process that ends between the server's commit and its own leaves no version behind that never fits again",
        arguments: StoreKind.allCases)
    func staleVersionAfterCrash(_ kind: StoreKind) async throws {
        let store = MortalStore(try await kind.make())
        let device = try await Device(kind, store: store)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { request in
            if request.isWrite { store.die(after: 0) }
            return .none
        }
        _ = try? await device.context.push()
        store.revive()
        device.server.onRequest(nil)
        let next = try await Device(kind, server: device.server, store: store)
        let result = try await next.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        try await next.todos.update(["id": "a", "n": 3])
        #expect(try await next.context.push().isClean)
        #expect(next.remote("a")?["n"] == 3)
        #expect(try await next.todos.lookup(id: "a") == next.server.rows("todos")["a"])
    }

    @Test("an edit made between reading and sealing the operation is in what is sent", arguments: StoreKind.allCases)
    func editBeforeSeal(_ kind: StoreKind) async throws {
        let edit = EditBeforeSeal()
        let device = try await Device(kind, filters: [edit])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        edit.todos.withLock { [todos = device.todos] in $0 = todos }
        try await device.todos.update(["id": "a", "text": "new"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 7, "text": "new"])
        #expect(device.server.requests.filter(\.isWrite).count == 1)
    }

    @Test(
        "a cancel while the request is in flight does not lose the answer that arrives", arguments: StoreKind.allCases)
    func cancelWithAnswer(_ kind: StoreKind) async throws {
        let push = Mutex<Task<PushResult, any Error>?>(nil)
        let (reached, signal) = AsyncStream<Void>.makeStream()
        let device = try await device(kind) { _ in
            for await _ in reached {}
            push.withLock { $0?.cancel() }
        }
        try await device.todos.update(["id": "a", "text": "new"])
        try await device.todos.insert(["id": "b"])
        let task = Task { [context = device.context] in try await context.push() }
        push.withLock { $0 = task }
        signal.finish()
        let result = try await task.value
        #expect(result.end == .cancelled && result.applied == 1 && result.remaining == 1, "\(result)")
        #expect(try await device.queue() == ["insert b pending"])
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
        #expect(device.server.calls == ["PATCH /tables/todos/a"])
    }

    @Test("a discard during the push waits for the answer and refuses to take back what is sent")
    func discardDuringPush() async throws {
        let done = Recorder<String>()
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a"])
        let operation = try #require(try await device.context.queue.operations().first)
        let context = device.context
        let tasks = Mutex<Task<Void, any Error>?>(nil)
        device.server.onRequest { _ in
            tasks.withLock {
                $0 = Task.detached {
                    try await context.queue.discard(operation.id)
                    done.add("discarded")
                }
            }
            for _ in 0..<20 { await Task.yield() }
            done.add("answered")
            return .none
        }
        #expect(try await context.push().isClean)
        let discard = tasks.withLock { $0 }
        await #expect(throws: SluiceError.self) { try await discard?.value }
        #expect(done.all == ["answered"] && device.remote("a") != nil)
    }
}

/// Edits the record once, when its request is on its way down the chain.
private final class EditBeforeSeal: RequestFilter {
    let todos = Mutex<SyncTable<JSON>?>(nil)

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        let table = todos.withLock { table in
            defer { table = nil }
            return table
        }
        if request.isWrite { _ = try await table?.update(["id": "a", "n": 7]) }
        return try await next(request)
    }
}
