import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Reads by ids: a short page is not the whole truth, and an address has its bounds")
struct ReadByIDTests {
    private static let old = Timestamp("2020-01-01T00:00:00Z")!

    /// An id of 36 characters, as most have.
    private func uuid(_ number: Int) -> String { "0192f0c4-7a3b-7def-8a90-00000000\(1000 + number)" }

    /// A device whose named query is in step, and then so many rows on the server that no time tells of.
    private func device(_ server: ServerKind, pageSize: Int, after count: Int) async throws -> Device {
        let device = try await Device(.memory, server: server.make(pageSize: pageSize))
        device.server.seed("todos", [["id": "first", "n": 0]])
        try await device.todos.pull(named: "all")
        let ids = (0..<count).map(uuid)
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1] })
        device.server.restamp("todos", ids.map(RecordID.init), at: Self.old)
        return device
    }

    @Test(
        "a server that sends fewer rows at once than are asked for by their ids gives them all", arguments: [1, 3, 7],
        [ServerKind.sorted, .loose])
    func cappedPages(_ pageSize: Int, _ server: ServerKind) async throws {
        let device = try await device(server, pageSize: pageSize, after: 30)
        #expect(try await device.todos.reconcile(named: "all").stored == 30)
        #expect(try await device.todos.count() == 31)
    }

    @Test("no row goes because a page by ids was short of it", arguments: [1, 3, 7])
    func nothingGoes(_ pageSize: Int) async throws {
        let device = try await device(.sorted, pageSize: pageSize, after: 20)
        try await device.todos.reconcile(named: "all")
        let model = device.server
        let ids = (0..<10).map(uuid)
        // They are away while the rows are listed, and back when they are asked for by their ids.
        for id in ids { model.softDelete("todos", RecordID(id)) }
        model.onRequest { request in
            if PercentEncoding.decoded(request.head.path ?? "").contains("id eq") {
                model.seed("todos", ids.map { ["id": JSON($0), "n": 1] })
                model.onRequest(nil)
            }
            return .none
        }
        #expect(try await device.todos.reconcile(named: "all").removed == 0)
        #expect(try await device.todos.count() == 21)
    }

    @Test("an address is kept within what servers take", arguments: [404, 414])
    func longAddress(_ status: Int) async throws {
        let device = try await device(.sorted, pageSize: 50, after: 90)
        device.server.clearLog()
        device.server.onRequest { request in
            let query = (request.head.path ?? "").split(separator: "?").dropFirst().first ?? ""
            return query.utf8.count > 2048 ? .answer(.model(status, nil)) : .none
        }
        #expect(try await device.todos.reconcile(named: "all").stored == 90)
        #expect(device.server.requests.count < 12)
    }

    @Test("a server that takes fewer conditions in a filter is asked for fewer rows at once", arguments: [1, 7, 24])
    func fewConditions(_ most: Int) async throws {
        let device = try await device(.sorted, pageSize: 50, after: 60)
        device.server.onRequest { request in
            let terms = PercentEncoding.decoded(request.head.path ?? "").split(separator: "id eq").count - 1
            return terms > most ? .answer(.model(400, ["error": "too many nodes"])) : .none
        }
        #expect(try await device.todos.reconcile(named: "all").stored == 60)
    }

    @Test("a refusal that is not of the number of rows is passed on")
    func refused() async throws {
        let device = try await device(.sorted, pageSize: 50, after: 60)
        device.server.onRequest { request in
            PercentEncoding.decoded(request.head.path ?? "").contains("id eq") ? .answer(.model(400, nil)) : .none
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.reconcile(named: "all") }
        #expect(error?.code == .rejected)
        #expect(try await device.todos.count() == 1)
    }

    @Test("a group whose ids fill no address is read all the same", arguments: [404, 414, 400], [30, 38])
    func longQuestion(_ status: Int, _ count: Int) async throws {
        let device = try await Device(.memory, server: ServerKind.loose.make(pageSize: 50))
        let ids = (0..<count).map(uuid)
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1] })
        device.server.restamp("todos", ids.map(RecordID.init), at: Self.old)
        device.server.onRequest { request in
            (request.head.path ?? "").utf8.count > 1200 ? .answer(.model(status, nil)) : .none
        }
        #expect(try await device.todos.pull(named: "all").stored == count)
        device.server.seed("todos", [["id": "later", "n": 1]])
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == count + 1)
    }

    @Test("what is refused while a page of changes is stored is no refusal of its token", arguments: [400, 410, 501])
    func notTheToken(_ status: Int) {
        var refusal = SluiceError(.rejected, "no")
        refusal.status = status
        func session() -> NamedPullSession {
            NamedPullSession(cursor: CursorPosition(token: "t1"), query: TableQuery("t"), pageSize: 5, commitLag: 0)
        }
        var storing = session()
        _ = storing.handle(.began)
        let row = RowPage.Row(id: "a", version: "1", updatedAt: nil, isDeleted: false, token: 0)
        #expect(storing.handle(.page(PullPage(rows: [row], token: "t2"))).rows == [0])
        guard case .finish(let error?) = storing.handle(.failed(refusal)) else {
            Issue.record("the pull began afresh")
            return
        }
        #expect(error.status == status && !storing.beganAfresh)
        var asking = session()
        _ = asking.handle(.began)
        #expect(asking.handle(.failed(refusal)).request?.position == .tracked && asking.beganAfresh)
    }

    @Test("where the tokens of a pull that began afresh are refused too, the rest of it asks for none")
    func refusedAgain() {
        var refusal = SluiceError(.rejected, "the token is too old")
        refusal.status = 410
        var session = NamedPullSession(
            cursor: CursorPosition(token: "t1"), query: TableQuery("t"), pageSize: 1, commitLag: 0)
        _ = session.handle(.began)
        #expect(session.handle(.failed(refusal)).request?.position == .tracked)
        let row = RowPage.Row(id: "a", version: "1", updatedAt: nil, isDeleted: false, token: 0)
        #expect(session.handle(.page(PullPage(rows: [row], token: "t2"))).rows == [0])
        #expect(session.handle(.committed).request?.position == .token("t2"))
        #expect(session.handle(.failed(refusal)).request?.position == .start)
        #expect(session.isDoubtful)
    }
}
