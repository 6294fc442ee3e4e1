import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A push ends however much is written meanwhile")
struct BoundedPushTests {
    /// A device that writes another record with each of its requests.
    private func restless(_ adjust: (inout SyncOptions) -> Void = { _ in }) async throws -> Device {
        let device = try await Device(.memory, adjust: adjust)
        let (todos, count) = (device.todos, Counter())
        device.server.onRequest { request in
            // More than a push that went on would ever get through here.
            let number = request.isWrite ? count.next() : 500
            if number < 500 { _ = try? await todos.insert(["id": JSON("later\(number)")]) }
            return .none
        }
        return device
    }

    @Test("it sends what was queued when it began, and says what came meanwhile", arguments: [1, 4])
    func ends(concurrency: Int) async throws {
        let device = try await restless { $0.concurrency = concurrency }
        for id in 0..<5 { try await device.todos.insert(["id": JSON("r\(id)")]) }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 5, "\(result)")
        #expect(result.remaining == 5 && result.waiting == 5 && !result.isClean)
        #expect(try await device.context.status().pending == 5)
    }

    @Test("the pull after it has its turn")
    func pullHasItsTurn() async throws {
        let device = try await restless()
        device.server.seed("todos", [["id": "theirs"]])
        try await device.todos.insert(["id": "mine"])
        let result = try await device.todos.pull()
        #expect(result.push?.applied == 1 && result.push?.waiting == 1)
        #expect(try await device.local("theirs") != nil)
    }

    @Test("an edit of what is under way follows once, and one made during that is for the next push")
    func successor() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a", "n": 1])
        let (todos, count) = (device.todos, Counter())
        device.server.onRequest { request in
            if request.isWrite { _ = try? await todos.update(["id": "a", "n": JSON(count.next() + 1)]) }
            return .none
        }
        let first = try await device.context.push()
        #expect(first.applied == 2 && first.waiting == 1 && device.remote("a")?["n"] == 2, "\(first)")
        device.server.onRequest(nil)
        let second = try await device.context.push()
        #expect(second.isClean && second.applied == 1 && second.waiting == 0 && device.remote("a")?["n"] == 3)
    }

    @Test("a group that comes meanwhile waits whole")
    func group() async throws {
        let device = try await Device(.memory, batchSize: 10)
        device.server.offer([.batches])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        device.server.seed("todos", [["id": "a", "n": 5]])
        try await device.todos.update(["id": "a", "n": 2])
        let (context, isDone) = (device.context, Flag())
        device.server.onRequest { _ in
            if !isDone.isSet {
                _ = try? await context.group { group in
                    try group.insert(["id": "b"], in: "todos")
                    try group.insert(["id": "c"], in: "todos")
                }
            }
            isDone.set()
            return .none
        }
        _ = try await device.context.push()
        #expect(device.remote("b") == nil && device.remote("c") == nil)
        device.server.onRequest(nil)
        _ = try await device.context.push()
        #expect(device.remote("b") != nil && device.remote("c") != nil)
    }

    @Test("what a conflict's decision leaves to be said belongs to the push that met it")
    func decision() async throws {
        let device = try await Device(.memory, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.softDelete("todos", "a")
        let result = try await device.context.push()
        #expect(result.isClean && device.remote("a")?["n"] == 2, "\(result)")
    }

    @Test("what waits after a parked one is not said to have come meanwhile")
    func parked() async throws {
        let device = try await Device(.memory)
        device.server.onRequest { $0.isWrite ? .answer(.model(400, nil)) : .none }
        try await device.todos.insert(["id": "a"])
        _ = try await device.context.push()
        let result = try await device.context.push()
        #expect(result.remaining == 1 && result.waiting == 0)
    }
}
