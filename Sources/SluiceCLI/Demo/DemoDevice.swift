internal import Sluice
internal import SluiceLua

/// One device of the demo: a store of its own, a context that syncs it, and plugins in machines of their own.
struct DemoDevice {
    let name: String
    let path: String
    let context: SyncContext
    /// What its store is encrypted with; nil for a plain one.
    let key: StoreKey?
    /// Who decides its conflicts.
    let referee: DemoReferee
    /// Its plugins; nil where none take part.
    let plugins: Plugins?
    /// What they have decided.
    let notes = DemoNotes()
    /// Tells the plugins what happens.
    private let telling: Task<Void, Never>?

    init(
        _ name: String, folder: DemoFolder, endpoint: Endpoint, plugins: DemoPlugins?, isEncrypted: Bool,
        transport: any Transport = AsyncHTTPTransport()
    ) async throws {
        self.name = name
        path = folder.file("\(name).db")
        key = isEncrypted ? try StoreKey.random() : nil
        let store = try SQLiteStore(
            path: path, encryption: key.map { .key($0) }, options: .init(durability: .normal))
        let loaded = try await plugins?.loaded(over: store)
        self.plugins = loaded
        let client = SluiceClient(
            endpoint: endpoint, transport: transport, filters: loaded.map { [$0.filter] } ?? [],
            options: ClientOptions(retry: RetryPolicy(attempts: 2, firstPause: .milliseconds(50))))
        let decides = plugins?.has(.onConflict) == true
        referee = DemoReferee(plugins: decides ? loaded.map { ($0, plugins?.title ?? "") } : nil)
        let hooks = (loaded?.syncHooks ?? []).map { [notes] in DemoWitness(hook: $0, notes: notes) }
        var options = SyncOptions(conflictHandlers: [referee])
        options.hooks = hooks
        let context = try await SyncContext(client: client, store: store, tables: [DemoMovies.schema], options: options)
        self.context = context
        let tells = plugins?.has(.onEvent) == true
        telling = tells ? loaded.map { loaded in Task { await loaded.tell(of: context) } } : nil
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

    func close() async throws {
        // What a plugin has wait is on this device alone; without plugins nothing may wait here.
        let waiting = plugins == nil ? [] : try await context.queue.operations()
        for operation in waiting { notes.setApart(operation.recordID) }
        telling?.cancel()
        await telling?.value
        try await context.store.close()
    }
}
