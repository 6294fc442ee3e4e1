import Sluice
import Synchronization
import Testing

@testable import SluiceBackend

/// Sluice's own client with Sluice's own backend, over OData: what goes together in a batch.
@Suite struct ODataClientBatchTests {
    struct Wire: Sendable, CustomStringConvertible {
        var version: ODataVersion
        var batches: ODataSettings.Batches
        var description: String { "\(version.rawValue) \(batches)" }
    }

    static let wires: [Wire] = [
        .init(version: .v2, batches: .automatic), .init(version: .v4, batches: .automatic),
        .init(version: .v4, batches: .multipart),
    ]

    /// Hands requests to the backend, notes the changes, and can lose the answer to one.
    private final class Line: Transport {
        private let backend: Backend
        private let state = Mutex((sent: [String](), loses: false))

        init(_ backend: Backend) { self.backend = backend }

        var sent: [String] { state.withLock { $0.sent } }
        func loseNext() { state.withLock { $0.loses = true } }

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            let response = await backend.respond(to: request)
            guard request.head.method != .get else { return response }
            let isLost = state.withLock { state in
                let last = request.head.path?.split(separator: "/").last.map(String.init) ?? ""
                state.sent.append("\(request.head.method.rawValue) \(last) \(response.status)")
                defer { state.loses = false }
                return state.loses
            }
            if isLost { throw SluiceError(.network, "the answer was lost") }
            return response
        }
    }

    private func device(_ fixture: ODataFixture, _ wire: Wire) async throws -> (SyncContext, Line) {
        let line = Line(fixture.base.backend)
        let root = wire.version == .v2 ? "v2" : "v4"
        let client = SluiceClient(
            endpoint: try Endpoint("http://127.0.0.1:8080/odata/\(root)"),
            dialect: .odata(wire.version, ODataSettings(batches: wire.batches)), transport: line,
            options: ClientOptions(retry: .never))
        let context = try await SyncContext(
            client: client, store: MemoryStore(), tables: [], options: SyncOptions(batchSize: 10))
        return (context, line)
    }

    @Test(arguments: wires)
    func aGroupIsOneChangeSet(_ wire: Wire) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let (device, line) = try await device(fixture, wire)
        try await device.pull(TableQuery("customers"), named: "all")
        let body = "--batch_0\r\n--changeset_0--\r\n"
        try await device.group { group in
            try group.insert(["id": "n'1", "name": JSON(body), "points": 1], in: "customers")
            try group.insert(["id": "p", "customerId": "n'1", "total": 5], in: "orders")
            try group.update(["id": "c1", "name": "together"], in: "customers")
        }
        let result = try await device.push()
        #expect(result.isClean, "\(result.failures.map { $0.failure?.message ?? "" })")
        #expect(line.sent == ["POST $batch \(wire.version == .v2 ? 202 : 200)"])
        #expect(await fixture.v4(.get, "orders('p')/customer").json["name"] == JSON(body))
        #expect(await fixture.v4(.get, "customers('c1')").json["name"] == "together")
        // What the service has set has come back.
        let stored = try await device.table("customers").lookup(id: "n'1")
        #expect(stored?["__version"]?.string?.hasPrefix("W/") == true)
    }

    @Test(arguments: wires)
    func changesThatGoTogetherStandOrFallByThemselves(_ wire: Wire) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(2)
        let (device, line) = try await device(fixture, wire)
        try await device.pull(TableQuery("customers"), named: "all")
        let table = try device.table("customers")
        _ = await fixture.v4(.patch, "customers('c1')", #"{"points":77}"#)
        try await table.update(["id": "c1", "name": "mine"])
        try await table.delete(id: "c2")
        try await table.insert(["id": "c3", "name": "new"])
        #expect(try await !device.push().isClean)
        #expect(line.sent.count == 1, "\(line.sent)")
        let held = try await device.queue.operations()
        #expect(held.map(\.recordID) == ["c1"])
        #expect(held.first?.failure?.serverRecord?["points"] == 77)
        #expect(await fixture.v4(.get, "customers('c2')").status == 404)
        #expect(await fixture.v4(.get, "customers('c3')").status == 200)
    }

    @Test(arguments: wires)
    func aGroupThatFailsNamesTheChangeForWhichItDid(_ wire: Wire) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(2)
        let (device, _) = try await device(fixture, wire)
        try await device.pull(TableQuery("customers"), named: "all")
        _ = await fixture.v4(.patch, "customers('c2')", #"{"points":77}"#)
        try await device.group { group in
            try group.update(["id": "c1", "name": "a"], in: "customers")
            try group.update(["id": "c2", "name": "b"], in: "customers")
        }
        #expect(try await !device.push().isClean)
        #expect(await fixture.v4(.get, "customers('c1')").json["name"] == "N1")
        let held = try await device.queue.operations()
        #expect(held.map(\.recordID) == ["c1", "c2"])
        let blamed = try #require(held.first { $0.failure?.serverRecord != nil })
        #expect(blamed.recordID == "c2")
        #expect(blamed.failure?.serverRecord?["points"] == 77)
        try await device.queue.resolve(blamed.id, .client)
        let result = try await device.push()
        #expect(result.isClean, "\(result.failures.map { $0.failure?.message ?? "" })")
        #expect(await fixture.v4(.get, "customers('c1')").json["name"] == "a")
        #expect(await fixture.v4(.get, "customers('c2')").json["name"] == "b")
    }

    @Test(arguments: wires)
    func aGroupWhoseAnswerIsLostTakesEffectOnce(_ wire: Wire) async throws {
        let fixture = try await ODataFixture()
        await fixture.plant(1)
        let (device, line) = try await device(fixture, wire)
        try await device.pull(TableQuery("customers"), named: "all")
        try await device.group { group in
            try group.insert(["id": "n", "name": "new"], in: "customers")
            try group.update(["id": "c1", "points": 5], in: "customers")
        }
        line.loseNext()
        _ = try? await device.push()
        let version = await fixture.v4(.get, "customers('c1')").json["@odata.etag"]
        var rounds = 0
        while try await !device.push().isClean, rounds < 3 { rounds += 1 }
        let left = try await device.queue.operations()
        #expect(left.isEmpty, "\(left.map { $0.failure?.message ?? "waits" })")
        #expect(line.sent.allSatisfy { $0.contains("$batch") }, "\(line.sent)")
        #expect(await fixture.v4(.get, "customers('c1')").json["@odata.etag"] == version)
    }

    @Test func settingsCanForbidBatches() async throws {
        let fixture = try await ODataFixture()
        let (device, line) = try await device(fixture, .init(version: .v4, batches: .off))
        try await device.table("customers").insert(["id": "a", "name": "a"])
        try await device.table("customers").insert(["id": "b", "name": "b"])
        #expect(try await device.push().isClean)
        #expect(line.sent == ["POST customers 201", "POST customers 201"])
    }
}
