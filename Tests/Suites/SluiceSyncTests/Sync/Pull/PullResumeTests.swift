import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Resume: a pull that ends anywhere is made good by the next")
struct PullResumeTests {
    private func seed(_ server: ModelServer, _ kind: ServerKind) {
        server.seed("todos", (0..<11).map { ["id": JSON("r\(1000 + $0)"), "n": JSON($0)] })
        if kind != .tokens {
            server.restamp("todos", (2..<9).map { "r\(1000 + $0)" }, at: Timestamp("2023-01-01T00:00:00Z")!)
        }
        server.softDelete("todos", "r1010")
    }

    /// Rows that come, change and go between two pulls.
    private func change(_ server: ModelServer) {
        server.seed("todos", [["id": "r1003", "n": 30], ["id": "new", "n": 1], ["id": "r1010", "n": 10]])
        server.softDelete("todos", "r1005")
    }

    private func expectEqual(_ device: Device) async throws {
        let remote = device.server.rows("todos").values.filter { $0["deleted"] != true }
        #expect(try await Set(device.todos.records()) == Set(remote))
    }

    @Test("killed at each request", arguments: ServerKind.sorting, 1...16)
    func requests(_ kind: ServerKind, _ number: Int) async throws {
        let server = kind.make(pageSize: 2)
        seed(server, kind)
        let store = MemoryStore()
        let device = try await Device(.memory, server: server, store: store)
        for isLater in [false, true] {
            if isLater { change(server) }
            let count = Counter()
            server.onRequest { _ in
                switch count.next() {
                case number: number % 2 == 0 ? .loseAnswer : .loseRequest
                case let other where other > number: .loseRequest
                default: .none
                }
            }
            _ = try? await device.todos.pull(named: "all")
            server.onRequest(nil)
        }
        let next = try await Device(.memory, server: server, store: store)
        try await next.todos.pull(named: "all")
        try await expectEqual(next)
    }

    @Test(
        "killed on either side of each commit", arguments: ServerKind.sorting,
        (1...10).flatMap { number in CommitPoint.Side.allCases.map { (number, $0) } })
    func commits(_ kind: ServerKind, _ place: (number: Int, side: CommitPoint.Side)) async throws {
        let server = kind.make(pageSize: 2)
        seed(server, kind)
        let store = MemoryStore()
        for isLater in [false, true] {
            if isLater { change(server) }
            let count = Counter()
            let device = try await Device(
                .memory, server: server, store: store,
                reached: { point, side in
                    guard point == .page || point == .membership, side == place.side else { return }
                    if count.next() >= place.number { throw SluiceError(.cancelled, "killed") }
                })
            _ = try? await device.todos.pull(named: "all")
        }
        let next = try await Device(.memory, server: server, store: store)
        try await next.todos.pull(named: "all")
        try await expectEqual(next)
    }

    @Test("a reconcile killed at any use of the store is made good by the next", arguments: 0..<14)
    func reconcile(_ uses: Int) async throws {
        let store = MortalStore(MemoryStore())
        let server = ServerKind.sorted.make(pageSize: 3)
        seed(server, .sorted)
        let device = try await Device(.memory, server: server, store: store)
        try await device.todos.pull(named: "all")
        server.hardDelete("todos", "r1001")
        server.hardDelete("todos", "r1002")
        store.die(after: uses)
        _ = try? await device.todos.reconcile(named: "all")
        store.revive()
        let next = try await Device(.memory, server: server, store: store)
        try await next.todos.reconcile(named: "all")
        try await expectEqual(next)
    }

    @Test("a query that was narrowed lets its rows go, however often the pull is killed", arguments: 1...12)
    func narrowed(_ number: Int) async throws {
        let server = ServerKind.sorted.make(pageSize: 2)
        seed(server, .sorted)
        let store = MemoryStore()
        let device = try await Device(.memory, server: server, store: store)
        try await device.todos.pull(named: "mine")
        let few = TableQuery("todos", filter: try QueryExpression(odata: "n lt 5"))
        let count = Counter()
        server.onRequest { _ in count.next() >= number ? .loseRequest : .none }
        _ = try? await device.todos.pull(few, named: "mine")
        server.onRequest(nil)
        try await device.todos.pull(few, named: "mine")
        #expect(try await device.todos.records().compactMap { $0["n"]?.int }.sorted() == [0, 1, 2, 3, 4])
    }
}
