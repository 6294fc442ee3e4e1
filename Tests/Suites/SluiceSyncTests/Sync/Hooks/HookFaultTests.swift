import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A hook that fails at any call loses nothing, moves no cursor and counts as no success")
struct HookFaultTests {
    /// How a hook fails.
    enum Failure: String, CaseIterable, CustomTestStringConvertible {
        case throwing, cancelling

        var testDescription: String { rawValue }
    }

    /// What the store held when the hook failed.
    private struct Snapshot: Sendable {
        var point: HookPoint
        var operationID: String?
        var operations: [TableOperation]
        var rows: [JSON]
        var cursors: [JSON]

        init(_ point: HookPoint, _ operationID: String?, _ store: any LocalStore) async throws {
            self.point = point
            self.operationID = operationID
            (operations, rows, cursors) = try await store.read { reader in
                (
                    try QueueReader(reader).all(),
                    try reader.records(matching: TableQuery("todos", order: [.init("id")])),
                    try reader.records(matching: TableQuery(Cursor.schema.name))
                )
            }
        }
    }

    /// A device whose hook fails at its call of that number.
    private final class Stage: Sendable {
        let store: any LocalStore
        let calls = Shared(0)
        let failsAt: Int
        let failure: Failure
        let snapshot = Shared<Snapshot?>(nil)

        init(_ store: any LocalStore, failsAt: Int, _ failure: Failure) {
            self.store = store
            self.failsAt = failsAt
            self.failure = failure
        }

        func call(_ point: HookPoint, _ operationID: String? = nil) async throws {
            calls.change { $0 += 1 }
            guard calls.value == failsAt else { return }
            snapshot.value = try await Snapshot(point, operationID, store)
            if failure == .cancelling {
                withUnsafeCurrentTask { $0?.cancel() }
                throw CancellationError()
            }
            throw HookMishap()
        }

        var hook: TestHook {
            TestHook(
                enqueue: { [self] change in
                    try await call(.beforeEnqueue)
                    guard var record = change.record else { return .accept }
                    record["h"] = 1
                    return .change(record)
                },
                push: { [self] operation, _ in
                    try await call(.beforePush, operation.id)
                    return .send
                },
                error: { [self] failure in
                    try await call(.onPushError, failure.operation.id)
                    return .next
                },
                pull: { [self] page in
                    try await call(.afterPull)
                    return page.rows.map { row in
                        var record = row.record
                        record["h"] = 1
                        return .change(record)
                    }
                })
        }
    }

    /// Plays the scenario.
    ///
    /// - Returns: how often a hook was asked.
    private func play(_ kind: StoreKind, failsAt: Int, _ failure: Failure) async throws -> Int {
        let store = try await kind.make()
        let stage = Stage(store, failsAt: failsAt, failure)
        let device = try await Device(kind, hooks: [stage.hook], batchSize: 10, store: store) { $0.pageSize = 2 }
        device.server.offer([.requestIDs, .batches])
        device.server.seed("todos", (0..<5).map { ["id": JSON("r\($0)"), "n": 0] })
        func step(_ body: @escaping @Sendable () async throws -> Int) async throws {
            stage.snapshot.value = nil
            // What is cancelled is this task alone.
            let result = await Task { try await body() }.result
            try await check(result, stage, device)
        }
        let (todos, context) = (device.todos, device.context)
        // Until the rows are here, whichever pull fails.
        while try await todos.count() < 5 { try await step { try await todos.pull(named: "all").stored } }
        try await step { try await todos.insert(["id": "x", "n": 1]).names.count }
        try await step { try await todos.update(["id": "r0", "n": 1]).names.count }
        try await step {
            try await todos.delete(id: "r1")
            return 0
        }
        try await step {
            try await context.group { group in
                try group.update(["id": "r2", "n": 1], in: "todos")
                try group.insert(["id": "y", "n": 1], in: "todos")
            }
            return 0
        }
        for status in [422, 500, 200] {
            device.server.onRequest { request in
                request.isWrite && status != 200 ? .answer(.json(status, "")) : .none
            }
            try await step { try await context.push().applied }
            try await context.queue.retryAll()
        }
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "r3", "n": 5]])
        device.server.softDelete("todos", "r4")
        try await step { try await todos.pull(named: "all").stored }
        let calls = stage.calls.value
        // Another time all goes well.
        try await context.queue.retryAll()
        let result = try await context.push()
        #expect(result.isClean, "\(result)")
        try await todos.pull(named: "all")
        for (id, row) in device.server.rows("todos") {
            var local = try await todos.lookup(id: id)
            local?["h"] = nil
            var remote: JSON? = row["deleted"] == true ? nil : row
            remote?["h"] = nil
            #expect(local == remote, "\(id)")
        }
        return calls
    }

    private func check(_ result: Result<Int, any Error>, _ stage: Stage, _ device: Device) async throws {
        guard let before = stage.snapshot.value else { return }
        let after = try await Snapshot(before.point, nil, stage.store)
        #expect(after.cursors == before.cursors)
        switch before.point {
        case .beforeEnqueue:
            #expect(throws: SluiceError.self) { try result.get() }
            #expect(after.operations == before.operations && after.rows == before.rows)
        case .afterPull:
            #expect(throws: SluiceError.self) { try result.get() }
            #expect(after.rows == before.rows && after.operations == before.operations)
        case .beforePush, .onPushError:
            let id = try #require(before.operationID)
            let old = try #require(before.operations.first { $0.id == id })
            let new = try #require(after.operations.first { $0.id == id }, "the operation is gone")
            // That the send which has just failed may be done is known by then.
            let sent = { (operation: TableOperation) in
                operation.sent.map { body in
                    var body = body
                    if before.point == .onPushError { body.mayBeDone = false }
                    return body
                }
            }
            #expect(new.kind == old.kind && new.revision == old.revision && sent(new) == sent(old))
            #expect(new.frozen == old.frozen && new.tags == old.tags && new.group == old.group)
            #expect(device.server.rows("todos")[old.recordID]?["n"] != 1)
            if before.point == .beforePush { #expect(new.attempts == old.attempts && new.state == .pending) }
        }
    }

    @Test("a hook that fails at any call", arguments: StoreKind.allCases, Failure.allCases)
    func anywhere(_ kind: StoreKind, _ failure: Failure) async throws {
        let calls = try await play(kind, failsAt: .max, failure)
        #expect(calls > 20)
        for call in 1...calls { _ = try await play(kind, failsAt: call, failure) }
    }
}
