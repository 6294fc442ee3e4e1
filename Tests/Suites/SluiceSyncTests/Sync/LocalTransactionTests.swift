import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("A transaction: local reads and writes of several records and tables, all or none")
struct LocalTransactionTests {
    @Test("rows and operations of two tables are there, and reads see what was written", arguments: StoreKind.allCases)
    func made(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        let sum = try await device.context.write(options: OperationOptions(tags: ["batch"])) { transaction in
            #expect(transaction.group == nil)
            try transaction.update(["id": "a", "n": 2], in: "todos")
            try transaction.insert(["id": "b", "n": 5], in: "todos")
            try transaction.insert(["id": "a", "text": "note"], in: "notes")
            #expect(try transaction.lookup(id: "a", in: "todos")?["n"] == 2)
            #expect(try transaction.count(matching: TableQuery("notes")) == 1)
            return try transaction.records(matching: TableQuery("todos")).reduce(0) { $0 + ($1["n"]?.int ?? 0) }
        }
        #expect(sum == 7)
        #expect(try await device.queue() == ["insert a pending", "insert b pending", "insert a pending"])
        #expect(try await device.context.queue.operations(TableOperation.Filter(tag: "batch")).count == 3)
        // Each goes by itself, on a wire without batches.
        #expect(try await device.context.push().applied == 3)
        #expect(device.server.rows("notes").count == 1 && device.remote("a")?["n"] == 2)
    }

    @Test("where one change is refused or the body throws, none has happened", arguments: StoreKind.allCases)
    func allOrNothing(_ kind: StoreKind) async throws {
        struct Stop: Error {}
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        await #expect(throws: SluiceError.self) {
            try await device.context.write { transaction in
                try transaction.delete(id: "a", in: "todos")
                try transaction.update(["id": "missing"], in: "todos")
            }
        }
        await #expect(throws: Stop.self) {
            try await device.context.write { transaction in
                try transaction.insert(["id": "b"], in: "todos")
                throw Stop()
            }
        }
        #expect(try await device.queue() == ["insert a pending"])
        #expect(try await device.todos.count() == 1)
    }

    @Test("a source of ids that repeats one replaces no record")
    func repeatedID() async throws {
        var options = SyncOptions()
        options.environment = SyncEnvironment(now: { Timestamp(ticks: 0) }, makeID: { "same" })
        let context = try await SyncContext(store: MemoryStore(), tables: [TableSchema("todos")], options: options)
        try await context.table("todos").insert(["n": 1])
        for _ in 0..<2 {
            let error = await #expect(throws: SluiceError.self) {
                try await context.write { try $0.insert(["n": 2], in: "todos") }
            }
            #expect(error?.code == .recordExists)
        }
        #expect(try await context.table("todos").lookup(id: "same")?["n"] == 1)
    }

    @Test("hooks see each change, decide it, and refuse the whole", arguments: StoreKind.allCases)
    func hooks(_ kind: StoreKind) async throws {
        let hook = TestHook(enqueue: { change in
            guard var record = change.record else { return .accept }
            if record["n"] == 13 { return .reject(EnqueueDecision.Refusal("unlucky")) }
            record["seen"] = true
            return .change(record)
        })
        let device = try await Device(kind, hooks: [hook])
        try await device.context.write { transaction in
            for id in ["a", "b"] { try transaction.insert(["id": JSON(id), "n": 1], in: "todos") }
        }
        #expect(try await device.todos.records().allSatisfy { $0["seen"] == true })
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.write { transaction in
                try transaction.delete(id: "a", in: "todos")
                try transaction.update(["id": "b", "n": 13], in: "todos")
            }
        }
        #expect(error?.code == .refusedByHook && error?.recordID == "b")
        #expect(try await device.todos.count() == 2)
    }

    @Test("a change made twice is one operation, and observers hear of one commit", arguments: StoreKind.allCases)
    func collapses(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        var changes = device.context.changes.makeAsyncIterator()
        try await device.context.write { transaction in
            try transaction.insert(["id": "a", "n": 1], in: "todos")
            try transaction.update(["id": "a", "n": 2], in: "todos")
            try transaction.insert(["id": "b"], in: "todos")
            try transaction.delete(id: "b", in: "todos")
        }
        #expect(try await device.queue() == ["insert a pending"])
        #expect(await changes.next()?.changes.map(\.recordID).contains("a") == true)
    }
}
