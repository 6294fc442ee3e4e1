import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Limits of a pull: no server empties a table, runs for ever, or hides rows after a wrong time")
struct PullLimitTests {
    private func rows(_ count: Int) -> [JSON] { (0..<count).map { ["id": JSON("r\(1000 + $0)"), "n": JSON($0)] } }

    private func guarded(_ rows: Int, _ percent: Int) -> PullOptions {
        var options = PullOptions()
        options.maximumRemovedRows = rows
        options.maximumRemovedPercent = percent
        return options
    }

    @Test(
        "tombstones of most of a table are held until they are allowed", arguments: ServerKind.allCases,
        StoreKind.allCases)
    func massTombstones(_ server: ServerKind, _ kind: StoreKind) async throws {
        let device = try await Device(kind, server: server.make(pageSize: 100), pull: guarded(10, 50))
        device.server.seed("todos", rows(40))
        try await device.todos.pull(named: "all")
        for row in rows(25) { device.server.softDelete("todos", row["id"]!.textID!) }
        let before = try await device.context.status().cursors
        for _ in 0..<2 {
            let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
            #expect(error?.code == .removalsHeld && error?.table == "todos")
            #expect(try await device.todos.count() == 40)
            #expect(try await device.context.status().cursors == before)
        }
        #expect(try await device.todos.pull(named: "all", allowsMassRemoval: true).deleted == 25)
        #expect(try await device.todos.count() == 15)
    }

    @Test("they are counted over all pages of a pull, and a few are none")
    func overPages() async throws {
        let device = try await Device(.memory, server: ServerKind.tokens.make(pageSize: 5), pull: guarded(10, 50))
        device.server.seed("todos", rows(40))
        try await device.todos.pull(named: "all")
        for row in rows(19) { device.server.softDelete("todos", row["id"]!.textID!) }
        #expect(try await device.todos.pull(named: "all").deleted == 19, "less than half")
        for row in rows(40).suffix(21) { device.server.softDelete("todos", row["id"]!.textID!) }
        await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(try await device.todos.count() > 10)
    }

