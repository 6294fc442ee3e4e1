internal import Sluice

/// One device of the demo: a store of its own, and a context that syncs it.
struct DemoDevice {
    let name: String
    let path: String
    let context: SyncContext
    /// What its store is encrypted with; nil for a plain one.
    let key: StoreKey?

    init(
        _ name: String, folder: DemoFolder, endpoint: Endpoint, handler: any ConflictHandler, isEncrypted: Bool,
        transport: any Transport = AsyncHTTPTransport()
    ) async throws {
        self.name = name
        path = folder.file("\(name).db")
        key = isEncrypted ? try StoreKey.random() : nil
        let client = SluiceClient(
            endpoint: endpoint, transport: transport,
            options: ClientOptions(retry: RetryPolicy(attempts: 2, firstPause: .milliseconds(50))))
        let store = try SQLiteStore(
            path: path, encryption: key.map { .key($0) }, options: .init(durability: .normal))
        context = try await SyncContext(
            client: client, store: store, tables: [DemoMovies.schema], options: SyncOptions(conflictHandlers: [handler])
        )
    }

    /// The device's movies.
    var movies: SyncTable { get throws { try context.table(DemoMovies.table) } }

    /// Brings what has changed on the server, with a bar of `total` rows where that is known.
    func pull(total: Int? = nil) async throws -> PullResult {
        let bar = ProgressBar("\(name) pulls", total: total)
        defer { bar.finish() }
        return try await context.pull(Query(DemoMovies.table), named: "all") { bar.update($0.rows) }
    }

    func waiting() async throws -> Int { try await context.queue.operations().count }

    func close() async throws { try await context.store.close() }
}
