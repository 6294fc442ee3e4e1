import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Queue: a failed operation can be seen, edited, retried and discarded")
struct QueueRepairTests {
    /// A device whose first write is answered `status` while `edit` is made.
    private func refused(
        _ kind: StoreKind, _ status: Int, _ first: (Device) async throws -> Void,
        during edit: @escaping @Sendable (SyncTable<JSON>) async throws -> Void
    ) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await first(device)
        let todos = device.todos
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            try? await edit(todos)
            return .answer(.model(status, ["error": "no"]))
        }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        return device
    }

    private func discard(_ device: Device, _ index: Int) async throws {
        try await device.context.queue.discard(device.context.queue.operations()[index].id)
    }

    @Test("the audit of a discard keeps the newest edit, not the one that was sent", arguments: StoreKind.allCases)
    func auditOfEdited(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 400) {
            try await $0.todos.update(["id": "a", "n": 2])
        } during: { _ in
        }
        try await device.todos.update(["id": "a", "n": 3])
        try await discard(device, 0)
        #expect(try await device.audit().first?["local"]?["n"] == 3)
        #expect(try await device.local("a")?["n"] == 1)
        #expect(try await device.queue().isEmpty)
    }

    @Test("a discard of what was looked at takes no later edit along", arguments: StoreKind.allCases)
    func discardAsSeen(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 400) {
            try await $0.todos.update(["id": "a", "n": 2])
        } during: { _ in
        }
        let seen = try #require(try await device.context.queue.operations().first)
        try await device.todos.update(["id": "a", "n": 3])
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.discard(seen.id, revision: seen.revision)
        }
        #expect(error?.code == .operationRefused && error?.recordID == "a")
        #expect(try await device.local("a")?["n"] == 3)
        let now = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.discard(now.id, revision: now.revision)
        #expect(try await device.local("a")?["n"] == 1)
        #expect(try await device.queue().isEmpty)
    }

    @Test("an insert after a discarded delete stays", arguments: StoreKind.allCases)
    func insertBehindDelete(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 403) {
            try await $0.todos.delete(id: "a")
        } during: { _ in
        }
        try await device.todos.insert(["id": "a", "n": 7])
        try await discard(device, 0)
        #expect(try await device.local("a")?["n"] == 7)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 7)
    }

    @Test("a discarded undelete takes its edits along and the delete stands", arguments: StoreKind.allCases)
    func undeleteBetween(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 503) {
            try await $0.todos.delete(id: "a")
        } during: {
            try await $0.undelete(id: "a")
            try await $0.update(["id": "a", "n": 5])
        }
        #expect(try await device.queue() == ["delete a pending", "undelete a pending", "update a pending"])
        try await discard(device, 1)
        #expect(try await device.queue() == ["delete a pending"])
        #expect(try await device.local("a") == nil)
        #expect(try await device.audit().contains { $0["local"]?["n"] == 5 })
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
    }

    @Test("an undelete of what was never seen here deletes nothing that the server has", arguments: StoreKind.allCases)
    func undeleteOfUnknown(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 503) {
            try await $0.todos.insert(["id": "b", "n": 1])
        } during: { _ in
        }
        try await device.todos.delete(id: "b")
        try await device.todos.undelete(id: "b")
        device.server.seed("todos", [["id": "b", "n": 7]])
        try await device.todos.pull()
        try await discard(device, 0)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b")?["n"] == 7)
        #expect(try await device.local("b")?["n"] == 7)
    }

    @Test("an edit repairs a refused operation, edits during its send included", arguments: StoreKind.allCases)
    func editRepairs(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 400) {
            try await $0.todos.insert(["id": "new", "n": 1])
        } during: {
            try await $0.update(["id": "new", "m": 1])
        }
        #expect(try await device.local("new") == ["id": "new", "n": 1, "m": 1])
        device.server.onRequest { request in
            (try? request.body.json["n"]) == 1 ? .answer(.model(400, ["error": "no"])) : .none
        }
        try await device.todos.update(["id": "new", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("new") == ["id": "new", "n": 2, "m": 1])
    }

    @Test("discard while a push sends the operation waits for its outcome", arguments: StoreKind.allCases)
    func discardDuringPush(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        let id = try #require(try await device.context.queue.operations().first?.id)
        let queue = device.context.queue
        let task = Mutex<Task<Void, any Error>?>(nil)
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            task.withLock { $0 = Task.detached { try await queue.discard(id) } }
            await Task.yield()
            return .none
        }
        #expect(try await device.context.push().applied == 1)
        let discarding = task.withLock { $0 }
        await #expect(throws: SluiceError.self) { try await discarding?.value }
        #expect(device.remote("a")?["n"] == 1)
        #expect(try await device.local("a")?["n"] == 1)
    }

    @Test(
        "what would wait for the push from inside of it is refused instead of waiting for ever",
        .timeLimit(.minutes(10)), arguments: 0..<4)
    func reentrance(_ index: Int) async throws {
        let context = Mutex<SyncContext?>(nil)
        let errors = Mutex<[SluiceError.Code]>([])
        let handler = ConflictClosure { conflict in
            guard let context = context.withLock({ $0 }) else { return .ask }
            do {
                switch index {
                case 0: _ = try await context.push()
                case 1: try await context.pull(TableQuery("todos"))
                case 2: try await context.purge(TableQuery("todos"), force: true)
                default: try await context.queue.discard(conflict.operation.id)
                }
            } catch let error as SluiceError {
                errors.withLock { $0.append(error.code) }
            }
            return .ask
        }
        let device = try await Device(.memory, handlers: [handler])
        context.withLock { $0 = device.context }
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 3]])
        let result = try await device.context.push()
        #expect(result.end == .completed)
        #expect(errors.withLock { $0 } == [.invalidArgument])
        #expect(try await device.queue() == ["update a parked"])
    }

    @Test("a task that a handler starts may push once this push is over", .timeLimit(.minutes(10)))
    func pushAfterwards() async throws {
        let context = Mutex<SyncContext?>(nil)
        let later = Mutex<Task<PushResult, any Error>?>(nil)
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let handler = ConflictClosure { _ in
            guard let context = context.withLock({ $0 }) else { return .ask }
            later.withLock {
                $0 =
                    $0
                    ?? Task {
                        for await _ in gate {}
                        return try await context.push()
                    }
            }
            return .ask
        }
        let device = try await Device(.memory, handlers: [handler])
        context.withLock { $0 = device.context }
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 3]])
        _ = try await device.context.push()
        opener.finish()
        #expect(try await later.withLock { $0 }?.value.end == .completed)
    }

    @Test("a cancelled handler leaves its operation pending", arguments: StoreKind.allCases)
    func cancelledHandler(_ kind: StoreKind) async throws {
        let (started, signal) = AsyncStream<Void>.makeStream()
        let handler = ConflictClosure { _ in
            signal.finish()
            try await Task.sleep(for: .seconds(60))
            return .server
        }
        let device = try await Device(kind, handlers: [handler])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 3]])
        let push = Task { try await device.context.push() }
        for await _ in started {}
        push.cancel()
        #expect(try await push.value.end == .cancelled)
        #expect(try await device.queue() == ["update a pending"])
    }

    @Test("a filter that edits the record it sends does not push for ever", .timeLimit(.minutes(10)))
    func endlessEdits() async throws {
        final class Editing: RequestFilter {
            let table = Mutex<SyncTable<JSON>?>(nil)
            let count = Mutex(0)
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                if request.isWrite, let table = table.withLock({ $0 }) {
                    let n = count.withLock {
                        $0 += 1
                        return $0
                    }
                    if n > 200 { throw SluiceError(.filter, "this goes on for ever") }
                    try await table.update(["id": "a", "n": JSON(n)])
                }
                return try await next(request)
            }
        }
        let filter = Editing()
        let device = try await Device(.memory, filters: [filter])
        try await device.todos.insert(["id": "a", "n": 0])
        filter.table.withLock { $0 = device.todos }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.remaining == 1)
        #expect(filter.count.withLock { $0 } < 20)
    }
}
