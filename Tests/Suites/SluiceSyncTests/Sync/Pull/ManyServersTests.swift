import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("One store, and several servers, users and wires")
struct ManyServersTests {
    /// Whose the second device is, on the store of the first.
    enum Other: String, CaseIterable { case server, user }

    private static var low: TableQuery {
        TableQuery("todos", filter: .binary(.lt, .column("n"), .literal(.number(JSON.Number(2)))))
    }

    private static func rows(_ prefix: String, _ count: Int = 4, from n: Int = 0) -> [JSON] {
        (n..<count).map { ["id": JSON("\(prefix)\($0)"), "n": JSON($0)] }
    }

    /// Two devices with one store.
    private func devices(
        _ kind: StoreKind, _ server: ServerKind = .sorted, _ other: Other = .server
    ) async throws -> (Device, Device) {
        let store = try await kind.make()
        let first = try await Device(kind, server: server.make(pageSize: 20), store: store)
        let second = try await Device(
            kind, server: server.make(pageSize: 20), store: store,
            endpoint: other == .server ? "http://other.test" : "http://model.test",
            adjust: { $0.user = other == .user ? "another" : "" })
        return (first, second)
    }

    private func ids(_ device: Device) async throws -> [String] {
        try await device.todos.records().compactMap { $0["id"]?.string }.sorted()
    }

    private func cursors(_ device: Device) async throws -> [Cursor] {
        try await device.store.read { try Cursor.all(of: "todos", in: $0) }
    }

    // MARK: Purges

    @Test("a purge by name is of the query of this server and user", arguments: StoreKind.allCases, Other.allCases)
    func purgeOfMine(_ kind: StoreKind, _ other: Other) async throws {
        let (first, second) = try await devices(kind, .sorted, other)
        first.server.seed("todos", Self.rows("a"))
        second.server.seed("todos", Self.rows("b"))
        try await first.todos.pull(Self.low, named: "low")
        await #expect(throws: SluiceError.self) { try await second.todos.purge(named: "low") }
        #expect(try await ids(first) == ["a0", "a1"])
        try await second.todos.pull(Self.low, named: "low")
        #expect(try await second.todos.purge(named: "low") == 2)
        // What another user has left here went when this one came.
        #expect(try await ids(first) == (other == .user ? [] : ["a0", "a1"]))
        #expect(try await cursors(first).map(\.owner.endpoint) == ["http://model.test"])
        #expect(try await cursors(first).map(\.owner.user) == [""])
    }

    @Test("rows that a purge takes from another server's query too come back there", arguments: StoreKind.allCases)
    func purgeOfShared(_ kind: StoreKind) async throws {
        for filter in [nil, QueryExpression.binary(.eq, .column("n"), .literal(.number(JSON.Number(0))))] {
            let (first, second) = try await devices(kind)
            for device in [first, second] { device.server.seed("todos", Self.rows("r")) }
            try await second.todos.pull(Self.low, named: "low")
            try await first.todos.pull(Self.low, named: "low")
            let removed = try await second.todos.purge(TableQuery("todos", filter: filter), named: "low")
            #expect(removed == (filter == nil ? 2 : 1))
            try await first.todos.pull(Self.low, named: "low")
            #expect(try await ids(first) == ["r0", "r1"])
        }
    }

    @Test("a purge by name without a client is of all queries of that name", arguments: StoreKind.allCases)
    func purgeWithoutClient(_ kind: StoreKind) async throws {
        let (first, second) = try await devices(kind)
        first.server.seed("todos", Self.rows("a"))
        second.server.seed("todos", Self.rows("b"))
        let zero = TableQuery("todos", filter: .binary(.eq, .column("n"), .literal(.number(JSON.Number(0)))))
        try await first.todos.pull(Self.low, named: "low")
        try await second.todos.pull(Self.low, named: "low")
        try await second.todos.pull(zero, named: "zero")
        let local = try await SyncContext(store: first.store)
        #expect(try await local.purge(TableQuery("todos"), named: "low") == 3)
        #expect(try await ids(first) == ["b0"], "another query holds it")
        #expect(try await cursors(first).map(\.owner.name) == ["zero"])
    }

    // MARK: Another wire

    private static var otherWire: Dialect {
        Dialect(
            name: "other", headers: [("ZUMO-API-VERSION", "2.0.0")], allowsIntegerIDs: true, reportsFeatures: true,
            linksPages: false)
    }

