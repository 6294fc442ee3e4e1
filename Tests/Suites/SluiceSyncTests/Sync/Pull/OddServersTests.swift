import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Pulls from servers that sort, skip and read in ways of their own: all rows come, and the pull ends")
struct OddServersTests {
    private func row(_ id: String, _ time: String, version: String = "1") -> JSON {
        ["id": JSON(id), "version": JSON(version), "updatedAt": JSON(time)]
    }

    private func device(_ answer: @escaping @Sendable (TableQuery) -> [JSON]) async throws -> Device {
        let device = try await Device(.memory, pageSize: 50)
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query() else { return .answer(.model(400, nil)) }
            return .answer(.model(200, JSON(answer(query))))
        }
        return device
    }

    /// The rows that match, as the query wants them sorted and cut.
    private static func page(
        _ rows: [JSON], _ query: TableQuery, most: Int = 50, by key: (JSON) -> String
    ) -> [JSON] {
        guard let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil) else {
            return []
        }
        let isDescending = query.order.first?.descending ?? false
        let sorted = evaluator.apply(to: rows).sorted { (key($0) < key($1)) != isDescending }
        return Array(sorted.dropFirst(query.skip).prefix(min(most, query.top ?? most)))
    }

    @Test("a pull without a name misses no row where ids are sorted without regard to case and compared by their bytes")
    func collation() async throws {
        let ids = ["a", "B", "c", "D"].flatMap { letter in (100..<150).map { "\(letter)\($0)" } }
        let rows = ids.map { row($0, "2024-01-01T00:00:00.000Z") }
        let device = try await device { Self.page(rows, $0) { ($0["id"]?.string ?? "").lowercased() } }
        try await device.todos.pull()
        #expect(try await device.todos.count() == 200)
    }

    @Test("ids as generators make them are followed without a question before each page")
    func generated() async throws {
        let rows = (0..<200).map {
            row(UUIDv7Source().next(at: Timestamp(ticks: Int64($0) * 100_000)), "2024-01-01T00:00:00Z")
        }
        let device = try await device { Self.page(rows, $0) { $0["id"]?.string ?? "" } }
        try await device.todos.pull()
        #expect(try await device.todos.count() == 200 && device.server.requests.count == 6)
    }

    @Test(
        "a server that refuses to skip is read whole once a row comes that is not in its place", arguments: [400, 501])
    func refusedSkip(_ status: Int) async throws {
        let rows = Shared((10..<30).map { row("r\($0)", "2024-01-01T00:00:00.000Z") })
        let device = try await Device(.memory, pageSize: 50)
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query(), query.skip == 0 else {
                return .answer(.model(status, ["error": "no skip"]))
            }
            let answer = Self.page(rows.value, query, most: 7) {
                ($0["updatedAt"]?.string ?? "") + ($0["id"]?.string ?? "")
            }
            return .answer(.model(200, JSON(answer)))
        }
        for _ in 0..<2 { try await device.todos.pull(named: "all") }
        #expect(try await device.todos.count() == 20)
        // Its id stands before those of the rows of its time.
        let new = row("a", "2024-01-01T00:00:00.000Z")
        rows.change { $0.append(new) }
        for _ in 0..<3 { try await device.todos.pull(named: "all") }
        #expect(try await device.todos.count() == 21)
    }

    @Test("a server that cannot compare for inequality has its rows of one time read", arguments: [400, 500, 501])
    func refusedInequality(_ status: Int) async throws {
        let rows = (10..<30).map { row("r\($0)", "2024-01-01T00:00:00.000Z") }
        let device = try await Device(.memory, pageSize: 50)
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query() else { return .answer(.model(400, nil)) }
            if (request.head.path ?? "").contains("%20ne%20") { return .answer(.model(status, nil)) }
            let page = Self.page(rows, query, most: 7) { ($0["updatedAt"]?.string ?? "") + ($0["id"]?.string ?? "") }
            return .answer(.model(200, JSON(page)))
        }
        for _ in 0..<2 { try await device.todos.pull(named: "all") }
        #expect(try await device.todos.count() == 20)
    }

    @Test("an end of the rows after a page that links to another is not believed before the order is checked")
    func linkedEnd() {
        var few = SortCheck()
        few.count(3, linksOn: false)
        let beganWithoutLink = few.begins()
        few.count(3, linksOn: true)
        let begins = few.begins()
        #expect(!beganWithoutLink && begins)
    }

    @Test("pages of varying sizes are followed, also where all rows are of one time", arguments: 1...5)
    func varyingPages(_ seed: UInt64) async throws {
        let rows = (100..<300).map { row("r\($0)", "2024-01-01T00:00:0\($0 < 150 ? 0 : 1).000Z") }
        let random = Shared(SeededGenerator(seed: seed))
        let device = try await device { query in
            var most = 0
            random.change { most = [1, 2, 3, 7, 20, 50].randomElement(using: &$0) ?? 1 }
            return Self.page(rows, query, most: most) { ($0["updatedAt"]?.string ?? "") + ($0["id"]?.string ?? "") }
        }
        for name in ["all", nil] {
            let result = try await device.todos.pull(named: name)
            #expect(result.grade != .full)
            #expect(try await device.todos.count() == 200)
            try await device.todos.purge()
        }
    }

    @Test(
        "one that ignores filter, order and $skip gives all rows by the full grade", arguments: [true, false],
        [true, false])
    func ignoresAll(_ isSorted: Bool, _ isOfOneTime: Bool) async throws {
        let rows = (10..<40).map { row("r\($0)", "2024-01-01T00:00:\(isOfOneTime ? 10 : $0).000Z") }
        let device = try await device { _ in isSorted ? rows : rows.reversed() }
        for name in ["all", "all", nil] {
            let result = try await device.todos.pull(named: name)
            #expect(name == nil || result.grade == .full)
            #expect(try await device.todos.count() == 30)
        }
    }

    @Test("one that ignores them and gives no more rows than it is asked for is an error: there may be more")
    func ignoresAllButTop() async throws {
        let rows = (100..<200).map { row("r\($0)", "2024-01-01T00:00:00.000Z") }
        let device = try await device { Array(rows.prefix($0.top ?? 50)) }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .brokenProtocol)
    }

    @Test(
        "one that ignores order and $skip and limits its pages is an error if it counts its rows, or filters them",
        arguments: [true, false], ["all", nil])
    func limitsPages(_ counts: Bool, _ name: String?) async throws {
        let rows = (10..<40).reversed().map { row("r\($0)", "2024-01-01T00:00:\($0).000Z") }
        let device = try await Device(.memory, pageSize: 50)
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query() else { return .answer(.model(400, nil)) }
            let path = request.head.path ?? ""
            if counts {
                let page = JSON(Array(rows.prefix(20)))
                return .answer(
                    .model(200, path.contains("inlinecount") ? ["results": page, "count": JSON(rows.count)] : page))
            }
            let filtered = path.contains("%20ne%20")
            guard filtered, let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .answer(.model(200, JSON(Array(rows.prefix(20))))) }
            return .answer(.model(200, JSON(Array(evaluator.apply(to: rows).prefix(20)))))
        }
        for _ in 0..<2 {
            let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: name) }
            #expect(error?.code == .brokenProtocol)
        }
    }

    @Test("a few unsorted rows with a link are found out on every wire", arguments: [Dialect.azureV1, .azureV2])
    func linkedUnsorted(_ dialect: Dialect) async throws {
        let times = [10, 14, 18, 11, 12]
        let columns = dialect.columns
        let rows = times.map { time -> JSON in
            JSON(members: [
                (columns.id, JSON("r\(time)")), (columns.version, JSON("1")),
                (columns.updatedAt, JSON("2024-01-01T00:00:\(time).000Z")),
            ])
        }
        let device = try await Device(.memory, pageSize: 50, dialect: dialect)
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query() else { return .answer(.model(400, nil)) }
            let matching = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil).apply(to: rows)
            let page = (matching ?? []).dropFirst(query.skip).prefix(3)
            var answer = SyncResponse.model(200, JSON(Array(page)))
            if page.count == 3 {
                answer.head.headerFields[HTTPField.Name("Link")!] =
                    "<\(request.head.path ?? "")&$skip=\(query.skip + 3)>; rel=next"
            }
            return .answer(answer)
        }
        try await device.todos.pull(named: "all")
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 5)
    }

    @Test("rows that change by being read make no pull without end", arguments: [true, false])
    func changedByReading(_ movesTime: Bool) async throws {
        let rows = Changeable((100..<160).map { row("r\($0)", "2024-01-01T00:00:00.000Z") })
        let clock = Counter()
        let device = try await device { query in
            let page = Self.page(rows.value, query) { ($0["updatedAt"]?.string ?? "") + ($0["id"]?.string ?? "") }
            let read = Set(page.compactMap { $0["id"]?.string })
            rows.value = rows.value.map { old in
                guard let id = old["id"]?.string, read.contains(id) else { return old }
                let moment = clock.next()
                let time = Timestamp(ticks: 17_000_000_000_000_000 + Int64(moment) * 10_000).text(fractionDigits: 3)
                return row(id, movesTime ? time : old["updatedAt"]?.string ?? "", version: "\(moment + 2)")
            }
            return page
        }
        for name in ["all", nil] {
            try await device.todos.pull(named: name)
            #expect(try await device.todos.count() == 60)
            #expect(device.server.requests.count < 400)
            device.server.clearLog()
        }
    }

    @Test("a table that grows by each request makes no pull without end")
    func growsByReading() async throws {
        let rows = Changeable([row("r100", "2024-01-01T00:00:00.000Z")])
        let clock = Counter()
        let device = try await device { query in
            let moment = clock.next()
            let time = Timestamp(ticks: 17_000_000_000_000_000 + Int64(moment) * 50_000).text(fractionDigits: 3)
            rows.value.append(row("n\(100_000 + moment)", time))
            return Self.page(rows.value, query) { ($0["updatedAt"]?.string ?? "") + ($0["id"]?.string ?? "") }
        }
        try await device.todos.pull(named: "all")
        #expect(device.server.requests.count < 200)
        let known = try await device.todos.count()
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() > known)
    }

    @Test("the time of the last pull moves also where it brings nothing")
    func lastPulled() async throws {
        let rows = [row("a", "2024-01-01T00:00:00.000Z")]
        let device = try await device { Self.page(rows, $0) { $0["id"]?.string ?? "" } }
        var times: [Timestamp?] = []
        for _ in 0..<3 {
            try await device.todos.pull(named: "all")
            times.append(try await device.context.status().cursors.first?.pulledAt)
        }
        #expect(Set(times).count == 3 && !times.contains(nil))
    }
}