    @Test("a reconcile that finds most rows gone is held as well", arguments: [ServerKind.tokens, .sorted])
    func reconcile(_ server: ServerKind) async throws {
        let device = try await Device(.memory, server: server.make(pageSize: 100), pull: guarded(10, 50))
        device.server.seed("todos", rows(40))
        try await device.todos.pull(named: "all")
        for row in rows(30) { device.server.hardDelete("todos", row["id"]!.textID!) }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.reconcile(named: "all") }
        #expect(error?.code == .removalsHeld)
        #expect(try await device.todos.count() == 40)
        #expect(try await device.todos.reconcile(named: "all", allowsMassRemoval: true).removed == 30)
    }

    @Test("a pull ends at its limits, and the next goes on", arguments: ServerKind.sorting)
    func limits(_ server: ServerKind) async throws {
        var options = PullOptions()
        options.maximumPages = 3
        let device = try await Device(.memory, server: server.make(pageSize: 4), pull: options)
        device.server.seed("todos", rows(20))
        var pulls = 0
        while pulls < 10 {
            pulls += 1
            do {
                try await device.todos.pull(named: "all")
                break
            } catch let error as SluiceError {
                #expect(error.code == .limitReached)
            }
        }
        #expect(try await device.todos.count() == 20)
    }

    @Test(
        "a time in the future hides no later row, with the server's clock and without", arguments: [true, false],
        [
            "9999-12-31T23:59:59.999Z", "2050-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "yesterday",
            "2023-99-99T00:00:00Z",
        ])
    func wrongTimes(_ hasClock: Bool, _ time: String) async throws {
        let device = try await Device(.memory, server: ModelServer(pageSize: 5))
        let model = device.server
        let rows = Changeable<[JSON]>([
            ["id": "a", "version": "1", "updatedAt": "2023-11-14T00:00:00.000Z"],
            ["id": "odd", "version": "1", "updatedAt": JSON(time)],
        ])
        model.onRequest { request in
            let call = ModelCall(request)
            guard let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(
                    TableQuery("", filter: query.filter, order: query.order, skip: query.skip, top: 5), schema: nil)
            else { return .none }
            var response = SyncResponse.model(200, JSON(evaluator.apply(to: rows.value)))
            if hasClock { response.head.headerFields[.date] = "Tue, 14 Nov 2023 22:00:00 GMT" }
            return .answer(response)
        }
        try await device.todos.pull(named: "all")
        // What is no time leads nowhere: such a row is set aside.
        let isTime = Timestamp(time) != nil
        #expect(try await device.todos.count() == (isTime ? 2 : 1))
        #expect(try await device.context.quarantine().map(\.recordID) == (isTime ? [] : ["odd"]))
        rows.value.append(["id": "later", "version": "1", "updatedAt": "2023-11-14T22:30:00.000Z"])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("later") != nil)
    }

    @Test("a token that comes again ends the pull with an error, not never", arguments: 1...3)
    func repeatedTokens(_ period: Int) async throws {
        let device = try await Device(.memory)
        let count = Counter()
        device.server.onRequest { _ in
            let number = count.next()
            var response = SyncResponse.model(200, [["id": JSON("r\(number % 4)"), "version": JSON("\(number)")]])
            if let name = HTTPField.Name("X-Sluice-Delta-Token") {
                response.head.headerFields[name] = "t\(number % period)"
            }
            return .answer(response)
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .brokenProtocol && device.server.requests.count < 10)
    }

    @Test("pages that come by turn for ever end the pull with an error", arguments: [nil, "all"] as [String?], 2...5)
    func alternatingPages(_ name: String?, _ period: Int) async throws {
        let device = try await Device(.memory)
        let count = Counter()
        device.server.onRequest { _ in
            let row: JSON = [
                "id": JSON("r\(count.next() % period)"), "version": "1", "updatedAt": "2024-01-01T00:00:00.000Z",
            ]
            return .answer(.model(200, [row]))
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: name) }
        #expect(error?.code == .brokenProtocol && device.server.requests.count < 80)
    }

    @Test("the same row again and again is all that there is, and two by turn have an end", arguments: 1...2)
    func fewRequests(_ period: Int) async throws {
        var options = PullOptions()
        options.maximumPages = 10
        let device = try await Device(.memory, pull: options)
        device.server.seed("todos", [["id": "a", "n": 1]])
        device.server.restamp("todos", ["a"], at: Timestamp("2024-01-01T00:00:00Z")!)
        try await device.todos.pull(named: "all")
        let count = Counter()
        device.server.onRequest { _ in
            let row: JSON = [
                "id": JSON("x\(count.next() % period)"), "version": "1", "updatedAt": "2024-01-01T00:00:00.000Z",
            ]
            return .answer(.model(200, [row]))
        }
        if period == 1 {
            #expect(try await device.todos.pull(named: "all").grade == .full)
        } else {
            let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
            #expect(error?.code == .limitReached)
        }
        #expect(try await device.todos.count() == 1 + period)
    }

    @Test("pages without end that bring nothing new count for the limit, too")
    func requestsCount() async throws {
        var options = PullOptions()
        options.maximumPages = 7
        let device = try await Device(.memory, pull: options)
        let count = Counter()
        // Of 50 rows: so many that a pass of them is nothing unusual.
        device.server.onRequest { _ in
            let number = count.next()
            let rows = (0..<50).map { row -> JSON in ["id": JSON("r\((row + number) % 50)"), "version": "1"] }
            return .answer(.model(200, JSON(rows)))
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull() }
        #expect(device.server.requests.count <= 7, "\(error?.description ?? "no error")")
    }

    /// A device whose server says that it is some other time, or nothing.
    private func device(saying date: String?) async throws -> Device {
        let device = try await Device(.memory, commitLag: .seconds(30))
        let model = device.server
        model.onRequest { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(
                    TableQuery("", filter: query.filter, order: query.order, skip: query.skip, top: 50), schema: nil)
            else { return .none }
            var response = SyncResponse.model(200, JSON(evaluator.apply(to: Array(model.rows("todos").values))))
            response.head.headerFields[.date] = date
            return .answer(response)
        }
        return device
    }

    @Test(
        "where a server does not know the time, what is committed late is not skipped, and the cursor never goes back",
        arguments: [nil, "nonsense", "Thu, 01 Jan 1970 00:00:10 GMT", "Sat, 01 Jan 2000 00:00:10 GMT"])
    func clockNotSet(_ date: String?) async throws {
        let device = try await device(saying: date)
        let model = device.server
        model.seed("todos", rows(5))
        try await device.todos.pull(named: "all")
        let latest = try #require(model.rows("todos")["r1004"]?["updatedAt"]?.string.flatMap { Timestamp($0) })
        func saved() async throws -> Timestamp? {
            try await device.context.status().cursors.first.flatMap { Timestamp($0.updatedAt) }
        }
        let first = try #require(try await saved())
        #expect(first <= latest.advanced(by: .seconds(-30)) && first >= latest.advanced(by: .seconds(-31)))
        // A transaction that began before the newest row was written.
        model.seed("todos", [["id": "late"]])
        model.restamp("todos", ["late"], at: latest.advanced(by: .seconds(-5)))
        for _ in 0..<3 {
            let before = try #require(try await saved())
            try await device.todos.pull(named: "all")
            #expect(try await device.todos.lookup(id: "late") != nil)
            #expect(try await saved() ?? before >= before)
        }
    }
}
