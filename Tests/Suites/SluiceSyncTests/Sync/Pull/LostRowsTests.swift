import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// The fifteen ways in which pulls of this family are known to lose or repeat rows: each with the history that breaks
/// an engine of that kind.
@Suite("Lost rows: the known ways to lose or repeat them")
struct LostRowsTests {
    private func rows(_ count: Int) -> [JSON] {
        (0..<count).map { ["id": JSON("r\(1000 + $0)"), "n": JSON($0)] }
    }

    private func ids(_ range: Range<Int>) -> [String] { range.map { "r\(1000 + $0)" } }

    private func time(_ text: String) -> Timestamp { Timestamp(text)! }

    @Test("1: ge and the last row: a full page of one time is not read again for ever", arguments: StoreKind.allCases)
    func repeatedLastRow(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 5))
        device.server.seed("todos", rows(17))
        device.server.restamp("todos", ids(0..<15).map(RecordID.init), at: time("2023-01-01T00:00:00.123Z"))
        device.server.restamp("todos", ids(15..<17).map(RecordID.init), at: time("2022-01-01T00:00:00Z"))
        #expect(try await device.todos.pull(named: "all").grade == .keyset)
        #expect(try await device.todos.count() == 17)
        for _ in 0..<2 {
            device.server.clearLog()
            let idle = try await device.todos.pull(named: "all")
            #expect(idle.stored == 0 && device.server.requests.count == 2)
        }
        device.server.seed("todos", [["id": "r1000", "n": 7]])
        #expect(try await device.todos.pull(named: "all").stored == 1)
    }

    @Test(
        "2: gt with times cut to milliseconds: a row committed later in the same millisecond comes, and a group larger than a page ends",
        arguments: StoreKind.allCases, [2, 3, 7, 50])
    func cutTimes(_ kind: StoreKind, _ pageSize: Int) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: pageSize))
        device.server.seed("todos", rows(9))
        for (index, id) in ids(0..<8).enumerated() {
            device.server.restamp("todos", [RecordID(id)], at: time("2023-01-01T00:00:00.123000\(index + 1)Z"))
        }
        device.server.restamp("todos", ["r1008"], at: time("2022-01-01T00:00:00Z"))
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .timestamps, "what is finer than it is written cannot be a key")
        #expect(try await device.todos.count() == 9)
        device.server.seed("todos", [["id": "late", "n": 1]])
        device.server.restamp("todos", ["late"], at: time("2023-01-01T00:00:00.1230009Z"))
        try await device.todos.pull(named: "all")
        #expect(try await device.local("late")?["n"] == 1)
    }

    @Test("3: a time kept in whole seconds or another clock's words: the cursor is what the server wrote")
    func exactTimes() async throws {
        let device = try await Device(.memory)
        let text = "2023-01-01T02:00:00.1234567+02:00"
        device.server.onRequest { request in
            let isFirst = !(request.head.path ?? "").contains("filter")
            let page: JSON = [["id": "a", "updatedAt": JSON(text), "version": "1"]]
            return .answer(.model(200, isFirst ? page : .array))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.context.status().cursors.first?.updatedAt == text)
        device.server.clearLog()
        try await device.todos.pull(named: "all")
        let path = PercentEncoding.decoded(device.server.requests.first?.head.path ?? "")
        #expect(path.contains("updatedAt ge datetimeoffset'2023-01-01T00:00:00.1234567Z'"), "\(path)")
    }

    @Test(
        "4: $skip over rows that move: a row that is changed while pages are read hides no other",
        arguments: ServerKind.sorting, [1, 2, 5])
    func movingRows(_ server: ServerKind, _ pageSize: Int) async throws {
        for moment in 1..<8 {
            let device = try await Device(.memory, server: server.make(pageSize: pageSize))
            device.server.seed("todos", rows(12))
            if server != .tokens {
                device.server.restamp("todos", ids(0..<9).map(RecordID.init), at: time("2023-01-01T00:00:00Z"))
            }
            let count = Counter()
            let model = device.server
            model.onRequest { _ in
                if count.next() == moment {
                    model.seed("todos", [["id": "r1000", "n": 100], ["id": "r1005", "n": 100]])
                }
                return .none
            }
            try await device.todos.pull(named: "all")
            model.onRequest(nil)
            try await device.todos.pull(named: "all")
            let here = try await device.todos.records()
            #expect(Set(here) == Set(model.rows("todos").values), "changed at request \(moment)")
        }
    }

    @Test("5: a transaction that is committed after a later time is not passed by", arguments: [true, false])
    func lateCommit(_ hasTokens: Bool) async throws {
        let server = (hasTokens ? ServerKind.tokens : .sorted).make(pageSize: 50)
        let device = try await Device(.memory, server: server, commitLag: hasTokens ? .zero : .seconds(30))
        server.seed("todos", rows(3))
        try await device.todos.pull(named: "all")
        let latest = try #require(server.rows("todos")["r1002"]?["updatedAt"]?.string.flatMap { Timestamp($0) })
        server.seed("todos", [["id": "late", "n": 1]])
        server.restamp("todos", ["late"], at: Timestamp(ticks: latest.ticks - 10 * Timestamp.ticksPerSecond))
        try await device.todos.pull(named: "all")
        #expect(try await device.local("late")?["n"] == 1)
    }

    @Test(
        "6: the last row's time instead of the latest: a server that does not sort has all its rows read, and is told")
    func unsorted() async throws {
        let device = try await Device(.memory, server: ServerKind.unsorted.make(pageSize: 4))
        device.server.seed("todos", rows(10))
        device.server.seed("todos", [["id": "r1001", "n": 100], ["id": "r1007", "n": 100]])
        let first = try await device.todos.pull(named: "all")
        #expect(first.grade == .full)
        #expect(try await device.todos.count() == 10)
        device.server.seed("todos", [["id": "r1000", "n": 5], ["id": "r1004", "n": 6]])
        device.server.softDelete("todos", "r1002")
        let second = try await device.todos.pull(named: "all")
        #expect(second.grade == .full && second.deleted == 1)
        #expect(try await device.local("r1000")?["n"] == 5)
        #expect(try await device.local("r1004")?["n"] == 6)
        #expect(try await device.context.status().cursors.map(\.grade) == [.full])
    }

    @Test("7: rows without a time of change neither stop the pull nor stay as they were", arguments: [false, true])
    func withoutTime(_ isLast: Bool) async throws {
        let device = try await Device(.memory, dialect: isLast ? .datasync : .azureV2)
        let version = Mutex("1")
        device.server.onRequest { request in
            let path = PercentEncoding.decoded(request.head.path ?? "")
            let timed: JSON = ["id": "b", "updatedAt": "2023-01-01T00:00:00.000Z", "version": "1"]
            let untimed: JSON = ["id": "a", "updatedAt": .null, "version": JSON(version.withLock { $0 })]
            if path.contains("eq null") { return .answer(.model(200, path.contains("id gt") ? .array : [untimed])) }
            if path.contains("updatedAt ge") { return .answer(.model(200, path.contains("id ne") ? .array : [timed])) }
            return .answer(.model(200, isLast ? [timed] : [untimed, timed]))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 2)
        version.withLock { $0 = "2" }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.lookup(id: "a")?["version"] == "2")
    }

    @Test("8: a row that leaves the query goes: at once by tokens, else by a reconcile", arguments: ServerKind.allCases)
    func leavesQuery(_ server: ServerKind) async throws {
        let device = try await Device(.memory, server: server.make(pageSize: 4))
        device.server.seed("todos", rows(6))
        let few = TableQuery("todos", filter: try QueryExpression(odata: "n lt 100"))
        try await device.todos.pull(few, named: "few")
        device.server.seed("todos", [["id": "r1003", "n": 500]])
        let result = try await device.todos.pull(few, named: "few")
        if server == .tokens {
            #expect(result.deleted == 1)
        } else {
            #expect(try await device.todos.reconcile(few, named: "few").removed == 1)
        }
        #expect(try await device.local("r1003") == nil)
        #expect(try await device.todos.count() == 5)
    }

    @Test(
        "9: a row that is deleted without a trace, or without a new time, goes by a reconcile",
        arguments: ServerKind.allCases)
    func hardDelete(_ server: ServerKind) async throws {
        let device = try await Device(.memory, server: server.make(pageSize: 4))
        device.server.seed("todos", rows(8))
        try await device.todos.pull(named: "all")
        device.server.hardDelete("todos", "r1001")
        device.server.deleteUntold("todos", "r1002")
        let pulled = try await device.todos.pull(named: "all")
        #expect(try await device.todos.reconcile(named: "all").removed + pulled.deleted == 2)
        #expect(try await device.todos.count() == 6)
    }

    @Test("10: a query that has changed under its name brings its older rows, and lets those of before go")
    func changedQuery() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", rows(20))
        func query(_ text: String) throws -> TableQuery {
            TableQuery("todos", filter: try QueryExpression(odata: text))
        }
        try await device.todos.pull(try query("n ge 10"), named: "mine")
        try await device.todos.pull(try query("n lt 12"), named: "mine")
        let numbers = try await device.todos.records().compactMap { $0["n"]?.int }
        #expect(numbers.sorted() == Array(0..<12))
    }

    @Test("11: a purge takes the cursor along, so the next pull is complete", arguments: ServerKind.allCases)
    func purge(_ server: ServerKind) async throws {
        let device = try await Device(.memory, server: server.make(pageSize: 4))
        device.server.seed("todos", rows(10))
        try await device.todos.pull(named: "all")
        try await device.todos.purge(TableQuery("todos", filter: try QueryExpression(odata: "n gt 4")))
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10)
        try await device.todos.purge(named: "all")
        #expect(try await device.todos.count() == 0)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10)
    }

    @Test(
        "12: rows and cursor are one transaction: whatever use of the store is the last, nothing is skipped",
        arguments: ServerKind.sorting, 0..<30)
    func together(_ server: ServerKind, _ uses: Int) async throws {
        let store = MortalStore(MemoryStore())
        let model = server.make(pageSize: 3)
        model.seed("todos", rows(10))
        if server != .tokens { model.restamp("todos", ids(2..<9).map(RecordID.init), at: time("2023-01-01T00:00:00Z")) }
        let device = try await Device(.memory, server: model, store: store)
        store.die(after: uses)
        _ = try? await device.todos.pull(named: "all")
        store.revive()
        let next = try await Device(.memory, server: model, store: store)
        try await next.todos.pull(named: "all")
        #expect(try await Set(next.todos.records()) == Set(model.rows("todos").values))
    }

    @Test("13: two tables with queries of one name have a cursor each")
    func oneNameTwoTables() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", rows(3))
        device.server.seed("other", rows(4))
        device.server.restamp("other", ids(0..<4).map(RecordID.init), at: time("2020-01-01T00:00:00Z"))
        try await device.todos.pull(named: "q")
        let other = try device.context.table("other")
        try await other.pull(named: "q")
        #expect(try await other.count() == 4)
    }

    @Test(
        "14: tombstones of rows that never were here write nothing and count for nothing",
        arguments: ServerKind.sorting)
    func firstTombstones(_ server: ServerKind) async throws {
        let device = try await Device(.memory, server: server.make(pageSize: 4))
        device.server.seed("todos", rows(12))
        for id in ids(0..<9) { device.server.softDelete("todos", RecordID(id)) }
        let result = try await device.todos.pull(named: "all")
        #expect(result.stored == 3 && result.deleted == 0)
        #expect(try await device.todos.count() == 3)
    }

    @Test("15: a page that cannot be stored ends the pull with the error, and the cursor stays before it")
    func failedPage() async throws {
        let store = FailingStore(MemoryStore())
        let model = ModelServer(pageSize: 3)
        model.seed("todos", rows(10))
        let device = try await Device(.memory, server: model, store: store)
        store.failsToWrite("r1004")
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .storeFull)
        #expect(try await device.todos.count() == 3)
        store.failsToWrite(nil)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 10)
    }
}
