import Foundation
import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Servers whose lists are not what was asked for.
@Suite("Lists that lie: short pages, times and ids that are read in another way than they are written")
struct LyingListTests {
    private static let size = 7

    /// Answers lists from the model's rows: what matches the filter, in an order, one page of it.
    ///
    /// - Parameter seen: the row as the filter sees it.
    private func lists(
        _ device: Device, size: Int = size,
        seen: @escaping @Sendable (JSON) -> JSON = { $0 },
        ascends: @escaping @Sendable (JSON, JSON) -> Bool = { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }
    ) {
        let rows = device.server.rows("todos")
        device.server.onRequest { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            var matching = rows.values.filter { evaluator.matches(seen($0)) }.sorted { left, right in
                let (one, other) = (left["updatedAt"]?.string ?? "", right["updatedAt"]?.string ?? "")
                let byTime = query.order.first?.column == "updatedAt"
                return byTime && one != other ? one < other : ascends(left, right)
            }
            if query.order.last?.descending == true { matching.reverse() }
            return .answer(
                .model(200, JSON(Array(matching.dropFirst(query.skip).prefix(min(query.top ?? size, size))))))
        }
    }

    private func seeded(_ ids: [String], at times: [String]) async throws -> Device {
        let device = try await Device(.memory, server: ModelServer(pageSize: Self.size), pageSize: 50)
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1] })
        for (id, time) in zip(ids, times) { device.server.restamp("todos", [RecordID(id)], at: Timestamp(time)!) }
        return device
    }

    private func ids(_ count: Int) -> [String] { (0..<count).map { "r\(1000 + $0)" } }

    private func time(_ milliseconds: Int) -> String {
        Timestamp(ticks: 17_000_000_000_000_000 + Int64(milliseconds) * 10_000).description
    }

    // MARK: Links

    @Test(
        "rows that are left out after the page was cut leave short and empty pages with a link", arguments: [1, 3, 7])
    func linkedPages(_ size: Int) async throws {
        let device = try await Device(
            .memory, server: ModelServer(pageSize: size), pageSize: 50, dialect: .azureV3)
        device.server.seed("todos", ids(40).map { ["id": JSON($0), "n": 1] })
        let all = device.server.rows("todos").values.sorted { $0["id"]!.string! < $1["id"]!.string! }
        device.server.onRequest { request in
            guard request.head.method == .get, let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            var matching = all.filter { evaluator.matches($0) }
            if query.order.last?.descending == true { matching.reverse() }
            let page = matching.dropFirst(query.skip).prefix(min(query.top ?? size, size))
            // The user may see every ninth row only.
            var answer: JSON = ["items": JSON(page.filter { $0["id"]!.string!.hasSuffix("7") })]
            if query.skip + page.count < matching.count {
                var parameters = QueryString(ofPath: request.head.path ?? "")
                parameters["$skip"] = String(query.skip + page.count)
                answer["nextLink"] = JSON("http://model.test\(parameters.path)")
            }
            return .answer(.model(200, answer))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 4)
        try await device.todos.purge(named: "all")
        try await device.todos.pull()
        #expect(try await device.todos.count() == 4, "without a name")
    }

    @Test("hundreds of pages that are much smaller than asked for are read to the end", arguments: [true, false])
    func smallPages(_ isFresh: Bool) async throws {
        let device = try await Device(.memory, server: ModelServer(pageSize: 3), pageSize: 50)
        device.server.seed("todos", ids(450).map { ["id": JSON($0), "n": 1] })
        if !isFresh {
            for (place, id) in ids(450).enumerated() {
                device.server.restamp("todos", [RecordID(id)], at: Timestamp(time(place))!)
            }
        }
        #expect(try await device.todos.pull(named: "all").stored == 450)
    }

    @Test("empty pages that link to each other without end are an error")
    func linkedInCircles() async throws {
        let device = try await Device(.memory, pageSize: 50, dialect: .azureV3)
        let number = Counter()
        device.server.onRequest { _ in
            let answer: JSON = ["items": [], "nextLink": JSON("?$skip=\(number.next() % 3)")]
            return .answer(.model(200, answer))
        }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
        #expect(error?.code == .brokenProtocol)
        #expect(device.server.requests.count < 8)
    }

    // MARK: Times

    /// The row as a server sees it that reads a time in another zone.
    @Sendable private static func twoHoursEarlier(_ row: JSON) -> JSON {
        let written = row["updatedAt"]?.string.flatMap { Timestamp($0) } ?? Timestamp(ticks: 0)
        let read = Timestamp(ticks: written.ticks - 7200 * Timestamp.ticksPerSecond)
        return row.setting(["updatedAt": JSON(read.description)])
    }

    @Test("a server that reads a time two hours late hides no row", arguments: [3, 40])
    func timesInAnotherZone(_ count: Int) async throws {
        let device = try await seeded(ids(count), at: (0..<count).map { time($0 * 100_000) })
        lists(device, seen: Self.twoHoursEarlier)
        let result = try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == count)
        #expect(result.grade == .full && result.reasons == [.timesMisread])
    }

    @Test(
        "neither does one whose rows were all written in the last seconds, though only the next pull can be sure of it")
    func freshTimesInAnotherZone() async throws {
        let clock = Shared(SystemClock.now())
        let device = try await Device(
            .memory, server: ModelServer(pageSize: Self.size), pageSize: 50,
            adjust: { $0.environment.now = { clock.value } })
        device.server.seed("todos", ids(40).map { ["id": JSON($0), "n": 1] })
        for (place, id) in ids(40).enumerated() {
            let time = Timestamp(ticks: clock.value.ticks - Int64(40 - place) * 1_000_000)
            device.server.restamp("todos", [RecordID(id)], at: time)
        }
        lists(device, seen: Self.twoHoursEarlier)
        let first = try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 40 && first.grade != .full)
        clock.change { $0 = $0.advanced(by: ReplacedVersions.lag) }
        #expect(try await device.todos.pull(named: "all").grade == .full)
    }

    @Test("a row that changes while it is looked for is no reason to read all rows each time")
    func changedMeanwhile() async throws {
        let device = try await seeded(ids(4), at: (0..<4).map { time($0) })
        let (server, asked) = (device.server, Counter())
        server.onRequest { _ in
            if asked.next() == 1 { server.hardDelete("todos", "r1003") }
            return .none
        }
        let result = try await device.todos.pull(named: "all")
        #expect(result.grade == .timestamps && result.reasons.isEmpty)
    }

    @Test("times that are written rounded up hide no row", arguments: [5, 7, 8, 50])
    func roundedUp(_ size: Int) async throws {
        let count = 200
        // Ticks of a tenth of a microsecond, written in milliseconds: some rows share one written time.
        let stored = Dictionary(
            uniqueKeysWithValues: (0..<count).map { index in
                (RecordID("r\(1000 + index)"), 17_000_000_000_000_000 + Int64(index < 12 ? 0 : index * 3_700))
            })
        let device = try await seeded(
            ids(count),
            at: ids(count).map { id in
                Timestamp(ticks: (stored[RecordID(id)]! + 9_999) / 10_000 * 10_000).description
            })
        lists(device, size: size) { row in
            var exact = row
            exact["updatedAt"] = JSON(Timestamp(ticks: stored[row["id"]!.textID!]!).description)
            return exact
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == count)
    }

    // MARK: Ids

    @Test("a server that sorts ids by letters and compares them by bytes hides no row", arguments: [7, 50])
    func otherOrder(_ size: Int) async throws {
        let letters = ["a", "A", "b", "B", "_", "-", "9", "é"]
        var all: [String] = []
        for one in letters { for other in letters { all += ["", "a", "B"].map { one + other + $0 } } }
        let device = try await seeded(all, at: all.map { _ in time(0) })
        lists(
            device, size: size,
            ascends: { left, right in
                let order = left["id"]!.string!.compare(
                    right["id"]!.string!, options: [.caseInsensitive, .diacriticInsensitive])
                return order == .orderedSame ? left["id"]!.string! > right["id"]!.string! : order == .orderedAscending
            })
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == all.count)
    }

    @Test("ids are of one shape where they differ in digits and letters of one case only")
    func shapes() {
        #expect(IDOrder.isUniform([RecordID]()) && IDOrder.isUniform(["Todo-01", "Todo-ab"]))
        #expect(
            !IDOrder.isUniform(["a", "aa"]) && !IDOrder.isUniform(["a", "B"]) && !IDOrder.isUniform(["a-b", "abb"]))
        #expect(!IDOrder.isUniform(["é", "è"]))
    }

    // MARK: Rows that cannot be stored

    @Test("a page of rows without ids that comes again and again ends the pull", arguments: [1, 4])
    func sameUnfitRows(_ count: Int) async throws {
        let device = try await Device(.memory, pageSize: 50)
        let page = JSON((0..<count).map { ["n": JSON($0)] as JSON })
        device.server.onRequest { _ in .answer(.model(200, page)) }
        let result = try await device.todos.pull()
        #expect(result.quarantined == count && result.stored == 0, "\(result)")
        #expect(device.server.requests.count < 5)
        #expect(try await device.context.quarantine().count == count)
    }
}
