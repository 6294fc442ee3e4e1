import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Pull: the server's rows come here, none skipped")
struct PullTests {
    private func rows(_ count: Int, _ prefix: String = "r") -> [JSON] {
        (0..<count).map { ["id": JSON("\(prefix)\(1000 + $0)"), "n": JSON($0)] }
    }

    @Test(
        "all rows come, page by page, with and without a name", arguments: StoreKind.allCases,
        [nil, "all"] as [String?])
    func pages(_ kind: StoreKind, _ name: String?) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 10), pageSize: 25)
        device.server.seed("todos", rows(95))
        let result = try await device.todos.pull(named: name)
        #expect(result.stored == 95 && result.deleted == 0)
        #expect(try await device.todos.count() == 95)
        #expect(try await device.todos.lookup(id: "r1042") == device.server.rows("todos")["r1042"])
    }

    @Test(
        "rows that an idle pull brings again are counted as unchanged, a changed one is not",
        arguments: StoreKind.allCases)
    func idle(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(3))
        #expect(try await device.todos.pull(named: "all").unchanged == 0)
        let again = try await device.todos.pull(named: "all")
        #expect(again.stored > 0 && again.unchanged == again.stored && again.deleted == 0, "\(again)")
        device.server.seed("todos", [["id": "r1002", "n": 5]])
        let changed = try await device.todos.pull(named: "all")
        #expect(changed.stored - changed.unchanged == 1, "\(changed)")
    }

    @Test("a second named pull brings only what changed, tombstones included", arguments: StoreKind.allCases)
    func incremental(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(120))
        try await device.todos.pull(named: "all")
        device.server.clearLog()
        device.server.seed("todos", [["id": "r1003", "n": 33], ["id": "new", "n": 1]])
        device.server.softDelete("todos", "r1004")
        let result = try await device.todos.pull(named: "all")
        #expect(result.stored == 3 && result.deleted == 1, "the last row of before comes once more")
        #expect(result.unchanged == 1, "and is here as it came")
        #expect(try await device.local("r1003")?["n"] == 33)
        #expect(try await device.local("r1004") == nil)
        #expect(try await device.todos.count() == 120)
        #expect(device.server.requests.count <= 4)
    }

    @Test("rows that share one time, more than a page of them, all come", arguments: StoreKind.allCases, [1, 2, 3, 7])
    func equalTimes(_ kind: StoreKind, _ pageSize: Int) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: pageSize))
        device.server.seed("todos", rows(20))
        device.server.restamp("todos", (3..<17).map { "r\(1000 + $0)" }, at: Timestamp("2024-01-01T00:00:00.1234567Z")!)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 20)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 20)
    }

    @Test(
        "a row that moves out of a group of equal times while it is paged hides no other", arguments: StoreKind.allCases
    )
    func movingRow(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 2))
        device.server.seed("todos", rows(8))
        device.server.restamp("todos", (0..<8).map { "r\(1000 + $0)" }, at: Timestamp("2023-01-01T00:00:00Z")!)
        let server = device.server
        let count = Mutex(0)
        server.onRequest { _ in
            if count.withLock({
                $0 += 1
                return $0
            }) == 3 {
                server.seed("todos", [["id": "r1000", "n": 100]])
            }
            return .none
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 8)
        #expect(try await device.local("r1000")?["n"] == 100)
    }

    @Test("rows without a time of change come too", arguments: StoreKind.allCases)
    func nullTimes(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let served = Mutex(0)
        device.server.onRequest { _ in
            served.withLock { $0 += 1 }
            let page: JSON = [["id": "a", "updatedAt": .null, "version": "1"], ["id": "b", "version": "1"]]
            return .answer(.model(200, served.withLock { $0 } % 2 == 1 ? page : .array))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 2)
    }

    @Test(
        "rows without a time come from a server that sorts them last, and come again when they change",
        arguments: StoreKind.allCases)
    func nullTimesLast(_ kind: StoreKind) async throws {
        let device = try await Device(kind, dialect: .datasync)
        let version = Mutex("1")
        device.server.onRequest { request in
            let path = request.head.path ?? ""
            let (isFirst, isUntimed) = (!path.contains("filter"), path.contains("eq%20null"))
            let timed: JSON = [["id": "b", "updatedAt": "2024-01-01T00:00:00.000Z", "version": "1"]]
            let untimed: JSON = [["id": "a", "updatedAt": .null, "version": JSON(version.withLock { $0 })]]
            let isAfter = path.contains("id%20gt")
            return .answer(.model(200, isFirst ? timed : isUntimed && !isAfter ? untimed : .array))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 2)
        version.withLock { $0 = "2" }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.lookup(id: "a")?["version"] == "2")
    }

    @Test("a server that ignores filter and $skip ends the pull once its rows repeat", arguments: StoreKind.allCases)
    func endless(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.onRequest { _ in
            .answer(.model(200, [["id": "a", "updatedAt": "2024-01-01T00:00:00.000Z", "version": "1"]]))
        }
        #expect(try await device.todos.pull(named: "all").grade == .full)
        try await device.todos.pull()
        #expect(try await device.todos.count() == 1)
        #expect(device.server.requests.count < 20)
    }

    @Test("a row with a change that waits is not overwritten; its mirror moves", arguments: StoreKind.allCases)
    func pendingRow(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "base"]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        _ = try await device.context.push()
        let result = try await device.todos.pull(named: "all")
        #expect(result.pending == 1 && result.stored == 0 && result.push == nil, "a held operation does not block")
        #expect(try await device.local("a")?["text"] == "mine")
        let operation = try #require(try await device.context.queue.operations().first)
        let copies = try await device.context.queue.copies(of: operation)
        #expect(copies.mirror?["text"] == "theirs" && copies.base?["text"] == "base")
    }

    @Test("changes that wait are pushed first, those of other tables too", arguments: StoreKind.allCases)
    func implicitPush(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let other = try device.context.table("other")
        try await other.insert(["id": "x", "n": 1])
        let quiet = try await device.todos.pull(named: "all")
        #expect(quiet.push == nil && device.server.rows("other").isEmpty)
        try await device.todos.insert(["id": "a", "n": 1])
        let result = try await device.todos.pull(named: "all")
        #expect(result.push?.applied == 2)
        #expect(device.server.rows("other").count == 1)
    }

    @Test("without network the pull throws, and what was stored stays", arguments: StoreKind.allCases)
    func interrupted(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 10))
        device.server.seed("todos", rows(35))
        let count = Mutex(0)
        device.server.onRequest { _ in
            count.withLock {
                $0 += 1
                return $0 == 3
            } ? .loseAnswer : .none
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .network)
        let stored = try await device.todos.count()
        #expect(stored > 0 && stored < 35)
        device.server.onRequest(nil)
        device.server.clearLog()
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 35)
        let first = try #require(device.server.requests.first?.head.path)
        #expect(first.contains("updatedAt"), "it goes on from the cursor")
    }

    @Test("a query that has changed under its name starts afresh", arguments: StoreKind.allCases)
    func changedQuery(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(20))
        let few = TableQuery("todos", filter: try QueryExpression(odata: "n lt 5"))
        try await device.todos.pull(few, named: "mine")
        #expect(try await device.todos.count() == 5)
        let more = TableQuery("todos", filter: try QueryExpression(odata: "n lt 15"))
        try await device.todos.pull(more, named: "mine")
        #expect(try await device.todos.count() == 15)
    }

    @Test("two tables and two names have cursors of their own", arguments: StoreKind.allCases)
    func ownCursors(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(3))
        device.server.seed("other", rows(4))
        try await device.todos.pull(named: "q")
        try await device.context.table("other").pull(named: "q")
        #expect(try await device.context.table("other").count() == 4)
        #expect(try await device.context.status().cursors.count == 2)
    }

    @Test("a tombstone of a row that never was here is no deletion", arguments: StoreKind.allCases)
    func foreignTombstone(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(3))
        try await device.todos.pull()
        device.server.seed("todos", [["id": "never", "n": 1]])
        for id in ["never", "r1001"] { device.server.softDelete("todos", RecordID(id)) }
        let result = try await device.todos.pull()
        #expect(result.stored == 2 && result.deleted == 1)
        #expect(try await device.todos.count() == 2)
    }

    @Test("a pull refuses a query that asks for a count", arguments: [nil, "all"] as [String?])
    func refusedCount(_ name: String?) async throws {
        let device = try await Device(.memory)
        let error = await #expect(throws: SluiceError.self) {
            try await device.todos.pull(TableQuery("todos", includesCount: true), named: name)
        }
        #expect(error?.code == .invalidQuery && device.server.requests.isEmpty)
    }

    @Test("a named pull refuses what it cannot follow", arguments: StoreKind.allCases)
    func refusedQueries(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let queries = [
            TableQuery("todos", order: [.init("n")]), TableQuery("todos", skip: 1), TableQuery("todos", top: 1),
            TableQuery("todos", select: ["n"]), TableQuery("todos", parameters: [.init("__INCLUDEdeleted", "false")]),
        ]
        for query in queries {
            let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(query, named: "all") }
            #expect(error?.code == .invalidQuery)
        }
        for name in ["", String(repeating: "x", count: 256)] {
            await #expect(throws: SluiceError.self) { try await device.todos.pull(named: name) }
        }
        #expect(device.server.requests.isEmpty)
    }

    @Test("a full pull with an order, skip and top takes that part", arguments: StoreKind.allCases)
    func partOfQuery(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 4))
        device.server.seed("todos", rows(30))
        try await device.todos.pull(TableQuery("todos", skip: 5, top: 10))
        let ids = try await device.todos.records().compactMap { $0["id"]?.string }
        #expect(ids == (5..<15).map { "r\(1000 + $0)" })
    }

    @Test(
        "answers that are no page throw, and neither rows nor cursor move", arguments: StoreKind.allCases,
        [
            "<html>hello</html>", "", "{\"results\":", "{\"id\":\"a\"}",
        ])
    func brokenPages(_ kind: StoreKind, _ text: String) async throws {
        let device = try await Device(kind)
        device.server.onRequest { _ in
            .answer(SyncResponse(HTTPResponse(status: .ok), body: MessageBody(bytes: Array(text.utf8))))
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .brokenProtocol && error?.table == "todos")
        #expect(try await device.todos.count() == 0)
        #expect(try await device.context.status().cursors.isEmpty)
    }

    @Test("a purge removes rows and cursor, and refuses while changes wait", arguments: StoreKind.allCases)
    func purge(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(10))
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "r1000", "n": 99])
        let error = await #expect(throws: SluiceError.self) { try await device.todos.purge() }
        #expect(error?.code == .operationsPending)
        let withQuery = TableQuery("todos", filter: try QueryExpression(odata: "n lt 5"))
        await #expect(throws: SluiceError.self) { try await device.todos.purge(withQuery, force: true) }
        #expect(try await device.todos.purge(force: true) == 10)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10)
        #expect(try await device.todos.purge(withQuery) == 5)
        #expect(try await device.todos.count() == 5)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10, "what was purged comes back")
    }

    @Test("a purge by a query's name takes the rows it brought", arguments: StoreKind.allCases)
    func purgeByName(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", rows(10))
        try await device.todos.pull(TableQuery("todos", filter: try QueryExpression(odata: "n lt 4")), named: "few")
        try await device.todos.insert(["id": "mine", "n": 50])
        _ = try await device.context.push()
        let odd = TableQuery("todos", filter: try QueryExpression(odata: "n mod 2 eq 1 or n eq 50"))
        #expect(try await device.todos.purge(odd, named: "few") == 2, "only what is both the query's and the name's")
        try await device.todos.pull(TableQuery("todos", filter: try QueryExpression(odata: "n lt 4")), named: "few")
        #expect(try await device.todos.purge(named: "few") == 4)
        #expect(try await device.todos.count() == 1)
        await #expect(throws: SluiceError.self) { try await device.todos.purge(named: "few") }
    }

    @Test("two devices end equal", arguments: StoreKind.allCases)
    func twoDevices(_ kind: StoreKind) async throws {
        let server = ModelServer(pageSize: 7)
        server.seed("todos", rows(30))
        let one = try await Device(kind, server: server, policy: .clientWins)
        let two = try await Device(kind, server: server, policy: .clientWins)
        for device in [one, two] { try await device.todos.pull(named: "all") }
        try await one.todos.update(["id": "r1001", "n": 100])
        try await one.todos.delete(id: "r1002")
        try await one.todos.insert(["id": "one", "n": 1])
        try await two.todos.update(["id": "r1001", "n": 200])
        try await two.todos.delete(id: "r1003")
        try await two.todos.insert(["id": "two", "n": 2])
        for device in [one, two, one] {
            #expect(try await device.context.push().isClean)
            try await device.todos.pull(named: "all")
        }
        let first = try await one.todos.records()
        #expect(try await two.todos.records() == first)
        let remote = server.rows("todos").values.filter { $0["deleted"] != true }
        #expect(Set(first) == Set(remote))
    }
}
