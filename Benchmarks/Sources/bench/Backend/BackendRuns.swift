internal import CFloor
internal import SluiceBackend
internal import SluiceCore
internal import SluiceHTTP

/// The backend on SQLite as a process of its own, and what clients ask of it.
enum BackendRuns {
    static let rows = 10_000
    static let page = 100
    private static let width = 8
    private static let warmUp = 200

    /// Serves a table of ``rows`` rows until it is ended; its first line is the port.
    static func serve(_ database: String) async throws {
        let seed = (0..<rows).map { number -> JSON in
            var record = WriteRuns.record(number)
            record["id"] = JSON("r\(100_000 + number)")
            return record
        }
        let table = BackendConfiguration.Table("items", seed: .records(seed), columns: WriteRuns.schema.columns)
        let backend = try await Backend(BackendConfiguration(database: .sqlite(path: database), tables: [table]))
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
    }

    /// Sends `count` requests, eight at a time.
    static func send(_ count: Int, _ request: Request, to address: String) async throws -> Measurement {
        let client = SluiceClient(endpoint: try Endpoint(address), transport: AsyncHTTPTransport())
        if request != .insert { try await send(warmUp, request, by: client) }
        return try await Measurement.of { try await send(count, request, by: client) }
    }

    private static func send(_ count: Int, _ request: Request, by client: SluiceClient) async throws {
        let table = client.table("items")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for number in 0..<(count + worker) / width {
                        switch request {
                        case .list:
                            let found = try await table.read(Query("items", top: page))
                            guard found.rows.count == page else { throw BenchFailure("the page is another") }
                        case .record: _ = try await table.lookup(id: "r100050")
                        case .insert: _ = try await table.insert(WriteRuns.record(number))
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
}
