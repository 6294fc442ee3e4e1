import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Servers that give out rows of one time in another order with each request")
struct NoOrderTests {
    /// Shuffles rows that the order asked for does not tell apart; of one that looks at the time alone, all of one time.
    private func device(_ count: Int, page: Int, sortsByID: Bool) async throws -> Device {
        let server = ModelServer(pageSize: page)
        server.seed("todos", (0..<count).map { ["id": JSON("r\(10_000 + $0)"), "n": JSON($0)] })
        server.restamp("todos", (0..<count).map { "r\(10_000 + $0)" }, at: Timestamp("2023-01-01T00:00:00.123Z")!)
        let rows = server.rows("todos")
        let generator = Shared(SeededGenerator(seed: 7))
        server.onRequest { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            var matching = evaluator.apply(to: Array(rows.values))
            matching.sort { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }
            if sortsByID, query.order.first?.column == "id" {
                if query.order.first?.descending == true { matching.reverse() }
            } else {
                generator.change { matching.shuffle(using: &$0) }
            }
            let top = min(query.top ?? page, page)
            return .answer(.model(200, JSON(Array(matching.dropFirst(query.skip).prefix(top)))))
        }
        return try await Device(.memory, server: server, pageSize: 1000)
    }

    @Test(
        "3,000 rows of one time in random order are all here, by the full grade, which the result says",
        arguments: [700])
    func random(_ page: Int) async throws {
        let device = try await device(3000, page: page, sortsByID: true)
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .full && result.reasons == [.noFixedOrder])
        #expect(try await device.todos.count() == 3000)
        device.server.clearLog()
        let next = try await device.todos.pull(named: "all")
        #expect(next.grade == .full)
        #expect(device.server.requests.count < 12, "by id, page for page")
        #expect(try await device.context.status().cursors.map(\.grade) == [.full])
    }

    @Test(
        "a server that refuses $skip has its rows of one time read by id, by the full grade, which the result says",
        arguments: [400, 501])
    func refusesSkip(_ status: Int) async throws {
        let server = ModelServer(pageSize: 50)
        server.seed("todos", (0..<120).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let ids = server.rows("todos").keys
        server.restamp("todos", Array(ids), at: Timestamp("2023-01-01T00:00:00.123Z")!)
        server.onRequest { request in
            let query = try? ModelCall(request).query()
            return query?.skip ?? 0 > 0 ? .answer(.model(status, ["error": "$skip is not supported"])) : .none
        }
        let device = try await Device(.memory, server: server, pageSize: 50)
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .full && result.reasons == [.skipRefused])
        #expect(try await device.todos.count() == 120)
    }

    @Test("neither does one that looks at no order at all hide a row", arguments: [700, 2999])
    func noOrderAtAll(_ page: Int) async throws {
        let device = try await device(3000, page: page, sortsByID: false)
        let result = try await device.todos.pull(named: "all")
        // Where a page has all rows but one there is next to nothing to see of it.
        #expect(result.grade == .full || page == 2999)
        #expect(try await device.todos.count() == 3000)
        try await device.todos.purge(named: "all")
        try await device.todos.pull()
        #expect(try await device.todos.count() == 3000, "without a name")
    }
}
