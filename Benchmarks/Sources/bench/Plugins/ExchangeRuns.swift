internal import CFloor
internal import HTTPTypes
internal import SluiceCore
internal import SluiceHTTP
internal import SluiceLua

/// Requests that are sent one after the other, or several at once.
enum ExchangeRuns {
    /// How many are under way at a time over sockets.
    private static let width = 8
    /// How many go ahead of those that are measured.
    private static let warmUp = 200

    // MARK: - over real sockets

    /// `count` requests through a client and real sockets, with or without plugins.
    static func overTheWire(_ count: Int, to address: String, plugins: [PluginPlan]) async throws -> Measurement {
        let plugins = plugins.isEmpty ? [] : [try await Plugins(plugins).filter]
        let client = SluiceClient(
            endpoint: try Endpoint(address), transport: AsyncHTTPTransport(), filters: plugins)
        try await send(warmUp, by: client)
        return try await Measurement.of { try await send(count, by: client) }
    }

    private static func send(_ count: Int, by client: SluiceClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for _ in 0..<(count + worker) / width { try await send(by: client) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func send(by client: SluiceClient) async throws {
        let page = try await client.table("movements").read(TableQuery("movements", top: WireServer.fixedRows))
        guard page.rows.count == WireServer.fixedRows else { throw BenchFailure("the answer is another") }
    }

    // MARK: - answered at once

    /// `count` requests that are answered without a socket: with no plugins, with some of which none matches, or with
    /// one that sets a header.
    static func atOnce(_ count: Int, _ kind: String) async throws {
        let plans: [PluginPlan] =
            switch kind {
            case "unmatched": try PluginPlans.unmatched(20)
            case "header": [try PluginPlans.request()]
            default: []
            }
        let transport = EmptyTransport(wantsHeader: kind == "header")
        let client = SluiceClient(
            endpoint: try Endpoint("http://loopback.invalid"), transport: transport,
            filters: plans.isEmpty ? [] : [try await Plugins(plans).filter])
        let table = client.table("movements")
        for _ in 0..<count { _ = try await table.read(TableQuery("movements", top: 1)) }
    }

    /// As many calls of the same script straight through `lua_pcall`, with the document that the plugin's request
    /// makes.
    static func floor(_ count: Int) throws {
        let reason = try PullRuns.withReason { reason, capacity in
            cfloor_requests(PluginPlans.header, document, count, reason, capacity)
        }
        guard reason == count else { throw BenchFailure("\(reason) of \(count) calls") }
    }

    /// What a script sees of ``atOnce(_:_:)``'s requests.
    private static let document = """
        {"method":"GET","url":"http://loopback.invalid/tables/movements?$top=1","scheme":"http",\
        "host":"loopback.invalid","path":"/tables/movements","query":{"text":"$top=1"},\
        "headers":[["Accept","application/json"],["X-ZUMO-API-VERSION","2.0.0"],["User-Agent","sluice"],\
        ["X-Correlation-ID","0d9e3a0c-6e3c-4a87-9a6c-2f9b3a1d7c55"]],"kind":"read","source":"application",\
        "attempt":1,"table":"movements","body":{"slot":0}}
        """
}

/// Answers every request with an empty page.
private struct EmptyTransport: Transport {
    let wantsHeader: Bool

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        if let name = HTTPField.Name("X-Kind"), request.head.headerFields.contains(name) != wantsHeader {
            throw BenchFailure("the header is not as it should be")
        }
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "application/json; charset=utf-8"
        return SyncResponse(head, body: MessageBody(bytes: Array("[]".utf8)))
    }
}
