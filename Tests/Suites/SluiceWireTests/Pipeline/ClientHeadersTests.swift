import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("What a client says of itself")
struct ClientHeadersTests {
    private func options(key: String? = "app-key", installation: String? = "an-id") -> ClientOptions {
        var options = quickOptions()
        options.applicationKey = key
        options.installationID = installation
        return options
    }

    /// The header fields of a request as the server gets it.
    private func sent(
        _ request: SyncRequest, _ dialect: Dialect, _ options: ClientOptions, filters: [any RequestFilter] = []
    ) async throws -> HTTPFields {
        let transport = ScriptedTransport(otherwise: .json(204, ""))
        _ = try await client(transport, dialect: dialect, filters: filters, options: options).send(request)
        return transport.requests[0].head.headerFields
    }

    private func features(_ request: SyncRequest, _ dialect: Dialect = .azureV2) async throws -> String? {
        try await sent(request, dialect, quickOptions())[field("X-ZUMO-FEATURES")]
    }

    @Test("each wire has its own fields", arguments: Dialect.all)
    func fields(dialect: Dialect) async throws {
        let request = dialect.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let fields = try await sent(request, dialect, options())
        #expect(fields[field("X-ZUMO-APPLICATION")] == (dialect.name == "azure-v1" ? "app-key" : nil))
        #expect(fields[field("X-ZUMO-INSTALLATION-ID")] == "an-id")
        let versions = ["azure-v1": nil, "azure-v2": "2.0.0", "azure-v3": "3.0.0", "datasync": nil]
        #expect(fields[field("ZUMO-API-VERSION")] == versions[dialect.name] ?? nil)
        let agent = try #require(fields[.userAgent])
        #expect(fields[field("X-ZUMO-VERSION")] == agent)
        let isOld = dialect.name == "azure-v1" || dialect.name == "azure-v2"
        #expect(agent.hasPrefix(isOld ? "ZUMO/3.0 (lang=swift; os=" : "Datasync/") && agent.hasSuffix(")"))
        #expect(agent.contains(SluiceVersion.text))
        let bare = try await sent(request, dialect, options(key: nil, installation: nil))
        // The field marks the wire, with a key or without.
        #expect(bare[field("X-ZUMO-APPLICATION")] == (dialect.name == "azure-v1" ? "" : nil))
        #expect(bare[field("X-ZUMO-INSTALLATION-ID")] == nil)
    }

    @Test("nothing of it goes to another origin, even if a filter leads there")
    func otherOrigin() async throws {
        let elsewhere = Tap { request, next in
            var request = request
            request.head.authority = "evil.net"
            return try await next(request)
        }
        let request = Dialect.azureV1.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let fields = try await sent(request, .azureV1, options(), filters: [elsewhere])
        for name in ["X-ZUMO-APPLICATION", "X-ZUMO-INSTALLATION-ID", "X-ZUMO-FEATURES", "X-ZUMO-VERSION"] {
            #expect(fields[field(name)] == nil)
        }
    }

    @Test("the key is hidden from filters, descriptions, dumps and errors")
    func hidden() async throws {
        let seen = Recorder<Bool>()
        let look = Tap { request, next in
            seen.add(request.head.headerFields[field("X-ZUMO-APPLICATION")] == nil)
            return try await next(request)
        }
        let transport = ScriptedTransport(otherwise: .failure(SluiceError(.tooLarge, "x")))
        let sender = client(transport, dialect: .azureV1, filters: [look], options: options(key: "s3cret"))
        let request = Dialect.azureV1.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let error = await #expect(throws: SluiceError.self) { try await sender.send(request) }
        #expect(transport.requests[0].head.headerFields[field("X-ZUMO-APPLICATION")] == "s3cret" && seen.all == [true])
        var dumped = ""
        dump(sender, to: &dumped)
        for text in ["\(sender)", "\(sender.options)", "\(sender.chain)", String(reflecting: sender), dumped] {
            #expect(!text.contains("s3cret"))
        }
        #expect(error.map { "\($0)".contains("s3cret") } == false)
        #expect(sender.options.applicationKey == "s3cret")
        let broken = client(
            ScriptedTransport(), dialect: .azureV1, options: options(key: "s3cret\r\nX: y"))
        let refusal = await #expect(throws: SluiceError.self) { try await broken.send(request) }
        #expect(refusal?.code == .invalidArgument && refusal.map { "\($0)".contains("s3cret") } == false)
    }

