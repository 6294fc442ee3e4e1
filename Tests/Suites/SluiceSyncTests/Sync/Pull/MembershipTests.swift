import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Membership: a row stays while a query holds it")
struct MembershipTests {
    private func query(_ text: String) throws -> TableQuery {
        TableQuery("todos", filter: try QueryExpression(odata: text))
    }

    private func device(_ kind: StoreKind, _ server: ServerKind = .sorted) async throws -> Device {
        let device = try await Device(kind, server: server.make(pageSize: 4))
        device.server.seed("todos", (0..<10).map { ["id": JSON("r\($0)"), "n": JSON($0), "a": 1] })
        return device
    }

    private func numbers(_ device: Device) async throws -> [Int64] {
        try await device.todos.records().compactMap { $0["n"]?.int }.sorted()
    }

    @Test(
        "a row that leaves one query stays while another holds it, and goes with the last",
        arguments: StoreKind.allCases)
    func lastOneOut(_ kind: StoreKind) async throws {
        let device = try await device(kind, .tokens)
        let (low, even) = (try query("n lt 6"), try query("n mod 2 eq 0"))
        try await device.todos.pull(low, named: "low")
        try await device.todos.pull(even, named: "even")
        #expect(try await numbers(device) == [0, 1, 2, 3, 4, 5, 6, 8])
        device.server.seed("todos", [["id": "r2", "n": 102], ["id": "r3", "n": 103]])
        #expect(try await device.todos.pull(low, named: "low").deleted == 1, "r3 was held by this one alone")
        #expect(try await device.local("r2") != nil)
        try await device.todos.pull(even, named: "even")
        #expect(try await device.local("r2")?["n"] == 102)
        device.server.seed("todos", [["id": "r2", "n": 7]])
        #expect(try await device.todos.pull(even, named: "even").deleted == 1)
        #expect(try await device.local("r2") == nil)
    }

    @Test("a row that left the whole table, such as a user's view of it, goes whatever other query holds it")
    func leftTheTable() async throws {
        let device = try await device(.memory, .tokens)
        try await device.todos.pull(named: "all")
        try await device.todos.pull(query("n lt 6"), named: "low")
        let asked = Counter()
        device.server.onRequest { _ in
            let left: JSON = ["id": "r2", "deleted": true, "@removed": ["reason": "changed"]]
            var response = SyncResponse.model(200, JSON(asked.next() == 1 ? [left] : []))
            response.head.headerFields[HTTPField.Name("X-Sluice-Delta-Token")!] = "later"
            return .answer(response)
        }
        #expect(try await device.todos.pull(named: "all").deleted == 1)
        #expect(try await device.local("r2") == nil)
    }

    @Test("queries of times let go by reconciles, each for itself", arguments: StoreKind.allCases)
    func byReconcile(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let (low, even) = (try query("n lt 6"), try query("n mod 2 eq 0"))
        try await device.todos.pull(low, named: "low")
        try await device.todos.pull(even, named: "even")
        device.server.hardDelete("todos", "r2")
        #expect(try await device.todos.reconcile(low, named: "low").removed == 0)
        #expect(try await device.local("r2") != nil)
        #expect(try await device.todos.reconcile(even, named: "even").removed == 1)
        #expect(try await device.local("r2") == nil)
    }

    @Test("a purge of a query leaves what another holds", arguments: StoreKind.allCases)
    func purge(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.pull(try query("n lt 6"), named: "low")
        try await device.todos.pull(try query("n mod 2 eq 0"), named: "even")
        #expect(try await device.todos.purge(named: "low") == 3)
        #expect(try await numbers(device) == [0, 2, 4, 6, 8])
        device.server.seed("todos", [["id": "r6", "n": 66]])
        device.server.clearLog()
        try await device.todos.pull(try query("n mod 2 eq 0"), named: "even")
        #expect(try await numbers(device) == [0, 2, 4, 8, 66])
        #expect(device.server.requests.first?.head.path?.contains("updatedAt%20g") == true, "its cursor stays")
        #expect(try await device.todos.purge(named: "even") == 5)
    }

    @Test("a query of the whole table holds every row", arguments: StoreKind.allCases)
    func wholeTable(_ kind: StoreKind) async throws {
        let device = try await device(kind, .tokens)
        try await device.todos.pull(named: "all")
        try await device.todos.pull(try query("n lt 6"), named: "low")
        device.server.seed("todos", [["id": "r2", "n": 102]])
        try await device.todos.pull(try query("n lt 6"), named: "low")
        try await device.todos.pull(named: "all")
        #expect(try await device.local("r2")?["n"] == 102)
        #expect(try await device.todos.purge(named: "low") == 0)
        #expect(try await device.store.read { try $0.count(matching: TableQuery(Membership.schema.name)) } == 0)
        #expect(try await device.todos.purge(named: "all") == 10)
    }

