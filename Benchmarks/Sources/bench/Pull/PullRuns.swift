internal import CFloor
internal import SluiceCore
internal import SluiceHTTP
internal import SluiceSQLite

/// The work that is compared: each in a process of its own, with a new database.
enum PullRuns {
    /// The table as an application would declare it.
    static let schema = TableSchema(
        "movements",
        columns: [
            .init("createdAt", .date), .init("updatedAt", .date), .init("version", .string),
            .init("deleted", .boolean), .init("title", .string), .init("note", .string), .init("quantity", .integer),
            .init("price", .real), .init("active", .boolean), .init("due", .date),
        ])

    /// A named pull through client, filters, session and store.
    ///
    /// - Parameter pages: a folder of pages; or the address of a server, which is asked over a socket.
    static func sluice(
        pages: String, database: String, options: SyncOptions = SyncOptions(), encryption: StoreEncryption? = nil
    ) async throws {
        let store = try SQLiteStore(path: database, encryption: encryption, options: .init(durability: .normal))
        let client =
            if pages.hasPrefix("http://") {
                SluiceClient(endpoint: try Endpoint(pages), transport: AsyncHTTPTransport())
            } else {
                SluiceClient(
                    endpoint: try Endpoint("http://loopback.invalid"), transport: LoopbackTransport(directory: pages))
            }
        let context = try await SyncContext(client: client, store: store, tables: [schema], options: options)
        _ = try await context.pull(TableQuery("movements"), named: "all")
        try await store.close()
    }

    /// The same pages through jansson and libsqlite3.
    static func floor(pages: String, database: String) throws {
        try withReason { cfloor_pull(pages, database, $0, $1) }
    }

    /// Sees that both databases hold the same rows, and returns how many.
    static func compare(_ first: String, _ second: String) throws -> Int {
        try withReason { cfloor_compare(first, second, $0, $1) }
    }

    /// Calls C code that says by a text why it has failed.
    @discardableResult
    static func withReason(_ body: (UnsafeMutablePointer<CChar>?, Int) -> Int) throws -> Int {
        var result = -1
        let reason = String(unsafeUninitializedCapacity: 512) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text[0] = 0
                result = body(text.baseAddress, text.count)
            }
            return buffer.firstIndex(of: 0) ?? 0
        }
        guard result >= 0 else { throw BenchFailure(reason) }
        return result
    }
}
