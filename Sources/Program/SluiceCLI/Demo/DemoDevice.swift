internal import Sluice
internal import SluiceLua
internal import Synchronization

/// One device of the demo: a store of its own, a context that syncs it, and plugins in machines of their own.
struct DemoDevice {
    let name: String
    let path: String
    let context: SyncContext
    /// The key of its encrypted store; nil for a plain one.
    let key: StoreKey?
    /// The handler of its conflicts.
    let handler: DemoHandler
    /// Its plugins; nil if none take part.
    let plugins: Plugins?
    /// The plugins' decisions so far.
    let notes = DemoNotes()
    /// The task that reports events to the plugins.
    private let telling: Task<Void, Never>?

    init(
        _ name: String, folder: DemoFolder, endpoint: Endpoint, plugins: DemoPlugins?, isEncrypted: Bool,
        transport: any Transport = AsyncHTTPTransport(proxy: .none)
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
        handler = DemoHandler(plugins: decides ? loaded.map { ($0, plugins?.title ?? "") } : nil)
        var options = SyncOptions(conflictHandlers: [handler])
        if let loaded { options.hooks = [DemoObserver(hook: loaded.syncHook, notes: notes)] }
        let context = try await SyncContext(client: client, store: store, tables: [DemoMovies.schema], options: options)
        self.context = context
        let tells = plugins?.has(.onEvent) == true
        telling = tells ? loaded.map { loaded in Task { await loaded.tell(of: context) } } : nil
    }

    /// The device's movies.
    var movies: SyncTable<JSON> { get throws { try context.table(DemoMovies.table) } }

    /// Pulls the server's changes, with a bar of `total` rows if the number is known.
    func pull(total: Int? = nil) async throws -> PullResult {
        let bar = ProgressBar("\(name) pulls", total: total)
        defer { bar.finish() }
        return try await context.pull(TableQuery(DemoMovies.table), named: "all") { bar.update($0.rows) }
    }

    func waiting() async throws -> Int { try await context.queue.operations().count }

    func close() async throws {
        // Changes that a plugin postpones are on this device alone; without plugins none may be left here.
        let waiting = plugins == nil ? [] : try await context.queue.operations()
        for operation in waiting { notes.setApart(operation.recordID) }
        telling?.cancel()
        await telling?.value
        try await context.store.close()
    }
}

/// Wraps one of the plugins' hooks and notes its decisions. So they can be reported, and the final comparison does not
/// take a decided difference for a failure.
struct DemoObserver: SyncHook {
    let hook: any SyncHook
    let notes: DemoNotes

    var hookName: String { hook.hookName }

    func wants(_ point: HookPoint, table: String) -> Bool { hook.wants(point, table: table) }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        let decision = try await hook.beforeEnqueue(change)
        switch decision {
        case .accept, .reject: break
        case .change: notes.say("before_enqueue of \(change.recordID): stores another record")
        case .localOnly(let record):
            if record != nil { notes.say("before_enqueue of \(change.recordID): stores another record") }
            notes.setApart(change.recordID)
            notes.say("before_enqueue of \(change.recordID): stays on the device")
        }
        return decision
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        let decision = try await hook.beforePush(operation, record: record)
        let word: String? =
            switch decision {
            case .send: nil
            case .skip(let reason): "waits for the next push (\(reason))"
            case .defer(let pause, let reason): "waits \(pause) (\(reason))"
            case .changeKind(let kind, _): "becomes another: \(kind.rawValue)"
            }
        if let word { notes.say("before_push of \(operation.recordID): \(word)") }
        return decision
    }

    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision {
        let decision = try await hook.onPushError(failure)
        let word: String? =
            switch decision {
            case .next: nil
            case .retry(let pause): "is tried again after \(pause)"
            case .cancelAndDiscard, .cancelAndUpdate: "is given up"
            case .changeKind(let kind, _): "becomes another: \(kind.rawValue)"
            case .park(let reason): "is parked (\(reason))"
            case .abort: "ends the push"
            }
        if let word { notes.say("on_push_error of \(failure.operation.recordID): \(word)") }
        return decision
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        let decisions = try await hook.afterPull(page)
        for (row, decision) in zip(page.rows, decisions) {
            switch decision {
            case .keep: break
            case .change, .set: notes.count(row.id, isDropped: false)
            case .drop: notes.count(row.id, isDropped: true)
            }
        }
        return decisions
    }
}

/// The decisions of a device's plugins.
final class DemoNotes: Sendable {
    private struct State {
        var lines: [String] = []
        var dropped = 0
        var changed = 0
        var apart: Set<RecordID> = []
    }
    private let state = Mutex(State())

    func say(_ line: String) { state.withLock { $0.lines.append(Plain.line(line)) } }

    /// Notes a record that this device must not have as the server has it.
    func setApart(_ id: RecordID) { state.withLock { _ = $0.apart.insert(id) } }

    /// Counts a pulled row that is dropped or stored with changes.
    func count(_ id: RecordID, isDropped: Bool) {
        state.withLock { state in
            state.apart.insert(id)
            if isDropped { state.dropped += 1 } else { state.changed += 1 }
        }
    }

    /// The records that this device must not have as the server has them.
    var apart: Set<RecordID> { state.withLock { $0.apart } }

    /// Returns the notes since the last call, one a line.
    func take() -> [String] {
        state.withLock { state in
            defer { (state.lines, state.dropped, state.changed) = ([], 0, 0) }
            guard state.dropped + state.changed > 0 else { return state.lines }
            let (dropped, changed) = (Plain.count(state.dropped, "row"), Plain.count(state.changed, "row"))
            return state.lines + ["after_pull: \(dropped) dropped, \(changed) changed"]
        }
    }
}
