import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Reads from a copy that is behind: what this device has replaced does not come back")
struct ReplacedVersionsTests {
    /// A server that answers reads from its state of before, while it lags.
    private final class Lagging: Transport {
        let server: ModelServer
        let replica: ModelServer
        private let lags = Mutex(false)

        init(_ tables: [String: [JSON]]) {
            (server, replica) = (ModelServer(), ModelServer())
            for (table, rows) in tables.sorted(by: { $0.key < $1.key }) {
                server.seed(table, rows)
                replica.seed(table, rows)
            }
        }

        func lag(_ lags: Bool) { self.lags.withLock { $0 = lags } }

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            let fromReplica = lags.withLock { $0 } && !request.isWrite
            return try await (fromReplica ? replica : server).send(request)
        }
    }

    private func device(
        _ kind: StoreKind, _ dialect: Dialect = .azureV2, now: @escaping @Sendable () -> Timestamp
    ) async throws -> (Device, Lagging) {
        let lagging = Lagging(["todos": [["id": "x", "n": 1], ["id": "a", "n": 1, "m": 1]]])
        let device = try await Device(
            kind, server: lagging.server, transport: lagging, dialect: dialect, adjust: { $0.environment.now = now })
        try await device.todos.pull(named: "all")
        return (device, lagging)
    }

    private final class Clock: Sendable {
        let time = Mutex(Timestamp(ticks: 17_000_000_000_000_000))
        var now: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }
        func advance(_ duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
    }

    @Test("own writes stay as they are, and the next edit is no conflict", arguments: StoreKind.allCases)
    func ownWrites(_ kind: StoreKind) async throws {
        let clock = Clock()
        let (device, lagging) = try await device(kind, now: clock.now)
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "x")
        #expect(try await device.context.push().isClean)
        lagging.lag(true)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
        clock.advance(.seconds(1))
        try await device.todos.pull(named: "other")
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
        #expect(try await device.local("x") == nil)
        // What waits for a record keeps what is known of it, too.
        try await device.todos.update(["id": "a", "m": 2])
        lagging.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        #expect(try await device.todos.pull(named: "third").conflicts == 0)
        lagging.server.onRequest(nil)
        lagging.lag(false)
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        try await device.todos.pull(named: "all")
        #expect(device.remote("a") == ["id": "a", "n": 2, "m": 2])
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.local("x") == nil)
    }

    @Test("a server that goes on to show the old version is believed after a while", arguments: StoreKind.allCases)
    func restored(_ kind: StoreKind) async throws {
        let clock = Clock()
        let (device, lagging) = try await device(kind, now: clock.now)
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        lagging.lag(true)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a")?["n"] == 2)
        clock.advance(ReplacedVersions.lag)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a")?["n"] == 1)
    }

    @Test("a row deleted a moment before the server was restored comes back", arguments: StoreKind.allCases)
    func restoredDelete(_ kind: StoreKind) async throws {
        let clock = Clock()
        let (device, lagging) = try await device(kind, now: clock.now)
        try await device.todos.delete(id: "a")
        #expect(try await device.context.push().isClean)
        lagging.lag(true)
        lagging.replica.seed("todos", [["id": "later", "n": 1]])
        for _ in 0..<2 {
            try await device.todos.pull(named: "all")
            #expect(try await device.local("a") == nil)
        }
        clock.advance(ReplacedVersions.lag)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a")?["n"] == 1)
    }
}