    @Test("a field that is there already stays, and a call that is none of a table has the fields too")
    func own() async throws {
        var head = HTTPRequest(method: .get, scheme: "https", authority: "example.net", path: "/app/api/x")
        head.headerFields[.userAgent] = "mine"
        let fields = try await sent(SyncRequest(head), .azureV2, options())
        #expect(fields[.userAgent] == "mine" && fields[field("ZUMO-API-VERSION")] == "2.0.0")
    }

    @Test("features are told in one order, whatever they were put together in")
    func order() {
        let all: SyncRequest.Features = [
            .readQuery, .readRaw, .refresh, .incremental, .linkHeader, .offline, .concurrency, .queryParameters,
            .apiGeneric, .apiJSON, .apiTyped, .untypedTable, .typedTable,
        ]
        #expect(all.description == "TT,TU,AT,AJ,AG,QS,OC,OL,LH,IP,RF,TR,TQ")
        #expect("\(SyncRequest.Features([.offline, .untypedTable]))" == "TU,OL")
        #expect("\(SyncRequest.Features([.offline, .queryParameters]))" == "QS,OL")
        #expect(SyncRequest.Features().description.isEmpty)
    }

    @Test("a request shows its features", arguments: [Dialect.azureV1, .azureV2])
    func derived(dialect: Dialect) async throws {
        var query = TableQuery("t", top: 5)
        var list = try dialect.list(table: "t", query: query, endpoint: testEndpoint)
        #expect(try await features(list, dialect) == nil)
        list.context.features = [.typedTable, .readQuery]
        #expect(try await features(list, dialect) == "TT,TQ")
        query.includesDeleted = true
        var pull = try dialect.list(table: "t", query: query, endpoint: testEndpoint)
        pull.context.source = .pull
        #expect(try await features(pull, dialect) == "QS,OL")
        pull.context.features = .incremental
        #expect(try await features(pull, dialect) == "QS,OL,IP")
        var insert = dialect.insert(table: "t", record: ["id": "1"], endpoint: testEndpoint)
        insert.context.source = .push
        #expect(try await features(insert, dialect) == "TU,OL")
        let update = dialect.update(table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: testEndpoint)
        #expect(try await features(update, dialect) == "OC")
    }

    @Test("a newer wire is told no features", arguments: [Dialect.azureV3, .datasync])
    func silent(dialect: Dialect) async throws {
        let update = dialect.update(table: "t", id: "1", changes: ["a": 1], version: "v", endpoint: testEndpoint)
        #expect(try await features(update, dialect) == nil)
    }

    @Test("neither the endpoint's own query nor what the wire itself adds is a parameter of the user's")
    func ownQuery() async throws {
        let endpoint = try Endpoint("https://example.net?tenant=7")
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        let client = SluiceClient(endpoint: endpoint, dialect: .azureV1, transport: transport, options: quickOptions())
        for parameters in [[], [TableQuery.Parameter("a", "b")]] {
            let query = TableQuery("t", top: 1, parameters: parameters)
            _ = try await client.send(try Dialect.azureV1.list(table: "t", query: query, endpoint: endpoint))
        }
        #expect(transport.requests.map { $0.head.headerFields[field("X-ZUMO-FEATURES")] } == [nil, "QS"])
    }

    @Test("features belong to one request: nothing leaks into the next, nor from attempt to attempt")
    func leak() async throws {
        let transport = ScriptedTransport([.json(503, ""), .json(200, "[]")], otherwise: .json(200, "[]"))
        let sender = client(transport)
        var pull = try sender.dialect.list(
            table: "t", query: TableQuery("t", includesDeleted: true), endpoint: testEndpoint)
        pull.context.source = .pull
        pull.context.features = .incremental
        let online = try sender.dialect.list(table: "t", query: TableQuery("t"), endpoint: testEndpoint)
        _ = try await sender.send(pull)
        _ = try await sender.send(online)
        #expect(
            transport.requests.map { $0.head.headerFields[field("X-ZUMO-FEATURES")] }
                == ["QS,OL,IP", "QS,OL,IP", nil])
        #expect(online.context.features.isEmpty && pull.head.headerFields[field("X-ZUMO-FEATURES")] == nil)
    }
}
