import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Rows that leave their query while a change of theirs waits")
struct LeftWhileWaitingTests {
    /// The rows r0 to r9, those below 6 held under the name `low`, or all under `all`.
    private func device(_ kind: StoreKind, _ server: ServerKind, low: Bool = true) async throws -> (Device, TableQuery)
    {
        let device = try await Device(kind, server: server.make(pageSize: 20))
        device.server.seed("todos", (0..<10).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let query = TableQuery("todos", filter: low ? try QueryExpression(odata: "n lt 6") : nil)
        try await device.todos.pull(query, named: "q")
        return (device, query)
    }

    /// Makes a change of `r1` that the server refuses: it is parked.
    private func park(_ device: Device, deletes: Bool) async throws {
        if deletes {
            try await device.todos.delete(id: "r1")
        } else {
            try await device.todos.update(["id": "r1", "text": "mine"])
        }
        device.server.onRequest { $0.isWrite ? .answer(.model(400, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.queue() == [deletes ? "delete r1 parked" : "update r1 parked"])
    }

    @Test("a pull does not wait for what is parked or dead", arguments: StoreKind.allCases)
    func heldUp(_ kind: StoreKind) async throws {
        let device = try await Device(kind, maximumAttempts: 1)
        device.server.seed("todos", (0..<3).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        try await device.todos.pull(named: "all")
        try await park(device, deletes: false)
        try await device.todos.update(["id": "r2", "text": "mine"])
        device.server.onRequest { $0.isWrite ? .answer(.model(500, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.queue() == ["update r1 parked", "update r2 dead"])
        device.server.seed("todos", (0..<4).map { ["id": JSON("r\($0)"), "n": JSON($0 + 10)] })
        device.server.clearLog()
        try await device.todos.pull(named: "all")
        #expect(!device.server.requests.contains { $0.isWrite }, "and it does not try them again")
        #expect(try await device.local("r0")?["n"] == 10)
        #expect(try await device.local("r3")?["n"] == 13)
        for id in ["r1", "r2"] { #expect(try await device.local(id)?["text"] == "mine") }
        #expect(try await device.queue() == ["update r1 parked", "update r2 dead"])
    }

    private func discard(_ device: Device) async throws {
        for operation in try await device.context.queue.operations() {
            try await device.context.queue.discard(operation.id)
        }
        #expect(try await device.queue() == [])
    }

    @Test("what a page told is remembered until the change is settled", arguments: StoreKind.allCases, [false, true])
    func told(_ kind: StoreKind, _ deletes: Bool) async throws {
        let (device, query) = try await device(kind, .tokens)
        try await park(device, deletes: deletes)
        device.server.seed("todos", [["id": "r1", "n": 99]])
        #expect(try await device.todos.pull(query, named: "q").pending == 1)
        #expect(try await device.local("r1")?["text"] == (deletes ? nil : "mine"))
        device.server.clearLog()
        try await device.todos.pull(query, named: "q")
        #expect(device.server.requests.count == 1, "a pull costs no more while the change waits")
        try await discard(device)
        #expect(try await device.local("r1")?["n"] == 1)
        device.server.clearLog()
        #expect(try await device.todos.pull(query, named: "q").deleted == 1)
        #expect(device.server.requests.count == 3, "the row is asked for by its id, in the list and by itself")
        #expect(try await device.local("r1") == nil)
        device.server.clearLog()
        try await device.todos.pull(query, named: "q")
        #expect(device.server.requests.count == 1)
    }

    @Test("a row that has come back meanwhile stays", arguments: StoreKind.allCases)
    func cameBack(_ kind: StoreKind) async throws {
        let (device, query) = try await device(kind, .tokens)
        try await park(device, deletes: false)
        device.server.seed("todos", [["id": "r1", "n": 99]])
        try await device.todos.pull(query, named: "q")
        device.server.seed("todos", [["id": "r1", "n": 3]])
        try await discard(device)
        try await device.todos.pull(query, named: "q")
        #expect(try await device.local("r1") == ["id": "r1", "n": 3])
    }

    @Test("another query that holds the row keeps it")
    func heldByOther() async throws {
        let (device, query) = try await device(.memory, .tokens)
        try await device.todos.pull(named: "all")
        try await park(device, deletes: false)
        device.server.seed("todos", [["id": "r1", "n": 99]])
        try await device.todos.pull(query, named: "q")
        try await device.todos.pull(named: "all")
        try await discard(device)
        try await device.todos.pull(query, named: "q")
        #expect(try await device.local("r1") == ["id": "r1", "n": 99])
    }

    @Test(
        "what a reconcile had to leave alone is looked at again by a later pull", arguments: ServerKind.allCases,
        [false, true])
    func reconciled(_ server: ServerKind, _ deletes: Bool) async throws {
        for isGone in [false, true] {
            let (device, query) = try await device(.memory, server, low: !isGone)
            try await park(device, deletes: deletes)
            if isGone {
                device.server.hardDelete("todos", "r1")
            } else {
                device.server.seed("todos", [["id": "r1", "n": 99]])
            }
            #expect(try await device.todos.reconcile(query, named: "q").removed == 0)
            try await discard(device)
            #expect(try await device.local("r1")?["n"] == 1)
            try await device.todos.pull(query, named: "q")
            #expect(try await device.local("r1") == nil)
        }
    }

    @Test(
        "an insert that waits, and a row in step, are nothing to look at again",
        arguments: [ServerKind.tokens, .sorted])
    func nothingLeft(_ server: ServerKind) async throws {
        let (device, query) = try await device(.memory, server, low: false)
        try await park(device, deletes: false)
        try await device.todos.insert(["id": "mine", "n": 1])
        try await device.todos.reconcile(query, named: "q")
        let cursors = try await device.store.read { try Cursor.all(of: "todos", in: $0) }
        #expect(cursors.map(\.toRecheck) == [[]])
    }

    @Test("a reconcile brings the newest of a row whose change waits", arguments: [ServerKind.tokens, .sorted])
    func newest(_ server: ServerKind) async throws {
        let (device, query) = try await device(.memory, server, low: false)
        try await park(device, deletes: false)
        device.server.seed("todos", [["id": "r1", "n": 5]])
        #expect(try await device.todos.reconcile(query, named: "q").pending == 1)
        #expect(try await device.local("r1") == ["id": "r1", "n": 1, "text": "mine"])
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(try await device.context.queue.copies(of: operation).mirror?["n"] == 5)
        try await discard(device)
        #expect(try await device.local("r1") == ["id": "r1", "n": 5])
    }

    @Test("a purge of other rows does not hide that a row left before the next pull", arguments: ServerKind.sorting)
    func purgedOthers(_ server: ServerKind) async throws {
        let (device, query) = try await device(.memory, server)
        try await device.todos.purge(TableQuery("todos", filter: try QueryExpression(odata: "n eq 0")))
        device.server.seed("todos", [["id": "r1", "n": 99]])
        device.server.hardDelete("todos", "r2")
        try await device.todos.pull(query, named: "q")
        #expect(try await device.todos.records().compactMap { $0["n"]?.int }.sorted() == [0, 3, 4, 5])
        #expect(try await device.todos.pull(query, named: "q").reconcile == nil)
    }
}
