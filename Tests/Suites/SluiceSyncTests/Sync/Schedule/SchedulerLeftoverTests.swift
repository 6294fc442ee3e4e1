import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceCore
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("SyncScheduler: what a decision leaves of a group comes after the delay of changes")
struct SchedulerLeftoverTests {
    @Test("a group of which a decision has moved a part to the end of the queue")
    func movedPart() async throws {
        let time = VirtualTime()
        let environment = time.environment()
        var options = ClientOptions(retry: .never, environment: environment)
        options.timer = { _ in try await Task.sleep(for: .seconds(86_400)) }
        let server = ModelServer()
        server.offer([.batches])
        server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: options)
        let context = try await SyncContext(
            client: client, store: MemoryStore(),
            options: SyncOptions(
                conflictHandlers: [ConflictClosure { _ in .delete }], batchSize: 10, commitLag: .zero,
                environment: environment))
        try await context.table("todos").pull()
        _ = try await context.group { group in
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.update(["id": "b", "n": 2], in: "todos")
        }
        server.seed("todos", [["id": "b", "n": 5]])
        let scheduler = SyncScheduler(context, SyncSchedule(interval: .seconds(100), spread: .zero))
        var runs = scheduler.runs.makeAsyncIterator()
        let running = Task { try await scheduler.run() }
        let first = try #require(await runs.next())
        #expect(first.push?.remaining == 2 && first.push?.waiting == 2, "\(first)")
        #expect(await time.pause() == .seconds(1))
        time.pass(.seconds(1))
        let second = try #require(await runs.next())
        #expect(second.push?.isClean == true, "\(second)")
        #expect(server.rows("todos")["a"]?["n"] == 2 && server.rows("todos")["b"]?["deleted"] == true)
        running.cancel()
        try await running.value
    }
}
