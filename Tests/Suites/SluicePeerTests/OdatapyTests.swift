import HTTPTypes
import Sluice
import Synchronization
import Testing

@Suite("odatapy, a v4 service with entity tags", .serialized, .enabled(if: Peer.areHere))
struct OdatapyTests {
    private let peer: Peer
    private let all = TableQuery("Customers")

    init() async throws {
        peer = try #require(Peer.odatapy)
        try await peer.fail("[]")
        _ = try await peer.changes()
    }

    /// Makes customers with those ids in a country.
    private func make(_ ids: ClosedRange<Int>, country: String = "US") async throws {
        for id in ids {
            let body =
                #"{"ID":\#(id),"Name":"N\#(id)","Country":"\#(country)","Balance":100.2500,"Big":9007199254740993}"#
            #expect(try await peer.call("POST", "/Customers", body).status == 201)
        }
    }

    private func remove(_ ids: some Sequence<Int>) async throws {
        for id in ids { try await peer.call("DELETE", "/Customers(\(id))", nil, ["If-Match": "*"]) }
    }

    private func ids(_ device: SyncContext, _ query: TableQuery) async throws -> [String] {
        try await device.table(query.table).records(matching: query).compactMap { $0["id"]?.string }.sorted()
    }

    @Test("a pull follows delta links over pages of three, with deletions")
    func delta() async throws {
        try await make(1001...1007)
        let device = try await peer.device()
        let query = TableQuery("Customers", filter: try QueryExpression(odata: "Country eq 'US'"))
        let first = try await device.pull(query, named: "us")
        #expect(first.grade == .changeTokens)
        #expect(first.stored == 7)
        let record = try #require(try await device.table("Customers").lookup(id: "1001"))
        #expect(record["Balance"]?.number?.description == "100.2500")
        #expect(record["Big"] == 9_007_199_254_740_993)
        // The service forgets the filter in its delta links: one row leaves it, one that was never in it changes.
        try await peer.call("PATCH", "/Customers(1002)", #"{"Country":"DE"}"#, ["If-Match": "*"])
        try await make(1008...1008, country: "DE")
        try await make(1009...1009)
        try await peer.call("DELETE", "/Customers(1003)", nil, ["If-Match": "*"])
        let second = try await device.pull(query, named: "us")
        #expect(second.grade == .changeTokens)
        #expect(try await ids(device, all) == ["1001", "1004", "1005", "1006", "1007", "1009"])
        try await remove(1001...1009)
        try await device.pull(query, named: "us", allowsMassRemoval: true)
        #expect(try await ids(device, all) == [])
    }

    @Test("a change to a row of the first page while the others are read is brought by the next pull")
    func changeWhilePaging() async throws {
        try await make(1101...1107)
        let transport = MeddlingTransport(inner: peer.transport) { [peer] in
            try await peer.call("PATCH", "/Customers(1101)", #"{"Name":"late"}"#, ["If-Match": "*"])
        }
        let client = try peer.client(through: transport)
        let device = try await SyncContext(client: client, store: MemoryStore(), tables: [])
        try await device.pull(all, named: "all")
        try await device.pull(all, named: "all")
        #expect(try await device.table("Customers").lookup(id: "1101")?["Name"] == "late")
        try await remove(1101...1107)
    }

    /// Does something once, after the first page was read.
    private final class MeddlingTransport: Transport {
        private let inner: AsyncHTTPTransport
        private let meddle: @Sendable () async throws -> Void
        private let isDone = Mutex(false)

        init(inner: AsyncHTTPTransport, meddle: @escaping @Sendable () async throws -> Void) {
            self.inner = inner
            self.meddle = meddle
        }

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            let response = try await inner.send(request)
            guard request.head.path?.contains("skiptoken") == true else { return response }
            let isFirst = isDone.withLock { done in
                defer { done = true }
                return !done
            }
            if isFirst { try await meddle() }
            return response
        }
    }

    @Test("an offline edit meets a conflict, and is pushed when it is decided")
    func conflict() async throws {
        try await make(1201...1201)
        let device = try await peer.device()
        try await device.pull(all, named: "all")
        let table = try device.table("Customers")
        try await table.update(["id": "1201", "Name": "mine"])
        try await peer.call("PATCH", "/Customers(1201)", #"{"Country":"AT"}"#, ["If-Match": "*"])
        let held = try await device.push()
        #expect(!held.isClean)
        let conflict = try #require(try await device.queue.operations().first)
        #expect(conflict.failure?.serverRecord?["Country"] == "AT")
        try await device.queue.resolve(conflict.id, .client)
        #expect(try await device.push().isClean)
        let row = try await peer.call("GET", "/Customers(1201)").json
        #expect(row["Name"] == "mine")
        try await remove(1201...1201)
    }

    @Test("each change takes effect once although its answer is lost or cut", arguments: ["lose", "cut", "refuse"])
    func lost(_ fault: String) async throws {
        let device = try await peer.device()
        let table = try device.table("Customers")
        func pushTwice(_ method: String) async throws {
            try await peer.fail(#"[{"method":"\#(method)","fault":"\#(fault)"}]"#)
            _ = try? await device.push()
            #expect(try await device.push().isClean)
        }
        try await table.insert(["id": "1301", "Name": "made", "Country": "US"])
        try await pushTwice("POST")
        try await table.update(["id": "1301", "Name": "changed"])
        try await pushTwice("PATCH")
        #expect(try await peer.call("GET", "/Customers(1301)").json["Name"] == "changed")
        try await table.delete(id: "1301")
        try await pushTwice("DELETE")
        #expect(try await peer.call("GET", "/Customers(1301)").status == 404)
        #expect(try await peer.changes() == ["POST", "PATCH", "DELETE"])
    }

    @Test(
        "a row whose key the service assigns is made once, although its answer is lost",
        arguments: ["lose", "cut", "refuse"])
    func assigned(_ fault: String) async throws {
        let settings = ODataSettings(tables: ["Orders": .init(clientID: "Ref", assignsKey: true)])
        let late = Mutex(Duration.zero)
        var environment = SyncEnvironment.system
        environment.now = { SyncEnvironment.system.now().advanced(by: late.withLock { $0 }) }
        let device = try await peer.device(settings, environment: environment)
        let table = try device.table("Orders")
        let made = try await table.insert(["Note": JSON("one \(fault)")])
        let id = try #require(made["id"]?.string)
        try await peer.fail(#"[{"method":"POST","fault":"\#(fault)"}]"#)
        _ = try? await device.push()
        // The service might still carry out the first request, so the row is only looked for.
        #expect(try await device.push().isClean == (fault != "refuse"))
        late.withLock { $0 = .seconds(31) }
        #expect(try await device.push().isClean)
        #expect(try await peer.changes() == ["POST"])
        // The application's id stays, on this device and on others.
        let other = try await peer.device(settings)
        try await other.pull(TableQuery("Orders"), named: "all")
        #expect(try await other.table("Orders").lookup(id: id)?["Note"] == JSON("one \(fault)"))
        try await table.update(["id": JSON(id), "Note": "two"])
        #expect(try await device.push().isClean)
        try await device.pull(TableQuery("Orders"), named: "all")
        #expect(try await ids(device, TableQuery("Orders")).contains(id))
        try await table.delete(id: id)
        #expect(try await device.push().isClean)
        try await other.pull(TableQuery("Orders"), named: "all", allowsMassRemoval: true)
        #expect(try await other.table("Orders").lookup(id: id) == nil)
    }

    @Test("a delta link that is refused begins the pull afresh, and finds what was deleted", arguments: [410, 400])
    func expired(_ status: Int) async throws {
        try await make(1401...1403)
        let device = try await peer.device()
        try await device.pull(all, named: "all")
        try await peer.call("DELETE", "/Customers(1402)", nil, ["If-Match": "*"])
        try await peer.fail(#"[{"method":"GET","path":"deltatoken","fault":\#(status)}]"#)
        let result = try await device.pull(all, named: "all")
        #expect(result.grade == .changeTokens)
        #expect(result.reconcile != nil)
        #expect(try await ids(device, all) == ["1401", "1403"])
        try await remove(1401...1403)
    }
}
