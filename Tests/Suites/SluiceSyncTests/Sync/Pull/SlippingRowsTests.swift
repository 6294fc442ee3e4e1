import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Rows of one time are paged by `$skip`. When one of them goes away, those after it slide past the place that is
/// asked for next.
@Suite("Slipping rows: what happens to a group of rows of one time while it is paged")
struct SlippingRowsTests {
    /// What another client does meanwhile.
    enum Event: String, CaseIterable {
        case change, delete, deleteForGood, join, changeTwo

        func happens(on server: ModelServer, in group: [String], at time: Timestamp) {
            switch self {
            case .change: server.seed("todos", [["id": JSON(group[0]), "n": 100]])
            case .changeTwo: server.seed("todos", [["id": JSON(group[0]), "n": 1], ["id": JSON(group[2]), "n": 1]])
            case .delete: server.softDelete("todos", RecordID(group[1]))
            case .deleteForGood: server.hardDelete("todos", RecordID(group[0]))
            case .join:
                server.seed("todos", [["id": "a", "n": 1]])
                server.restamp("todos", ["a"], at: time)
            }
        }

        /// The ids of the rows that the event concerns.
        func concerns(_ id: String, in group: [String]) -> Bool {
            id == "a" || group.prefix(3).contains(id)
        }
    }

    private static let time = Timestamp("2023-01-01T00:00:00.123Z")!
    private static let group = (0..<6).map { "r\(1000 + $0)" }

    @Test(
        "a row that moves out of its group hides no row after it, in that very pull",
        arguments: Event.allCases, [1, 2, 50])
    func moving(_ event: Event, _ serverPage: Int) async throws {
        for kind in [ServerKind.loose, .sorted] {
            for devicePage in kind == .loose ? [1, 50] : [50] {
                for known in [0, 3] {
                    for moment in 1...7 {
                        try await pull(event, kind, serverPage, devicePage, known: known, at: moment)
                    }
                }
            }
        }
    }

    private func pull(
        _ event: Event, _ kind: ServerKind, _ serverPage: Int, _ devicePage: Int, known: Int, at moment: Int
    ) async throws {
        let server = kind.make(pageSize: serverPage)
        let device = try await Device(.memory, server: server, pageSize: devicePage)
        func seed(_ ids: some Sequence<String>) {
            server.seed("todos", ids.map { ["id": JSON($0), "n": 0] })
            server.restamp("todos", Array(ids).map(RecordID.init), at: Self.time)
        }
        if known > 0 {
            seed(Self.group.prefix(known))
            try await device.todos.pull(named: "all")
        }
        seed(Self.group.dropFirst(known))
        server.seed("todos", [["id": "later", "n": 0]])
        let count = Counter()
        server.onRequest { _ in
            if count.next() == moment { event.happens(on: server, in: Self.group, at: Self.time) }
            return .none
        }
        try await device.todos.pull(named: "all")
        server.onRequest(nil)
        let here = Set(try await device.todos.records())
        for (id, row) in server.rows("todos") where !event.concerns(id.text, in: Self.group) {
            #expect(
                here.contains(row),
                "\(event.rawValue) at request \(moment) of \(kind), pages of \(serverPage) and \(devicePage), hides \(id)"
            )
        }
        try await device.todos.pull(named: "all")
        #expect(try await Set(device.todos.records().compactMap(\.["id"]?.string)).isSuperset(of: ["r1003", "later"]))
    }

    @Test("rows that leave one after the other are no endless pull", arguments: [2, 3, 5])
    func busyGroup(_ pageSize: Int) async throws {
        let server = ServerKind.loose.make(pageSize: pageSize)
        let device = try await Device(.memory, server: server, pageSize: pageSize)
        let ids = (0..<40).map { "r\(1000 + $0)" }
        server.seed("todos", ids.map { ["id": JSON($0), "n": 0] })
        server.restamp("todos", ids.map(RecordID.init), at: Self.time)
        let count = Counter()
        server.onRequest { _ in
            let number = count.next()
            if number < 30 { server.seed("todos", [["id": JSON(ids[number]), "n": 1]]) }
            return .none
        }
        try await device.todos.pull(named: "all")
        #expect(try await Set(device.todos.records()) == Set(server.rows("todos").values))
        #expect(server.requests.count < 160)
    }

    @Test("a server that gives out rows of one time in another order each time is read until nothing is new")
    func noOrder() async throws {
        let server = ServerKind.loose.make(pageSize: 3)
        let device = try await Device(.memory, server: server, pageSize: 3)
        server.seed("todos", Self.group.map { ["id": JSON($0), "n": 0] })
        server.restamp("todos", Self.group.map(RecordID.init), at: Self.time)
        server.seed("todos", [["id": "later", "n": 0]])
        let count = Counter()
        server.onRequest { request in
            guard let query = try? ModelCall(request).query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            let turn = count.next()
            let rows = evaluator.apply(to: Array(server.rows("todos").values)).sorted {
                let (left, right) = ($0["id"]?.string ?? "", $1["id"]?.string ?? "")
                if left == "later" || right == "later" { return right == "later" }
                return turn % 2 == 0 ? left < right : left > right
            }
            return .answer(.model(200, JSON(Array(rows.dropFirst(query.skip).prefix(min(query.top ?? 3, 3))))))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 7)
    }

    @Test("a pull without news is at most three requests, however many rows the last time has", arguments: [1, 3, 20])
    func idle(_ count: Int) async throws {
        let server = ServerKind.loose.make(pageSize: 50)
        let device = try await Device(.memory, server: server)
        let ids = (0..<count).map { "r\(1000 + $0)" }
        server.seed("todos", ids.map { ["id": JSON($0), "n": 0] })
        server.restamp("todos", ids.map(RecordID.init), at: Self.time)
        #expect(try await device.todos.pull(named: "all").grade == .timestamps)
        server.clearLog()
        #expect(try await device.todos.pull(named: "all").stored == count)
        #expect(server.requests.count <= 3)
        server.clearLog()
        server.seed("todos", [["id": "later", "n": 0]])
        try await device.todos.pull(named: "all")
        #expect(server.requests.count <= 5)
    }
}
