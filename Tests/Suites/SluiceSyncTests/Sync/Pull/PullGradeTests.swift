import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Grades: a pull finds out what the server can do, and a wrong guess skips nothing")
struct PullGradeTests {
    private func rows(_ count: Int) -> [JSON] { (0..<count).map { ["id": JSON("r\(1000 + $0)"), "n": JSON($0)] } }

    @Test("tokens are followed where they come, and an idle pull is one request", arguments: StoreKind.allCases)
    func tokens(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ServerKind.tokens.make(pageSize: 4))
        device.server.seed("todos", rows(10))
        let first = try await device.todos.pull(named: "all")
        #expect(first.grade == .changeTokens && first.stored == 10)
        device.server.clearLog()
        #expect(try await device.todos.pull(named: "all").stored == 0)
        #expect(device.server.requests.count == 1)
        device.server.seed("todos", [["id": "r1003", "n": 30]])
        device.server.softDelete("todos", "r1004")
        let next = try await device.todos.pull(named: "all")
        #expect(next.stored == 1 && next.deleted == 1, "what is known does not come again")
    }

    @Test("an expired token begins afresh, and what left meanwhile is found", arguments: StoreKind.allCases)
    func expired(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ServerKind.tokens.make(pageSize: 4))
        device.server.seed("todos", rows(10))
        let few = TableQuery("todos", filter: try QueryExpression(odata: "n lt 8"))
        try await device.todos.pull(few, named: "few")
        device.server.hardDelete("todos", "r1001")
        device.server.seed("todos", [["id": "r1002", "n": 99], ["id": "r1009", "n": 1]])
        device.server.expireTokens()
        let result = try await device.todos.pull(few, named: "few")
        #expect(result.deleted + (result.reconcile?.removed ?? 0) == 2 && result.grade == .changeTokens)
        let remote = device.server.rows("todos").values.filter { ($0["n"]?.int ?? 0) < 8 }
        #expect(try await Set(device.todos.records()) == Set(remote))
        device.server.clearLog()
        try await device.todos.pull(few, named: "few")
        #expect(device.server.requests.count == 1)
    }

    @Test("a server that no longer issues tokens is followed by time, from the beginning")
    func tokensLost() async throws {
        let device = try await Device(.memory, server: ServerKind.tokens.make(pageSize: 4))
        device.server.seed("todos", rows(10))
        try await device.todos.pull(named: "all")
        device.server.set(ModelServer.Traits())
        device.server.seed("todos", [["id": "r1003", "n": 30]])
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade != .changeTokens)
        #expect(try await Set(device.todos.records()) == Set(device.server.rows("todos").values))
    }

    @Test(
        "a server that comes to issue tokens is followed by them, from the beginning, and nothing is skipped",
        arguments: [ServerKind.sorted, .loose, .unsorted])
    func tokensFound(_ before: ServerKind) async throws {
        let device = try await Device(.memory, server: before.make(pageSize: 4))
        device.server.seed("todos", rows(20))
        #expect(try await device.todos.pull(named: "all").grade != .changeTokens)
        var traits = ModelServer.Traits()
        traits.issuesChangeTokens = true
        device.server.set(traits)
        device.server.seed("todos", [["id": "r1003", "n": 30]])
        // As one that was committed late: no time tells of it.
        device.server.seed("todos", [["id": "late", "n": 1]])
        device.server.restamp("todos", ["late"], at: Timestamp("2020-01-01T00:00:00Z")!)
        device.server.hardDelete("todos", "r1007")
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .changeTokens && result.reconcile?.removed == 1)
        #expect(try await Set(device.todos.records()) == Set(device.server.rows("todos").values))
        device.server.clearLog()
        #expect(try await device.todos.pull(named: "all").stored == 0)
        #expect(device.server.requests.count == 1)
    }

    @Test("a keyset is used where the order of ties is proven", arguments: StoreKind.allCases)
    func keyset(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ServerKind.sorted.make(pageSize: 5))
        device.server.seed("todos", rows(30))
        device.server.restamp("todos", (0..<28).map { "r\(1000 + $0)" }, at: Timestamp("2023-01-01T00:00:00.123Z")!)
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .keyset && result.stored == 30)
        let paths = device.server.requests.map { PercentEncoding.decoded($0.head.path ?? "") }
        #expect(!paths.contains { $0.contains("$skip") }, "\(paths)")
        // Each page but the first begins with the known row. The last request is for rows without a time.
        #expect(paths.count <= 13, "\(paths)")
        #expect(paths.filter { $0.contains("updatedAt eq null") }.count == 1, "\(paths)")
        device.server.clearLog()
        #expect(try await device.todos.pull(named: "all").stored == 0)
        #expect(device.server.requests.count == 2)
    }

    /// A ceiling at a page with that newest row, after a pull of the same row that ended a minute after it was written.
    private func ceiling(_ row: String, at now: String) throws -> (text: String, isPast: Bool) {
        let (time, date) = (try #require(Timestamp(row)), try #require(Timestamp(now)))
        let first = page(time.advanced(by: .seconds(60)))
        var ceiling = CursorCeiling(
            commitLag: 30 * Timestamp.ticksPerSecond, from: row, clock: ServerClock(row: time, at: first))
        return ceiling.limit((time, row), at: page(date))
    }

    private func page(_ date: Timestamp) -> PullPage {
        PullPage(rows: [], serverDate: date, askedDate: date, localDate: date)
    }

    @Test(
        "a keyset goes past no time that the server still gives to rows, as one of whole days does",
        arguments: [
            ("2026-12-01T00:00:00Z", "2026-12-01T23:59:00Z", false),
            ("2026-12-01T08:00:00Z", "2026-12-02T07:00:00Z", false),
            ("2026-12-01T00:00:00Z", "2026-12-02T00:06:00Z", true),
            ("2026-12-01T09:07:00Z", "2026-12-01T09:08:50Z", false),
            ("2026-12-01T09:07:00Z", "2026-12-01T09:10:00Z", true),
            ("2026-12-01T09:10:00Z", "2026-12-01T09:19:00Z", false),
            ("2026-12-01T09:07:01.5Z", "2026-12-01T09:08:40Z", true),
            ("2026-12-01T09:07:01Z", "2026-12-01T09:08:40Z", true),
        ])
    func coarse(_ row: String, _ now: String, _ isPast: Bool) throws {
        #expect(try ceiling(row, at: now).isPast == isPast)
    }

    @Test(
        "a saved time leaves room for rows that are committed late, also where the server's unit is coarse",
        arguments: [
            ("2026-12-01T04:51:00Z", "2026-12-01T04:50:00Z"), ("2026-12-01T00:00:00Z", "2026-11-30T00:00:00Z"),
            ("2026-12-01T04:51:07Z", "2026-12-01T04:50:36Z"), ("2026-12-01T05:20:00Z", "2026-12-01T05:10:00Z"),
        ])
    func lateCommits(_ row: String, _ most: String) throws {
        let (time, latest) = (try #require(Timestamp(row)), try #require(Timestamp(most)))
        var ceiling = CursorCeiling(commitLag: 30 * Timestamp.ticksPerSecond, from: nil)
        let saved = ceiling.limit((time, row), at: page(time.advanced(by: .seconds(1)))).text
        #expect(try #require(Timestamp(saved)) <= latest, "\(saved)")
    }

    @Test(
        "a server that sorts ties otherwise, and would seem not to, loses no row", arguments: 2...9, StoreKind.allCases)
    func looseTies(_ pageSize: Int, _ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ServerKind.loose.make(pageSize: pageSize))
        // Stored backwards, so that its own order shows the ids ascending.
        device.server.seed("todos", rows(14).reversed())
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        device.server.restamp("todos", Array(device.server.rows("todos").keys), at: Timestamp("2023-01-01T00:00:00Z")!)
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .timestamps)
        #expect(try await device.todos.count() == 16)
    }

    @Test("a keyset that brings nothing new is given up for the time alone")
    func fallBack() async throws {
        let position = CursorPosition(grade: .keyset, updatedAt: "2023-01-01T00:00:00.123Z", id: "c")
        var session = IncrementalPullSession(cursor: position, pageSize: 2, commitLag: 0)
        #expect(
            session.handle(.began).request?.position == .after(time: "2023-01-01T00:00:00.123Z", id: "c"))
        func row(_ id: String) -> RowPage.Row {
            RowPage.Row(
                id: RecordID(id), version: "1", updatedAt: "2023-01-01T00:00:00.123Z", isDeleted: false, token: 0)
        }
        let page = PullPage(rows: [row("d"), row("e")])
        #expect(session.handle(.page(page)).rows == [0, 1])
        #expect(session.handle(.committed).request?.position == .from(time: "2023-01-01T00:00:00.123Z", id: "e"))
        let again = session.handle(.page(page)).request
        #expect(again == PullRequest(position: .changedSince("2023-01-01T00:00:00.123Z"), skip: 0, top: 2))
        #expect(session.grade == .timestamps)
        #expect(session.handle(.page(page)).request?.skip == 1)
        #expect(session.handle(.page(PullPage(rows: [row("e"), row("f")]))).rows == [1])
    }

    @Test("a row whose time cannot be read, and which comes with each page by key, is no progress")
    func untimedAfterKnown() async throws {
        let time = "2023-01-01T00:00:00.123Z"
        func row(_ id: String, _ time: String) -> RowPage.Row {
            RowPage.Row(id: RecordID(id), version: "1", updatedAt: time, isDeleted: false, token: 0)
        }
        let position = CursorPosition(grade: .keyset, updatedAt: time, id: "c")
        var session = IncrementalPullSession(cursor: position, pageSize: 5, commitLag: 0)
        _ = session.handle(.began)
        #expect(session.handle(.page(PullPage(rows: [row("d", time)]))).rows == [0])
        let page = PullPage(rows: [row("d", time), row("o", "some day")])
        #expect(session.handle(.committed).request?.position == .from(time: time, id: "d"))
        #expect(session.handle(.page(page)).rows == [1])
        #expect(session.handle(.committed).request?.position == .from(time: time, id: "d"))
        // Read once more by the time alone, as each page by key that brings nothing new.
        #expect(session.handle(.page(page)).request?.position == .changedSince(time))
    }

    @Test("a page by key that holds the known row alone is no end, and what comes after that row is asked for")
    func knownRowAlone() async throws {
        let time = "2023-01-01T00:00:00.123Z"
        func page(_ ids: String...) -> PullPage {
            PullPage(
                rows: ids.map {
                    RowPage.Row(id: RecordID($0), version: "1", updatedAt: time, isDeleted: false, token: 0)
                })
        }
        let position = CursorPosition(grade: .keyset, updatedAt: time, id: "c")
        var session = IncrementalPullSession(cursor: position, pageSize: 1, commitLag: 0)
        _ = session.handle(.began)
        #expect(session.handle(.page(page("d"))).rows == [0])
        #expect(
            session.handle(.committed).request == PullRequest(position: .from(time: time, id: "d"), skip: 0, top: 2))
        #expect(session.handle(.page(page("d"))).request?.position == .after(time: time, id: "d"))
        #expect(session.handle(.page(page("e"))).rows == [0], "a server that sends one row at a time")
        #expect(session.handle(.committed).request?.position == .from(time: time, id: "e"))
        #expect(session.handle(.page(page("e"))).request?.position == .after(time: time, id: "e"))
        #expect(session.handle(.page(page())).request?.position == .withoutTime(behindID: nil))
        guard case .finish(nil) = session.handle(.page(page())) else {
            Issue.record("an empty page of rows without a time is the end")
            return
        }
    }

    @Test("a question about ties that the server does not understand is no error")
    func refusedQuestion() async throws {
        let device = try await Device(.memory, server: ServerKind.sorted.make(pageSize: 5))
        device.server.seed("todos", rows(12))
        device.server.restamp("todos", (0..<12).map { "r\(1000 + $0)" }, at: Timestamp("2023-01-01T00:00:00Z")!)
        device.server.onRequest { request in
            (request.head.path ?? "").contains("desc") ? .answer(.model(400, ["error": "no"])) : .none
        }
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .timestamps && result.stored == 12)
    }

    @Test("a server that does not sort by id either is read in passes", arguments: 2...4)
    func passes(_ pageSize: Int) async throws {
        let device = try await Device(.memory, server: ServerKind.unsorted.make(pageSize: pageSize))
        device.server.seed("todos", rows(9).reversed())
        let model = device.server
        let count = Counter()
        model.onRequest { _ in
            if count.next() == 3 { model.seed("todos", [["id": "new", "n": 1]]) }
            return .none
        }
        try await device.todos.pull()
        #expect(try await device.todos.count() == 10)
    }

    @Test("a server that does not sort, and whose pages are in order by chance, shows itself", arguments: [2, 4, 8])
    func lucky(_ pageSize: Int) async throws {
        let device = try await Device(.memory, server: ServerKind.unsorted.make(pageSize: pageSize))
        device.server.seed("todos", rows(30))
        // As they are stored, all times ascend except for some old ones that no page shows beside newer ones.
        let old = Timestamp("2020-01-01T00:00:00Z")!
        for number in 24..<30 { device.server.restamp("todos", ["r\(1000 + number)"], at: old) }
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .full)
        #expect(try await device.todos.count() == 30)
    }

    /// Rows whose storage order shows ids that ascend, except for one at the end that belongs before them all.
    private func lastIsFirst(_ server: ModelServer, _ count: Int) {
        server.seed("todos", Array(rows(count + 1).dropFirst()))
        server.seed("todos", [["id": "r1000", "n": 0]])
        server.restamp("todos", ["r1000"], at: Timestamp("2020-01-01T00:00:00Z")!)
    }

    @Test("ids that ascend by chance hide no row", arguments: [4, 11, 24], [4, 50])
    func luckyIDs(_ count: Int, _ pageSize: Int) async throws {
        let device = try await Device(.memory, server: ServerKind.unsorted.make(pageSize: 4), pageSize: pageSize)
        lastIsFirst(device.server, count)
        try await device.todos.pull()
        #expect(try await device.todos.count() == count + 1)
    }

    @Test("a server that is known not to sort is not followed by id, and a reconcile does not do it either")
    func luckyIDsNamed() async throws {
        let device = try await Device(.memory, server: ServerKind.unsorted.make(pageSize: 4), pageSize: 4)
        lastIsFirst(device.server, 24)
        #expect(try await device.todos.pull(named: "all").grade == .full)
        #expect(try await device.todos.count() == 25)
        #expect(try await device.todos.reconcile(named: "all").removed == 0)
        #expect(try await device.todos.count() == 25)
        device.server.seed("todos", [["id": "r0999", "n": 0]])
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 26)
    }

    @Test("that a server sorts by id is asked before each page after an id, with two rows, and of one row not at all")
    func orderOfIDs() async throws {
        let device = try await Device(.memory, server: ServerKind.sorted.make(pageSize: 4), pageSize: 4)
        device.server.seed("todos", rows(1))
        try await device.todos.pull()
        #expect(device.server.requests.count == 2)
        device.server.seed("todos", rows(11))
        device.server.clearLog()
        try await device.todos.pull()
        let paths = device.server.requests.map { PercentEncoding.decoded($0.head.path ?? "") }
        // Pages of 4, 4 and 3 rows and the empty one, and a question before each but the first.
        #expect(paths.count == 7, "\(paths)")
        let asked = paths.filter { $0.contains("$orderby=id desc") && $0.contains("$top=2") }
        #expect(asked.count == 3 && asked.last?.contains("(id le 'r1010')") == true, "\(paths)")
    }

    @Test("ids ascend in the order of bytes, or of letters")
    func order() {
        #expect(IDOrder.isAscending(["A", "B", "a"]) && IDOrder.isAscending(["a", "B", "c"]))
        #expect(!IDOrder.isAscending(["b", "a"]) && !IDOrder.isAscending(["a", "a"]) && IDOrder.isAscending([]))
    }
}

extension PullEffect {
    var request: PullRequest? { if case .request(let request) = self { request } else { nil } }
    var rows: [Int]? { if case .commit(let rows, _) = self { rows } else { nil } }
}
