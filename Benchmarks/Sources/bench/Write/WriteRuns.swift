internal import CFloor
internal import SluiceCore
internal import SluiceHTTP
internal import SluiceSQLite

/// Writes without a network: each in a process of its own, with a new database.
enum WriteRuns {
    static let schema = TableSchema(
        "items",
        columns: [
            .init("title", .string), .init("quantity", .integer), .init("price", .real), .init("active", .boolean),
        ])

    /// Inserts so many records in one local transaction, each with its queued operation.
    static func inserts(_ count: Int, database: String) async throws {
        let store = try SQLiteStore(path: database, options: .init(durability: .normal))
        let context = try await SyncContext(store: store, tables: [schema])
        try await context.write { transaction in
            for number in 0..<count { try transaction.insert(record(number), in: schema.name) }
        }
        try await store.close()
    }

    /// Inserts so many records, each in a transaction of its own.
    static func single(_ count: Int, database: String) async throws {
        let store = try SQLiteStore(path: database, options: .init(durability: .normal))
        let context = try await SyncContext(store: store, tables: [schema])
        let items = try context.table(schema.name)
        for number in 0..<count { try await items.insert(record(number)) }
        try await store.close()
    }

    /// The record of that number.
    static func record(_ number: Int) -> JSON {
        [
            "title": JSON("item number \(number) of the list"), "quantity": JSON(number % 1000),
            "price": JSON(Double(number) * 0.25), "active": JSON(number % 2 == 1),
        ]
    }

    /// The same rows by two prepared statements, so many in a transaction.
    static func floor(_ count: Int, step: Int, database: String) throws {
        try PullRuns.withReason { cfloor_write(count, step, database, $0, $1) }
    }

    /// The push of a store that ``inserts(_:database:)`` has filled, by the statements and documents that it needs.
    ///
    /// - Parameter server: the server's address; nil for answers made in the process.
    /// - Parameter width: the number of requests under way, each with one operation; 0 for batches.
    static func pushFloor(_ database: String, to server: String? = nil, width: Int = 0) throws {
        try PullRuns.withReason { cfloor_push(database, server, width, $0, $1) }
    }

    /// Sends what waits in the queue to a server, as ``pushFloor(_:to:width:)``.
    static func push(_ database: String, to server: String? = nil, width: Int = 0) async throws {
        let store = try SQLiteStore(path: database, options: .init(durability: .normal))
        let transport: any Transport = server == nil ? AcceptingTransport() : AsyncHTTPTransport()
        let client = SluiceClient(endpoint: try Endpoint(server ?? "http://loopback.invalid"), transport: transport)
        var options = SyncOptions()
        options.concurrency = width > 0 ? width : 4
        if width > 0 { options.batchSize = 1 }
        let context = try await SyncContext(client: client, store: store, tables: [schema], options: options)
        let result = try await context.push()
        guard result.isClean else { throw BenchFailure("the push left \(result.remaining): \(result)") }
        try await store.close()
    }
}
