import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Hooks before an operation is sent")
struct BeforePushTests {
    /// A device with an update of a, an insert of b and a delete of c, whose hook decides about a.
    private func device(
        _ kind: StoreKind, batchSize: Int = 1,
        _ decide: @escaping @Sendable (TableOperation, JSON?) async throws -> BeforePushDecision
    ) async throws -> Device {
        let hook = TestHook(
            hookName: "gate", push: { $0.recordID == "a" ? try await decide($0, $1) : .send })
        let device = try await Device(kind, hooks: [hook], batchSize: batchSize)
        device.server.offer([.batches, .requestIDs])
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "c", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.insert(["id": "b", "n": 2])
        try await device.todos.delete(id: "c")
        device.server.clearLog()
        return device
    }

    @Test(
        "a skipped operation stays pending with the reason, and other records go", arguments: StoreKind.allCases,
        [1, 10])
    func skip(_ kind: StoreKind, _ batchSize: Int) async throws {
        let skips = Shared(true)
        let device = try await device(kind, batchSize: batchSize) { operation, record in
            #expect(operation.kind == .update && record?["n"] == 2)
            return skips.value ? .skip(reason: "not today") : .send
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 2 && result.postponed == 1 && result.failures == [])
        #expect(!result.isClean && result.remaining == 1)
        #expect(device.remote("a")?["n"] == 1 && device.remote("b") != nil && device.remote("c") == nil)
        let operation = try #require(try await device.operation("a"))
        #expect(operation.state == .pending && operation.attempts == 0 && operation.failedAttempts == 0)
        #expect(operation.failure?.code == "postponed" && operation.failure?.message == "gate: not today")
        skips.value = false
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
        #expect(try await device.states() == 0)
    }

    @Test("a deferred operation waits for its time without being asked about", arguments: StoreKind.allCases)
    func `defer`(_ kind: StoreKind) async throws {
        let calls = Shared(0)
        // The clock of a test device moves on by a millisecond each time it is looked at.
        let device = try await device(kind) { _, _ in
            calls.change { $0 += 1 }
            return calls.value == 1 ? .defer(.seconds(3600), reason: "later") : .send
        }
        #expect(try await device.context.push().postponed == 1)
        let before = try #require(try await device.operation("a")?.notBefore)
        #expect(try await device.context.push().postponed == 1)
        #expect(calls.value == 1)
        let now = device.context.options.environment.now()
        #expect(now.duration(to: before) > .seconds(3590) && now.duration(to: before) <= .seconds(3600))
        // An edit is another body: the hook is asked about that.
        try await device.todos.update(["id": "a", "n": 3])
        #expect(try await device.context.push().isClean)
        #expect(calls.value == 2 && device.remote("a")?["n"] == 3)
    }

    @Test("a time is over in the end, and a clock that was set back does not hold it for ever")
    func time() throws {
        var operation = TableOperation(
            id: "1", sequence: 1, table: "todos", recordID: "a", kind: .insert, createdAt: Timestamp(ticks: 0))
        let now = Timestamp(ticks: 17_000_000_000_000_000)
        #expect(!operation.waits(at: now))
        operation.notBefore = now.advanced(by: .seconds(10))
        #expect(operation.waits(at: now) && !operation.waits(at: now.advanced(by: .seconds(10))))
        #expect(!operation.waits(at: now.advanced(by: .seconds(-40 * 86_400))))
        #expect(try TableOperation(record: operation.record).notBefore == operation.notBefore)
        // Nor for longer than the hook has asked for, also after it was stored.
        operation.wait(for: .seconds(10), from: now)
        let stored = try TableOperation(record: operation.record)
        #expect(stored == operation && stored.waits(at: now) && !stored.waits(at: now.advanced(by: .seconds(-60))))
    }

