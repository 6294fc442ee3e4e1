import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A run of pushes and pulls is one attempt, whatever it pulls")
struct SyncRunTests {
    private let tables = ["t1", "t2", "t3"]

    /// A device with a change in each table, and a server that fails at all of them with 500.
    private func device(_ kind: StoreKind) async throws -> Device {
        let device = try await Device(kind)
        for table in tables {
            device.server.seed(table, [["id": "a", "n": 1]])
            try await pull(device, table)
            try await device.context.table(table).update(["id": "a", "n": 2])
        }
        device.server.onRequest { $0.isWrite ? .answer(.model(500, nil)) : .none }
        return device
    }

    private func pull(_ device: Device, _ table: String) async throws {
        try await device.context.table(table).pull(named: "all")
    }

    private func attempts(_ device: Device) async throws -> [[Int]] {
        try await device.context.queue.operations().map { [$0.attempts, $0.failedAttempts] }
    }

    @Test("a push and its pulls", arguments: StoreKind.allCases)
    func sync(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for run in 1...3 {
            _ = try await device.context.push()
            for table in tables { try await pull(device, table) }
            #expect(try await attempts(device) == [[run, run], [run, run], [run, run]])
        }
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
    }

    @Test("pulls alone: the first of them tries, and the same one again", arguments: StoreKind.allCases)
    func pulls(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for run in 1...3 {
            for table in tables { try await pull(device, table) }
            #expect(try await attempts(device) == [[run, run], [run, run], [run, run]])
        }
        device.server.onRequest(nil)
        try await pull(device, "t1")
        #expect(try await device.queue().isEmpty)
    }

    @Test("what is edited, revived or new goes with the next pull", arguments: StoreKind.allCases)
    func edited(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await pull(device, "t1")
        #expect(try await device.queue().count == 3)
        try await device.context.table("t2").update(["id": "a", "n": 3])
        try await device.context.table("t2").insert(["id": "b", "n": 3])
        let t2 = try device.context.table("t2")
        #expect(try await t2.pull(named: "all").push?.applied == 2)
        #expect(device.server.rows("t2")["a"]?["n"] == 3 && device.server.rows("t2")["b"]?["n"] == 3)
    }

    @Test("a push that ended early is made again by the next pull", arguments: StoreKind.allCases)
    func network(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        #expect(try await device.context.push().end == .network)
        device.server.onRequest(nil)
        try await pull(device, "t1")
        #expect(try await device.queue().isEmpty)
    }

    @Test("a run of a scheduler counts once, and reports each failure once")
    func scheduler() async throws {
        let device = try await device(.memory)
        let schedule = SyncSchedule(pulls: tables.map { .init(TableQuery($0), named: "all") }, spread: .zero)
        let scheduler = SyncScheduler(device.context, schedule)
        var runs = scheduler.runs.makeAsyncIterator()
        let task = Task { try await scheduler.run() }
        let run = try #require(await runs.next())
        task.cancel()
        _ = try? await task.value
        #expect(run.pulls.count == 3 && run.pulls.allSatisfy { $0.push == nil })
        #expect(run.push?.failures.count == 3)
        #expect(try await attempts(device) == [[1, 1], [1, 1], [1, 1]])
    }
}