    @Test(
        "a row that a reconcile of the whole table does not find is gone, whatever other queries remember",
        arguments: StoreKind.allCases)
    func goneFromWholeTable(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.pull(try query("n lt 6"), named: "low")
        try await device.todos.pull(named: "all")
        device.server.hardDelete("todos", "r1")
        #expect(try await device.todos.reconcile(named: "all").removed == 1)
        #expect(try await device.local("r1") == nil)
        #expect(try await device.todos.purge(named: "low") == 0, "and no query remembers it")
        let held = try await device.store.read { try $0.count(matching: TableQuery(Membership.schema.name)) }
        #expect(held == 0)
    }

    @Test("a record made here stays when no query ever brought it", arguments: StoreKind.allCases, ServerKind.sorting)
    func madeHere(_ kind: StoreKind, _ server: ServerKind) async throws {
        let device = try await device(kind, server)
        let low = try query("n lt 6")
        try await device.todos.pull(low, named: "low")
        try await device.todos.insert(["id": "mine", "n": 50])
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(low, named: "low")
        try await device.todos.reconcile(low, named: "low")
        // One that follows changes is told of it, as of every row that is not of the query.
        device.server.seed("todos", [["id": "mine", "n": 51]])
        try await device.todos.pull(low, named: "low")
        try await device.todos.purge(named: "low")
        #expect(try await numbers(device) == [50])
    }

    @Test("a record made here goes with the query that brought it", arguments: StoreKind.allCases)
    func claimed(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let low = try query("n lt 6")
        try await device.todos.pull(low, named: "low")
        try await device.todos.insert(["id": "mine", "n": 3])
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(low, named: "low")
        try await device.todos.purge(named: "low")
        #expect(try await numbers(device).isEmpty)
    }

    @Test("a row that an edit here took out of its query goes by a reconcile", arguments: StoreKind.allCases)
    func editedOut(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let low = try query("n lt 6")
        try await device.todos.pull(low, named: "low")
        try await device.todos.update(["id": "r1", "n": 99])
        #expect(try await device.todos.reconcile(low, named: "low").removed == 0, "its change waits")
        #expect(try await device.context.push().isClean)
        #expect(try await device.todos.reconcile(low, named: "low").removed == 1)
        #expect(try await device.local("r1") == nil)
    }

    @Test("a full pull removes nothing and claims nothing", arguments: StoreKind.allCases)
    func fullPull(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.pull(try query("n ge 6"))
        try await device.todos.pull(try query("n lt 6"), named: "low")
        device.server.hardDelete("todos", "r1")
        try await device.todos.pull()
        #expect(try await numbers(device).count == 10)
        try await device.todos.purge(named: "low")
        #expect(try await numbers(device) == [6, 7, 8, 9])
    }

    @Test("a query that becomes smaller lets the rest go, whatever it held before", arguments: ServerKind.allCases)
    func narrowed(_ server: ServerKind) async throws {
        let device = try await device(.memory, server)
        try await device.todos.pull(named: "mine")
        let result = try await device.todos.pull(try query("n lt 3"), named: "mine")
        #expect(result.deleted + (result.reconcile?.removed ?? 0) == 7)
        #expect(try await numbers(device) == [0, 1, 2])
        try await device.todos.pull(try query("n lt 2"), named: "mine")
        #expect(try await numbers(device) == [0, 1])
        #expect(try await device.todos.pull(try query("n lt 2"), named: "mine").reconcile == nil)
    }

    @Test("parameters for the server are part of the query")
    func parameters() async throws {
        let device = try await device(.memory)
        var query = TableQuery("todos", parameters: [.init("view", "one")])
        try await device.todos.pull(query, named: "mine")
        query.parameters = [.init("view", "two")]
        device.server.clearLog()
        #expect(try await device.todos.pull(query, named: "mine").stored == 10)
    }

    @Test("what is purged by a filter is held by no query any more", arguments: StoreKind.allCases)
    func purgedByFilter(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        for name in ["low", "lower"] { try await device.todos.pull(query("n lt 6"), named: name) }
        device.server.seed("todos", [["id": "r1", "n": 99]])
        try await device.todos.purge(TableQuery("todos", filter: QueryExpression(odata: "id eq 'r1'")))
        let held = try await device.store.read { try $0.records(matching: TableQuery(Membership.schema.name)) }
        #expect(held.count == 10 && !held.contains { $0["id"]?.string?.hasSuffix("/r1") ?? true })
    }

    @Test("a changed query that brought nothing yet is not the former one", arguments: ServerKind.sorting)
    func changedAndBack(_ server: ServerKind) async throws {
        let device = try await device(.memory, server)
        try await device.todos.pull(query("n lt 6"), named: "q")
        device.server.onRequest { _ in .loseAnswer }
        await #expect(throws: SluiceError.self) { try await device.todos.pull(query("n lt 3"), named: "q") }
        device.server.onRequest(nil)
        #expect(try await device.todos.pull(query("n lt 6"), named: "q").reconcile != nil)
        #expect(try await numbers(device) == [0, 1, 2, 3, 4, 5])
    }
}
