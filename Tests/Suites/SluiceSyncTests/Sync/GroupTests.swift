import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Groups: changes that belong together are stored, given up and tried again together")
struct GroupTests {
    private func device(_ kind: StoreKind, batchSize: Int = 10) async throws -> Device {
        let device = try await Device(kind, batchSize: batchSize)
        device.server.seed("todos", [["id": "a", "n": 0], ["id": "b", "n": 0], ["id": "c", "n": 0]])
        try await device.todos.pull()
        return device
    }

    private func transfer(_ device: Device) async throws {
        try await device.context.group(options: OperationOptions(tags: ["transfer"])) { group in
            try group.update(["id": "a", "n": -5], in: "todos")
            try group.update(["id": "b", "n": 5], in: "todos")
            try group.insert(["id": "t", "amount": 5], in: "transfers")
        }
    }

    @Test("its operations have one group, and rows and operations are there", arguments: StoreKind.allCases)
    func made(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let id = try await device.context.group { group in
            try group.update(["id": "a", "n": 1], in: "todos")
            try group.delete(id: "b", in: "todos")
            #expect(try group.lookup(id: "a", in: "todos")?["n"] == 1)
            #expect(try group.lookup(id: "b", in: "todos") == nil)
            return group.group
        }
        let operations = try await device.context.queue.operations(TableOperation.Filter(group: id))
        #expect(operations.map(\.recordID) == ["a", "b"])
        #expect(try await device.local("a")?["n"] == 1)
        #expect(try await device.local("b") == nil)
    }

    @Test("where one change is refused, none has happened", arguments: StoreKind.allCases)
    func allOrNothing(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.group { group in
                try group.update(["id": "a", "n": 1], in: "todos")
                try group.update(["id": "missing", "n": 1], in: "todos")
            }
        }
        #expect(error?.code == .recordMissing)
        #expect(try await device.local("a")?["n"] == 0)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
    }

    @Test("it is refused where the wire has no batch, and where it is larger than one", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        let single = try await device(kind, batchSize: 1)
        let error = await #expect(throws: SluiceError.self) { try await transfer(single) }
        #expect(error?.code == .operationRefused)
        let small = try await device(kind, batchSize: 2)
        let other = await #expect(throws: SluiceError.self) { try await transfer(small) }
        #expect(other?.code == .operationRefused)
        #expect(try await small.queue().isEmpty)
        #expect(try await small.local("a")?["n"] == 0)
    }

    @Test("names and ids are checked as everywhere", arguments: StoreKind.allCases)
    func names(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for (table, id) in [("sluice_operations", "a"), ("todos", "a/b"), ("a b", "a")] {
            await #expect(throws: SluiceError.self) {
                try await device.context.group { try $0.insert(["id": JSON(id)], in: table) }
            }
        }
        #expect(try await device.queue().isEmpty)
    }

    @Test("a group merges only with itself", arguments: StoreKind.allCases)
    func merging(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "a", "n": 1])
        _ = try await device.context.group { group in
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.update(["id": "a", "n": 3], in: "todos")
        }
        try await device.todos.update(["id": "a", "n": 4])
        _ = try await device.context.group { try $0.update(["id": "a", "n": 5], in: "todos") }
        let operations = try await device.context.queue.operations()
        #expect(operations.map { $0.group != nil } == [false, true, false, true])
        #expect(Set(operations.compactMap(\.group)).count == 2)
        #expect(operations.dropLast().map { $0.frozen?["n"] } == [1, 3, 4])
        #expect(try await device.local("a")?["n"] == 5)
    }

    @Test("a group says one thing of a record", arguments: StoreKind.allCases)
    func twice(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.delete(id: "a")
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        _ = try await device.context.push()
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.group { group in
                try group.undelete(id: "a", in: "todos")
                try group.update(["id": "a", "n": 2], in: "todos")
            }
        }
        #expect(error?.code == .operationRefused)
        #expect(try await device.queue() == ["delete a pending"])
    }

    @Test("discarding one discards all, and each record is as it was without it", arguments: StoreKind.allCases, 0..<3)
    func discard(_ kind: StoreKind, _ index: Int) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "b", "m": 1])
        try await transfer(device)
        try await device.todos.update(["id": "a", "m": 2])
        let members = try await device.context.queue.operations(TableOperation.Filter(tag: "transfer"))
        try await device.context.queue.discard(members[index].id)
        #expect(try await device.queue() == ["update b pending", "update a pending"])
        #expect(try await device.local("a") == ["id": "a", "n": 0, "m": 2])
        #expect(try await device.local("b") == ["id": "b", "n": 0, "m": 1])
        #expect(try await device.context.table("transfers").lookup(id: "t") == nil)
        #expect(try await device.audit().count == 3)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 0, "m": 2])
    }

    @Test("an undo of one record gives the whole group up", arguments: StoreKind.allCases)
    func undo(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await transfer(device)
        try await device.todos.update(["id": "b", "m": 1])
        try await device.context.queue.undo("a", in: "todos")
        #expect(try await device.local("a")?["n"] == 0)
        #expect(try await device.local("b") == ["id": "b", "n": 0, "m": 1])
        #expect(try await device.queue() == ["update b pending"])
    }

    /// What a story of a seed tells must not depend on where a set happened to put its elements.
    @Test("an undo that takes many groups along gives them up in the order of names", arguments: StoreKind.allCases)
    func undoOrder(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        var members: [(group: String, record: String)] = []
        for number in 0..<9 {
            let group = try await device.context.group { group in
                try group.update(["id": "a", "n": JSON(Int64(number + 1))], in: "todos")
                try group.insert(["id": JSON("t\(number)")], in: "transfers")
                return group.group
            }
            members.append((try #require(group), "t\(number)"))
        }
        var changes = device.context.changes.makeAsyncIterator()
        try await device.context.queue.undo("a", in: "todos")
        let told = await changes.next()?.changes.map(\.recordID)
        #expect(told == ["a"] + members.sorted { $0.group < $1.group }.map { RecordID($0.record) })
        #expect(try await device.queue().isEmpty)
    }

    /// Whichever table goes, no part of the group is sent, and other changes of its records are.
    @Test(
        "a forced purge of one table gives the whole group up", arguments: StoreKind.allCases, ["todos", "transfers"])
    func purge(_ kind: StoreKind, _ table: String) async throws {
        let device = try await device(kind)
        device.server.offer([.batches])
        try await transfer(device)
        try await device.todos.update(["id": "b", "m": 1])
        try await device.context.purge(TableQuery(table), force: true)
        #expect(try await device.queue() == (table == "todos" ? [] : ["update b pending"]))
        let audit = try await device.context.queue.audit().map(\.what)
        #expect(audit == Array(repeating: "purge", count: table == "todos" ? 4 : 3))
        if table == "transfers" {
            #expect(try await device.local("a") == ["id": "a", "n": 0])
            #expect(try await device.local("b") == ["id": "b", "n": 0, "m": 1])
        }
        #expect(try await device.context.table("transfers").lookup(id: "t") == nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 0])
        #expect(device.remote("b")?["n"] == 0)
        #expect(device.server.rows("transfers").isEmpty)
    }

    @Test(
        "and of one that may have arrived: what the server has of it stays there, and the next pull brings it",
        arguments: StoreKind.allCases, [true, false])
    func purgeUncertain(_ kind: StoreKind, _ isDone: Bool) async throws {
        for table in ["todos", "transfers"] {
            let device = try await device(kind)
            device.server.offer([.batches])
            try await transfer(device)
            device.server.onRequest { $0.isWrite ? (isDone ? .loseAnswer : .loseRequest) : .none }
            _ = try? await device.context.push()
            device.server.onRequest(nil)
            #expect((device.remote("a")?["n"] == -5) == isDone)
            try await device.context.purge(TableQuery(table), force: true)
            #expect(try await device.queue().isEmpty)
            #expect(try await device.context.push().isClean)
            try await device.todos.pull()
            try await device.context.table("transfers").pull()
            #expect(try await device.context.push().isClean, "a late row is not deleted again")
            #expect(device.remote("a")?["n"] == (isDone ? -5 : 0))
            #expect(device.remote("b")?["n"] == (isDone ? 5 : 0))
            #expect(device.server.rows("transfers").isEmpty == !isDone)
            #expect(try await device.local("a")?["n"] == (isDone ? -5 : 0))
            #expect(try await device.context.table("transfers").lookup(id: "t") != nil || !isDone)
        }
    }

    @Test("a retry of one retries all that is held", arguments: StoreKind.allCases)
    func retry(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await transfer(device)
        try await device.store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in try queue.reader.all() {
                operation.state = operation.recordID == "a" ? .dead : .parked
                try queue.put(operation)
            }
        }
        try await device.context.queue.retry(device.context.queue.operations()[1].id)
        #expect(try await device.context.queue.operations().allSatisfy { $0.state == .pending })
    }
}