    @Test("what stands after it on the record waits too", arguments: StoreKind.allCases)
    func successors(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _, _ in .skip(reason: "no") }
        try await device.todos.update(["id": "a", "m": 1], options: OperationOptions(isMergeable: false))
        #expect(
            try await device.queue() == ["update a pending", "insert b pending", "delete c pending"] + [
                "update a pending"
            ])
        let result = try await device.context.push()
        #expect(result.applied == 2)
        #expect(try await device.queue() == ["update a pending", "update a pending"])
    }

    @Test("a hook that throws leaves the operation pending with the error, as a failure", arguments: StoreKind.allCases)
    func throwing(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _, _ in throw HookMishap() }
        for _ in 0..<12 { try await device.context.push() }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.failures.map(\.recordID) == ["a"] && result.postponed == 0)
        let operation = try #require(try await device.operation("a"))
        #expect(operation.state == .pending && operation.failedAttempts == 0 && operation.attempts == 0)
        #expect(operation.failure?.code == "hookFailed")
        #expect(operation.failure?.message.contains("gate") == true)
        #expect(operation.failure?.message.contains("HookMishap") == true)
    }

    @Test("an operation can become one of another kind, and the hooks see it as that", arguments: StoreKind.allCases)
    func changeKind(_ kind: StoreKind) async throws {
        let seen = Shared<[TableOperation.Kind]>([])
        let device = try await device(kind) { operation, _ in
            seen.change { $0.append(operation.kind) }
            return operation.kind == .update ? .changeKind(.delete, nil) : .send
        }
        #expect(try await device.context.push().isClean)
        #expect(seen.value == [.update, .delete])
        #expect(device.remote("a") == nil)
        #expect(try await device.audit().map { $0["what"] } == ["change to delete"])
    }

    @Test("an operation can get another record", arguments: StoreKind.allCases)
    func changeRecord(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _, record in
            guard var record, record["by"] == nil else { return .send }
            record["by"] = "hook"
            return .changeKind(.update, record)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2, "by": "hook"])
        #expect(try await device.local("a") == ["id": "a", "n": 2, "by": "hook"])
    }

    @Test(
        "a change that makes no sense, or never ends, leaves it pending with the reason", arguments: StoreKind.allCases)
    func impossible(_ kind: StoreKind) async throws {
        let wanted = Shared<(kind: TableOperation.Kind, record: JSON?)>((.insert, nil))
        let device = try await device(kind) { _, _ in .changeKind(wanted.value.kind, wanted.value.record) }
        for (kind, record) in [(.insert, nil), (.update, [1]), (.update, ["id": "z"]), (.update, ["id": "a", "n": 5])]
            as [(TableOperation.Kind, JSON?)]
        {
            wanted.value = (kind, record)
            let result = try await device.context.push()
            #expect(result.end == .completed && result.failures.map(\.recordID) == ["a"])
            let operation = try #require(try await device.operation("a"))
            #expect(operation.state == .pending && operation.failure?.code == "hookFailed")
        }
        #expect(device.remote("a")?["n"] == 1)
    }

    @Test("where one of a group is skipped, none is sent", arguments: StoreKind.allCases)
    func group(_ kind: StoreKind) async throws {
        let skips = Shared(true)
        let hook = TestHook(push: { operation, _ in
            operation.recordID == "b" && skips.value ? .skip(reason: "wait") : .send
        })
        let device = try await Device(kind, hooks: [hook], batchSize: 10)
        device.server.offer([.batches])
        try await device.context.group { group in
            for id in ["a", "b", "c"] { try group.insert(["id": JSON(id)], in: "todos") }
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 0)
        #expect(device.server.rows("todos").isEmpty)
        skips.value = false
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos").count == 3)
    }

    @Test("cancelling the push while a hook thinks changes nothing", arguments: StoreKind.allCases)
    func cancelled(_ kind: StoreKind) async throws {
        let device = try await device(kind) { _, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            try await Task.sleep(for: .seconds(100))
            return .send
        }
        let before = try await device.context.queue.operations()
        let result = try await Task { try await device.context.push() }.value
        #expect(result.end == .cancelled && result.applied == 0)
        #expect(try await device.context.queue.operations() == before)
    }

    @Test("hooks are asked in their order, and the first that does not send decides", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let asked = Shared<[String]>([])
        let hooks = [BeforePushDecision.send, .skip(reason: "second"), .skip(reason: "third")].enumerated().map {
            index, answer in
            TestHook(
                hookName: "\(index)",
                push: { _, _ in
                    asked.change { $0.append("\(index)") }
                    return answer
                })
        }
        let device = try await Device(kind, hooks: hooks)
        try await device.todos.insert(["id": "a"])
        try await device.context.push()
        #expect(asked.value == ["0", "1"])
        #expect(try await device.operation("a")?.failure?.message == "1: second")
    }
}
