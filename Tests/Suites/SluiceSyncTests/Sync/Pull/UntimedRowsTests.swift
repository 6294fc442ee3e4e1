import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Rows without a time of change: none stays after")
struct UntimedRowsTests {
    /// A Datasync server that sorts rows without a time last, and in the order in which they are stored.
    private func serve(_ rows: Changeable<[JSON]>, page: Int, sortsIDs: Bool)
        -> @Sendable (SyncRequest) -> ModelServer.Fault
    {
        { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .answer(.model(400, nil)) }
            let found = evaluator.apply(to: rows.value)
            var timed = found.filter { $0["updatedAt"]?.string != nil }
            var untimed = found.filter { $0["updatedAt"]?.string == nil }
            let isDescending = query.order.first?.descending ?? false
            timed.sort { (($0["updatedAt"]?.string ?? "") < ($1["updatedAt"]?.string ?? "")) != isDescending }
            if sortsIDs { untimed.sort { (($0["id"]?.string ?? "") < ($1["id"]?.string ?? "")) != isDescending } }
            let sorted = isDescending ? untimed + timed : timed + untimed
            return .answer(
                .model(200, ["items": JSON(Array(sorted.dropFirst(query.skip).prefix(min(query.top ?? page, page))))]))
        }
    }

    private func row(_ id: String, _ second: Int?) -> JSON {
        ["id": JSON(id), "version": "1", "updatedAt": second.map { JSON("2024-01-01T00:00:0\($0).000Z") } ?? .null]
    }

    @Test(
        "a first pull that was interrupted has the next look for them", arguments: 1...9, [true, false])
    func interrupted(_ moment: Int, _ hasSome: Bool) async throws {
        let device = try await Device(.memory, pageSize: 2, dialect: .datasync)
        let untimed = hasSome ? [row("u1", nil), row("u2", nil), row("u3", nil)] : []
        let rows = Changeable((1...5).map { (second: Int) in row("t\(second)", second) } + untimed)
        let answer = serve(rows, page: 2, sortsIDs: true)
        let count = Counter()
        device.server.onRequest { request in count.next() >= moment ? .loseRequest : answer(request) }
        _ = try? await device.todos.pull(named: "all")
        device.server.onRequest(answer)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == rows.value.count)
        rows.value.append(row("t9", 9))
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == rows.value.count)
    }

    @Test(
        "those that appear after the first pull come with the next, and on every wire, wherever they are sorted",
        arguments: [Dialect.azureV1, .azureV2, .azureV3, .datasync])
    func later(_ dialect: Dialect) async throws {
        let device = try await Device(.memory, pageSize: 2, dialect: dialect)
        let (version, time) = (dialect.columns.version, dialect.columns.updatedAt)
        func row(_ id: String, _ second: Int?) -> JSON {
            let stamp: JSON = second.map { JSON("2024-01-01T00:00:0\($0).000Z") } ?? .null
            return JSON(members: [("id", JSON(id)), (version, JSON("1")), (time, stamp)] as [(PropertyName, JSON)])
        }
        let rows = Changeable((1...5).map { (second: Int) in row("t\(second)", second) } + [row("u1", nil)])
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .answer(.model(400, nil)) }
            let isDescending = query.order.first?.descending ?? false
            let sorted = evaluator.apply(to: rows.value).sorted { left, right in
                func key(_ row: JSON) -> String {
                    let isByID = query.order.first?.column == "id"
                    return (isByID ? "" : row[time]?.string ?? "9") + (row["id"]?.string ?? "")
                }
                return (key(left) < key(right)) != isDescending
            }
            return .answer(.model(200, JSON(Array(sorted.dropFirst(query.skip).prefix(query.top ?? 2)))))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 6)
        rows.value.append(row("u0", nil))
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 7)
    }

    @Test("a server that cannot be asked for them is followed without them", arguments: [400, 500])
    func refused(_ status: Int) async throws {
        let device = try await Device(.memory, pageSize: 2, dialect: .datasync)
        let answer = serve(
            Changeable((1...5).map { (second: Int) in row("t\(second)", second) }), page: 2, sortsIDs: true)
        device.server.onRequest { request in
            (request.head.path ?? "").contains("eq%20null") ? .answer(.model(status, nil)) : answer(request)
        }
        for _ in 0..<2 { try await device.todos.pull(named: "all") }
        #expect(try await device.todos.count() == 5)
    }

    @Test("a table that is away for a moment is no refusal: the pull fails, and the next brings them")
    func away() async throws {
        let device = try await Device(.memory, pageSize: 2, dialect: .datasync)
        let answer = serve(Changeable([row("t1", 1), row("u1", nil)]), page: 2, sortsIDs: true)
        device.server.onRequest { request in
            (request.head.path ?? "").contains("eq%20null") ? .answer(.model(404, nil)) : answer(request)
        }
        await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        device.server.onRequest(answer)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 2)
    }

    @Test(
        "a server that does not sort them by id gives them all", arguments: [1, 2, 3, 50],
        [["u5", "u6", "u7", "u1", "u2"], ["u2", "u1", "u5"], ["u1", "u2", "u3", "u0"]])
    func unsorted(_ page: Int, _ ids: [String]) async throws {
        let device = try await Device(.memory, pageSize: page, dialect: .datasync)
        let rows = Changeable([row("t1", 1), row("t2", 2)] + ids.map { row($0, nil) })
        device.server.onRequest(serve(rows, page: page, sortsIDs: false))
        for _ in 0..<2 {
            try await device.todos.pull(named: "all")
            #expect(try await device.todos.count() == rows.value.count)
        }
    }
}
