internal import CFloor
internal import HTTPTypes
internal import SluiceBackend
internal import SluiceCore
internal import SluiceHTTP

/// The backend as a process of its own, on SQLite or PostgreSQL, and what clients ask of it.
enum BackendRuns {
    static let rows = 10_000
    static let page = 100
    private static let width = 8
    private static let warmUp = 200

    /// Serves a table of ``rows`` rows until it is ended; its first line is the port.
    ///
    /// - Parameter database: a file's path, or the URL of a PostgreSQL server.
    static func serve(_ database: String) async throws {
        let seed = (0..<rows).map { number -> JSON in
            var record = WriteRuns.record(number)
            record["id"] = JSON("r\(100_000 + number)")
            return record
        }
        let table = BackendConfiguration.Table("items", seed: .records(seed), columns: WriteRuns.schema.columns)
        let storage: BackendConfiguration.Database =
            database.hasPrefix("postgres:")
            ? .postgres(try PostgresDatabase(url: database)) : .sqlite(path: database)
        let backend = try await Backend(BackendConfiguration(database: storage, tables: [table]))
        try await BackendServer(backend: backend) { port in say("\(port)") }.run()
    }

    /// What a client asks for.
    enum Request: String, CaseIterable {
        /// A hundred rows.
        case list
        /// One row.
        case record
        /// A new row, each with its own durable commit.
        case insert
        /// A hundred changes after a token.
        case changes
    }

    /// Sends `count` requests, eight at a time, to servers in turn, whose addresses have commas between them.
    static func send(_ count: Int, _ request: Request, to addresses: String) async throws -> Measurement {
        let transport = AsyncHTTPTransport()
        let servers = addresses.split(separator: ",").map { String($0) }
        if request == .changes {
            let tokens = try await tokens(servers[0], transport)
            return try await Measurement.of { try await sendChanges(count, tokens, to: servers, transport) }
        }
        let clients = try servers.map { SluiceClient(endpoint: try Endpoint($0), transport: transport) }
        if request != .insert { try await send(warmUp, request, by: clients) }
        return try await Measurement.of { try await send(count, request, by: clients) }
    }

    /// The tokens of all pages of changes.
    private static func tokens(_ server: String, _ transport: AsyncHTTPTransport) async throws -> [String] {
        var tokens: [String] = []
        while tokens.count < rows / page {
            let answer = try await transport.send(changes(server, after: tokens.last))
            guard let name = HTTPField.Name("X-Sluice-Delta-Token"), let token = answer.head.headerFields[name] else {
                throw BenchFailure("an answer without a token: \(answer.head.status)")
            }
            tokens.append(token)
        }
        return tokens.dropLast()
    }

    private static func changes(_ server: String, after token: String?) -> SyncRequest {
        var target = "/tables/items?$top=\(page)"
        if let token { target += "&$deltatoken=\(token)" }
        let authority = String(server.dropFirst("http://".count))
        var head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: target)
        if let name = HTTPField.Name("ZUMO-API-VERSION") { head.headerFields[name] = "3.0.0" }
        if let name = HTTPField.Name("Prefer") { head.headerFields[name] = "odata.track-changes" }
        return SyncRequest(head)
    }

    private static func sendChanges(
        _ count: Int, _ tokens: [String], to servers: [String], _ transport: AsyncHTTPTransport
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for number in 0..<(count + worker) / width {
                        let server = servers[worker % servers.count]
                        let answer = try await transport.send(
                            changes(server, after: tokens[(worker * 7 + number) % tokens.count]))
                        guard answer.status == 200 else { throw BenchFailure("a page was answered \(answer.status)") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func send(_ count: Int, _ request: Request, by clients: [SluiceClient]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                let table = clients[worker % clients.count].table("items")
                group.addTask {
                    for number in 0..<(count + worker) / width {
                        switch request {
                        case .list:
                            let found = try await table.read(TableQuery("items", top: page))
                            guard found.rows.count == page else { throw BenchFailure("the page is another") }
                        case .record: _ = try await table.lookup(id: "r100050")
                        case .insert: _ = try await table.insert(WriteRuns.record(number))
                        case .changes: break
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The same rows by one statement that is stepped, written as JSON by hand.
    static func floor(_ count: Int, _ request: Request, database: String) throws {
        let columns = "id, title, quantity, price, active, createdAt, updatedAt, version, deleted"
        let select =
            request == .list
            ? "SELECT \(columns) FROM items WHERE deleted = 0 ORDER BY id LIMIT \(page)"
            : "SELECT \(columns) FROM items WHERE id = 'r100050'"
        try PullRuns.withReason { cfloor_list(database, select, count, $0, $1) }
    }

    /// The same SQL over libpq.
    static func floor(_ count: Int, inserts: Bool, server: String) throws {
        try PullRuns.withReason { cfloor_postgres(server, inserts ? 1 : 0, count, width, $0, $1) }
    }
}
