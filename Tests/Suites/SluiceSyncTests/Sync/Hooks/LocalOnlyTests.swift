import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Changes that a hook keeps from the server")
struct LocalOnlyTests {
    /// A device whose hook keeps back what has the property `draft`, and what is deleted while `keeps` is set.
    private func device(_ kind: StoreKind, _ keeps: Shared<Bool> = Shared(true)) async throws -> Device {
        let hook = TestHook(enqueue: { _ in keeps.value ? .localOnly() : .accept })
        let device = try await Device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        device.server.clearLog()
        return device
    }

    @Test("the row is stored without an operation, and a push sends nothing", arguments: StoreKind.allCases)
    func stored(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "b", "n": 1])
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.server.calls == [] && device.remote("b") == nil)
        #expect(try await device.local("a") == ["id": "a", "n": 2])
        #expect(try await device.local("b") == ["id": "b", "n": 1])
        try await device.todos.delete(id: "a")
        #expect(try await device.local("a") == nil && device.remote("a") == ["id": "a", "n": 1])
    }

    @Test("a hook's record is stored without an operation", arguments: StoreKind.allCases)
    func changed(_ kind: StoreKind) async throws {
        let first = TestHook(hookName: "first", enqueue: { _ in .change(["n": 8]) })
        let record = Shared<JSON?>(["n": 9])
        let second = TestHook(enqueue: { _ in .localOnly(record.value) })
        let device = try await Device(kind, hooks: [first, second])
        try await device.todos.insert(["id": "b", "n": 1])
        try await device.todos.update(["id": "b", "n": 2])
        #expect(try await device.local("b") == ["id": "b", "n": 9])
        record.value = nil
        try await device.todos.update(["id": "b", "n": 2])
        #expect(try await device.local("b") == ["id": "b", "n": 8])
        #expect(try await device.queue() == [])
    }

    @Test("the server's record takes the place of a local one when it comes again", arguments: StoreKind.allCases)
    func pulled(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "m": 3]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == ["id": "a", "n": 1, "m": 3])
    }

    @Test("the first change that is not kept back makes the record on the server", arguments: StoreKind.allCases)
    func becomesKnown(_ kind: StoreKind) async throws {
        let keeps = Shared(true)
        let device = try await device(kind, keeps)
        try await device.todos.insert(["id": "b", "n": 1])
        try await device.todos.update(["id": "b", "n": 2])
        keeps.value = false
        try await device.todos.update(["id": "b", "m": 3])
        #expect(try await device.queue() == ["insert b pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b") == ["id": "b", "n": 2, "m": 3])
        #expect(try await device.todos.lookup(id: "b") == device.server.rows("todos")["b"])
        #expect(try await device.states() == 0)
    }

    @Test("a record that only this device knew goes without a word", arguments: StoreKind.allCases)
    func deleted(_ kind: StoreKind) async throws {
        let keeps = Shared(true)
        let device = try await device(kind, keeps)
        try await device.todos.insert(["id": "b", "n": 1])
        keeps.value = false
        try await device.todos.delete(id: "b")
        #expect(try await device.queue() == [])
        #expect(try await device.states() == 0)
        #expect(try await device.local("b") == nil)
    }

    @Test("a reconcile leaves it alone, and a tombstone takes it", arguments: StoreKind.allCases)
    func reconciled(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "b", "n": 1])
        #expect(try await device.todos.reconcile(named: "all").removed == 0)
        #expect(try await device.local("b") == ["id": "b", "n": 1])
        // Another made a record of that id.
        device.server.seed("todos", [["id": "b", "n": 7]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("b") == ["id": "b", "n": 7])
        device.server.softDelete("todos", "b")
        try await device.todos.pull(named: "all")
        #expect(try await device.local("b") == nil)
        #expect(try await device.states() == 0)
    }

    @Test(
        "once the server has taken it over, a reconcile treats it as any other", arguments: StoreKind.allCases,
        [false, true])
    func takenOver(_ kind: StoreKind, _ isOldStore: Bool) async throws {
        let device = try await device(kind)
        try await device.todos.insert(["id": "b", "n": 1])
        device.server.seed("todos", [["id": "b", "n": 7]])
        try await device.todos.pull(named: "all")
        #expect(try await device.states() == 0)
        if isOldStore {
            // As a store has it whose pulls left the note behind.
            try await device.store.write {
                try $0.put(
                    RecordState(table: "todos", recordID: "b", base: nil, mirror: nil).record,
                    in: RecordState.schema.name)
            }
        }
        device.server.hardDelete("todos", "b")
        #expect(try await device.todos.reconcile(named: "all").removed == 1)
        #expect(try await device.local("b") == nil)
    }

    @Test("it is refused where changes wait, in a group, and for an undelete", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        let keeps = Shared(false)
        let hook = TestHook(enqueue: { _ in keeps.value ? .localOnly() : .accept })
        let device = try await Device(kind, hooks: [hook], batchSize: 10)
        try await device.todos.insert(["id": "a", "n": 1])
        keeps.value = true
        for change in [
            { try await device.todos.update(["id": "a", "n": 2]) },
            { try await device.context.group { try $0.insert(["id": "b"], in: "todos") } },
            {
                try await device.todos.undelete(id: "c")
                return .null
            },
        ] as [() async throws -> JSON] {
            let error = await #expect(throws: SluiceError.self) { try await change() }
            #expect(error?.code == .operationRefused)
        }
        #expect(try await device.queue() == ["insert a pending"])
        #expect(try await device.local("a") == ["id": "a", "n": 1])
    }

    @Test("a purge of other rows does not forget that it is kept here alone", arguments: StoreKind.allCases)
    func purgedOthers(_ kind: StoreKind) async throws {
        for byName in [false, true] {
            let keeps = Shared(true)
            let device = try await device(kind, keeps)
            let others = TableQuery("todos", filter: try QueryExpression(odata: "n eq 1"))
            try await device.todos.insert(["id": "b", "n": 5])
            if byName {
                try await device.todos.pull(others, named: "few")
                try await device.todos.purge(named: "few")
            } else {
                #expect(try await device.todos.purge(others) == 1)
            }
            try await device.todos.pull(named: "all")
            #expect(try await device.todos.reconcile(named: "all").removed == 0)
            #expect(try await device.local("b") == ["id": "b", "n": 5])
            #expect(try await device.local("a") == ["id": "a", "n": 1])
            keeps.value = false
            try await device.todos.update(["id": "b", "n": 6])
            #expect(try await device.queue() == ["insert b pending"])
            #expect(try await device.context.push().isClean)
            #expect(device.remote("b") == ["id": "b", "n": 6])
        }
    }

    @Test("a purge that takes it takes all that is known of it", arguments: StoreKind.allCases)
    func purged(_ kind: StoreKind) async throws {
        for filter in [nil, try QueryExpression(odata: "n eq 5")] {
            let device = try await device(kind)
            try await device.todos.insert(["id": "b", "n": 5])
            #expect(try await device.todos.purge(TableQuery("todos", filter: filter)) == (filter == nil ? 2 : 1))
            #expect(try await device.local("b") == nil)
            #expect(try await device.states() == 0)
        }
    }
}