@Suite("Tags: kept with the operation, seen by filters, chosen by a push")
struct TagTests {
    private final class Seeing: RequestFilter {
        let tags = Mutex<[Set<String>]>([])
        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            if request.isWrite { tags.withLock { $0.append(request.context.tags) } }
            return try await next(request)
        }
    }

    @Test("a filter sees the tags; an edit that becomes part of a change adds its own", arguments: StoreKind.allCases)
    func filters(_ kind: StoreKind) async throws {
        let filter = Seeing()
        let device = try await Device(kind, filters: [filter])
        try await device.todos.insert(["id": "a", "n": 1], options: OperationOptions(tags: ["x"]))
        try await device.todos.update(["id": "a", "n": 2], options: OperationOptions(tags: ["y"]))
        try await device.todos.insert(["id": "b", "n": 1])
        #expect(try await device.context.queue.operations(TableOperation.Filter(tag: "y")).map(\.recordID) == ["a"])
        #expect(try await device.context.push().isClean)
        #expect(filter.tags.withLock { $0 } == [["x", "y"], []])
    }

    @Test("a push of a tag sends those alone, and waits for what is before them", arguments: StoreKind.allCases)
    func push(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let urgent = OperationOptions(tags: ["urgent"])
        try await device.todos.insert(["id": "a", "n": 1])
        try await device.todos.insert(["id": "b", "n": 1], options: urgent)
        try await device.todos.insert(["id": "c", "n": 1], options: OperationOptions(isMergeable: false))
        try await device.todos.update(["id": "c", "n": 2], options: urgent)
        #expect(try await device.context.push(tags: ["urgent"]).applied == 1)
        #expect(try await device.queue() == ["insert a pending", "insert c pending", "update c pending"])
        #expect(try await device.context.push(tags: ["none"]).applied == 0)
        #expect(try await device.context.push().isClean)
    }

    @Test("tags that are empty, too long or too many are refused", arguments: StoreKind.allCases)
    func limits(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        for tags: Set<String> in [[""], [String(repeating: "x", count: 256)], Set((0..<33).map(String.init))] {
            let error = await #expect(throws: SluiceError.self) {
                try await device.todos.insert(["id": "a"], options: OperationOptions(tags: tags))
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try await device.queue().isEmpty)
    }
}