    @Test(
        "a query keeps what it holds when the wire changes, and lets go what it has lost",
        arguments: ServerKind.sorting,
        [false, true])
    func otherWire(_ server: ServerKind, _ isOfAll: Bool) async throws {
        let old = try await Device(.memory, server: server.make(pageSize: 2))
        let new = try await Device(.memory, server: old.server, store: old.store, dialect: Self.otherWire)
        let query = isOfAll ? TableQuery("todos") : Self.low
        old.server.seed("todos", Self.rows("r", 2, from: -2))
        try await old.todos.pull(query, named: "q")
        try await old.todos.pull(TableQuery("todos", filter: try QueryExpression(odata: "n eq 1")), named: "one")
        old.server.hardDelete("todos", "r0")
        old.server.hardDelete("todos", "r1")
        let asked = Shared(0)
        new.server.onRequest { _ in
            asked.change {
                $0 += 1
                return $0 == 2 ? .loseRequest : .none
            }
        }
        await #expect(throws: SluiceError.self) { try await new.todos.pull(query, named: "q") }
        #expect(try await ids(new) == ["r-1", "r-2", "r0", "r1"])
        new.server.onRequest(nil)
        try await new.todos.pull(query, named: "q")
        // What the whole table has lost is gone for all; else the other query holds the last one.
        #expect(try await ids(new) == (isOfAll ? ["r-1", "r-2"] : ["r-1", "r-2", "r1"]))
        #expect(
            try await cursors(new).map { "\($0.owner.wire) \($0.owner.name)" }.sorted() == ["azure-v2 one", "other q"])
        new.server.hardDelete("todos", "r-1")
        #expect(try await new.todos.reconcile(query, named: "q").removed == 1)
        #expect(try await new.todos.purge(named: "q") == 1)
        #expect(try await ids(new) == (isOfAll ? [] : ["r1"]))
    }

    @Test("where two wires have noted rows for one query, one takes them over", arguments: StoreKind.allCases)
    func bothWires(_ kind: StoreKind) async throws {
        let old = try await Device(kind)
        let new = try await Device(kind, server: old.server, store: old.store, dialect: Self.otherWire)
        old.server.seed("todos", Self.rows("r"))
        try await new.todos.pull(Self.low, named: "q")
        // As it was when each wire had its own.
        let elder = Cursor(
            owner: .init(
                endpoint: "http://model.test", user: "", wire: "azure-v2", table: "todos", name: "q"),
            query: "n eq 3", position: nil, key: 7)
        try await old.store.write { writer in
            try writer.put(elder.record, in: Cursor.schema.name)
            try Membership(of: elder, in: writer).claim(["gone"])
            try writer.put(["id": "gone", "n": 3, "version": "1"], in: "todos")
        }
        try await new.todos.pull(Self.low, named: "q")
        #expect(try await ids(new) == ["r0", "r1"])
        #expect(try await cursors(new).count == 1)
        #expect(try await new.store.read { try $0.count(matching: TableQuery(Membership.schema.name)) } == 2)
    }

    // MARK: There and back

    @Test(
        "who comes back after another has pulled the table begins afresh", arguments: ServerKind.sorting,
        Other.allCases)
    func thereAndBack(_ server: ServerKind, _ other: Other) async throws {
        for names in [("all", "all"), ("all", nil), ("low", "all"), ("low", "low")] as [(String, String?)] {
            let (first, second) = try await devices(.memory, server, other)
            let query = names.0 == "low" ? Self.low : TableQuery("todos")
            first.server.seed("todos", Self.rows("r"))
            second.server.seed(
                "todos", [["id": "r0", "n": 1, "by": "second"], ["id": "x", "n": 1], ["id": "r1", "n": 1]])
            try await first.todos.pull(query, named: names.0)
            let own = try await first.todos.records()
            try await second.todos.pull(names.1 == "low" ? Self.low : TableQuery("todos"), named: names.1)
            second.server.softDelete("todos", "r1")
            try await second.todos.pull(names.1 == "low" ? Self.low : TableQuery("todos"), named: names.1)
            #expect(try await first.local("r0")?["by"] == "second")
            #expect(try await first.local("r1") == nil)
            try await first.todos.pull(query, named: names.0)
            let now = try await first.todos.records().filter { $0["id"] != "x" }
            #expect(now == own, "\(names)")
            if names.0 == "all" { #expect(try await first.local("x") == nil) }
            // Nothing begins afresh twice.
            first.server.clearLog()
            try await first.todos.pull(query, named: names.0)
            #expect(first.server.requests.allSatisfy { !($0.head.path?.contains("updatedAt%20ge%201") ?? false) })
            #expect(
                try await cursors(first).filter { $0.owner.user == "" && $0.owner.endpoint == "http://model.test" }
                    .allSatisfy { $0.position != nil && !$0.needsReconcile })
        }
    }

    @Test("a server that was not reached, or a pull of another table, puts no query back")
    func notReached() async throws {
        let (first, second) = try await devices(.memory)
        first.server.seed("todos", Self.rows("r"))
        try await first.todos.pull(named: "all")
        let before = try await cursors(first)
        second.server.onRequest { _ in .loseRequest }
        await #expect(throws: SluiceError.self) { try await second.todos.pull(named: "all") }
        second.server.onRequest(nil)
        second.server.seed("lists", [["id": "l"]])
        try await second.context.pull(TableQuery("lists"), named: "all")
        #expect(try await cursors(first).filter { $0.owner.endpoint == "http://model.test" } == before)
    }

    @Test("what a push to another server has stored is put right by the next pull", arguments: StoreKind.allCases)
    func pushedElsewhere(_ kind: StoreKind) async throws {
        let (first, second) = try await devices(kind)
        for device in [first, second] { device.server.seed("todos", Self.rows("r")) }
        try await first.todos.pull(named: "all")
        let own = try await first.todos.records()
        try await second.todos.update(["id": "r2", "n": 22])
        second.server.seed("todos", [["id": "r2", "n": 2]])
        _ = try await second.context.push()
        for operation in try await second.context.queue.operations() {
            try await second.context.queue.discard(operation.id)
        }
        try await first.todos.pull(named: "all")
        #expect(try await first.todos.records() == own)
    }

    // MARK: The status

    @Test("the status says how far the queries of this server, user and wire were pulled", arguments: Other.allCases)
    func status(_ other: Other) async throws {
        let (first, second) = try await devices(.memory, .sorted, other)
        first.server.seed("todos", Self.rows("a"))
        second.server.seed("todos", Self.rows("b", 2))
        try await first.todos.pull(named: "all")
        #expect(try await second.context.status().cursors == [])
        try await second.todos.pull(named: "all")
        #expect(try await second.context.status().cursors.count == 1)
        let local = try await SyncContext(store: first.store)
        #expect(try await local.status().cursors.count == 1, "the first one has to begin afresh, and says nothing")
    }
}
