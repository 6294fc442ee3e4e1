import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Every wait ends at once when its task is cancelled")
struct CancelledWaitTests {
    /// Stands still until it is let go.
    private final class Gate: Sendable {
        private let (stream, continuation) = AsyncStream<Void>.makeStream()
        private let arrived = Mutex(false)
        var isReached: Bool { arrived.withLock { $0 } }
        func open() { continuation.finish() }
        func pass() async {
            arrived.withLock { $0 = true }
            // Not ended by the task's cancellation: as slow as a hook may be.
            await Task { for await _ in stream {} }.value
        }
        func reached() async { while !isReached { await Task.yield() } }
    }

    @Test("a push after another, a pull and a repair after it", arguments: 0..<4)
    func behindAnother(_ kind: Int) async throws {
        let gate = Gate()
        let device = try await Device(.memory)
        let (context, todos) = (device.context, device.todos)
        try await todos.insert(["id": "a", "n": 1])
        let id = try #require(try await context.queue.operations().first?.id)
        device.server.onRequest { _ in
            await gate.pass()
            return .none
        }
        let first = Task { try await context.push() }
        await gate.reached()
        let second = Task {
            switch kind {
            case 0: _ = try await context.push()
            case 1: _ = try await todos.pull()
            case 2: try await context.queue.discard(id)
            default: _ = try await context.purge(TableQuery("todos"), force: true)
            }
        }
        for _ in 0..<100 { await Task.yield() }
        second.cancel()
        // It ends although the first one still stands at the gate.
        let error = await #expect(throws: SluiceError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        #expect(!first.isCancelled)
        gate.open()
        #expect(try await first.value.isClean)
        #expect(try await context.push().isClean, "the one that was cancelled has left no turn behind")
    }

    @Test("those after it keep their turn, in order")
    func order() async throws {
        let activity = SerialActivity()
        let gate = Gate()
        let ended = Recorder<Int>()
        let first = Task { try await activity.run { await gate.pass() } }
        await gate.reached()
        var tasks: [Task<Void, any Error>] = []
        for number in 1...3 {
            tasks.append(Task { try await activity.run { ended.add(number) } })
            for _ in 0..<100 { await Task.yield() }
        }
        tasks[1].cancel()
        await #expect(throws: SluiceError.self) { try await tasks[1].value }
        gate.open()
        try await first.value
        try await tasks[0].value
        try await tasks[2].value
        #expect(ended.all == [1, 3])
    }

    @Test("a task that is cancelled before it waits does not run")
    func cancelledBefore() async throws {
        let activity = SerialActivity()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await activity.run { Issue.record("it ran") }
        }
        task.cancel()
        await #expect(throws: SluiceError.self) { try await task.value }
        try await activity.run {}
    }

    @Test("a scheduler that waits after a push")
    func scheduler() async throws {
        let gate = Gate()
        let device = try await Device(.memory)
        let context = device.context
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { _ in
            await gate.pass()
            return .none
        }
        let push = Task { try await context.push() }
        await gate.reached()
        let scheduler = SyncScheduler(context, SyncSchedule(spread: .zero))
        let running = Task { try await scheduler.run() }
        for _ in 0..<200 { await Task.yield() }
        running.cancel()
        try await running.value
        gate.open()
        #expect(try await push.value.isClean)
    }
}
