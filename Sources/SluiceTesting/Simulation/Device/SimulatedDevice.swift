internal import SluiceCore
internal import Synchronization

/// A device: a store that lives as long as the story, and the process that works on it now.
final class SimulatedDevice: Sendable {
    private struct State {
        var store: any LocalStore
        var process: SimulatedProcess
        var context: SyncContext?
        var ids = 0
        var isOffline = false
        /// Who decides conflicts once all is well.
        var policy: ConflictPolicy
        /// How many rows it asks for at once.
        var page: Int
        /// Counts purges: a pull that ran beside one has no rows to answer for.
        var purges = 0
        /// How its queries are worded: a name comes to mean another query.
        var wording = 0
        /// Who is to work on it when the next process begins.
        var user = 0
        /// Whether that one finds everything of the one before.
        var isHandedOver = false
        var tokens: [SimulatedAccount: String] = [:]
    }

    let index: Int
    let kind: SimulatedStores
    private let open: @Sendable () throws -> any LocalStore
    let parts: SimulationParts
    private let commits = SimulatedCommits()
    private let state: Mutex<State>

    init(
        index: Int, kind: SimulatedStores, open: @escaping @Sendable () throws -> any LocalStore, parts: SimulationParts
    ) throws {
        self.index = index
        self.kind = kind
        self.open = open
        self.parts = parts
        state = Mutex(
            State(
                store: try open(), process: SimulatedProcess(device: index, user: 0), policy: parts.setting.policy,
                page: parts.setting.devicePage))
    }

    var process: SimulatedProcess { state.withLock { $0.process } }
    var context: SyncContext? { state.withLock { $0.context } }
    var purges: Int { state.withLock { $0.purges } }
    var isOffline: Bool {
        get { state.withLock { $0.isOffline } }
        set { state.withLock { $0.isOffline = newValue } }
    }

    var wording: Int { state.withLock { $0.wording } }
    func reword() { state.withLock { $0.wording += 1 } }
    func setPage(_ page: Int) { state.withLock { $0.page = page } }
    func setPolicy(_ policy: ConflictPolicy) { state.withLock { $0.policy = policy } }

    func token(of account: SimulatedAccount) -> String? { state.withLock { $0.tokens[account] } }
    func remember(_ token: String, of account: SimulatedAccount) { state.withLock { $0.tokens[account] = token } }

    /// Who works on the device when the next process begins.
    ///
    /// - Parameter isHandedOver: whether with everything of the one before; else when nothing of that is left.
    func setUser(_ user: Int, isHandedOver: Bool) {
        state.withLock { ($0.user, $0.isHandedOver) = (user, isHandedOver) }
    }

    /// Begins a process on the device's store.
    func start() async throws {
        let (user, isHandedOver) = state.withLock { ($0.user, $0.isHandedOver) }
        let process = SimulatedProcess(
            device: index, user: parts.oracle.begins(as: user, on: index, isHandedOver: isHandedOver))
        state.withLock {
            $0.user = process.user
            $0.process = process
            $0.context = nil
        }
        let store = try await reopened()
        let environment = environment(process)
        var client = ClientOptions()
        client.environment = environment
        client.retry = RetryPolicy(attempts: parts.setting.attempts)
        client.timer = environment.sleep
        if parts.setting.usesTokens { client.tokenProvider = SimulatedTokens(device: self, process: process) }
        var handlers: [any ConflictHandler] = parts.configuration.conflictHandlers
        if let handler = SimulatedHandler.make(parts.setting.handler) { handlers = [handler] }
        let watched = (handlers.isEmpty ? [nil] : handlers.map { .some($0) }).map {
            SimulatedHandler(inner: $0, device: self, parts: parts)
        }
        var options = SyncOptions(conflictHandlers: watched, environment: environment)
        options.conflictPolicy = state.withLock { $0.policy }
        options.pageSize = state.withLock { $0.page }
        options.batchSize = parts.setting.batchSize == 0 ? nil : parts.setting.batchSize
        options.queuePart = parts.setting.queuePart
        options.concurrency = parts.setting.concurrency
        options.commitLag = .seconds(parts.setting.commitLag)
        options.pull.reconcileEvery = parts.setting.reconcileEvery
        options.dependencies = parts.setting.dependency.declared
        var hooks = parts.configuration.hooks
        if hooks.isEmpty, parts.setting.tidiesPages { hooks = [SimulatedTidying(fields: parts.setting.fields)] }
        if hooks.isEmpty, parts.hookMishaps > 0 { hooks = [SimulatedPassage()] }
        options.hooks = hooks.map { SimulatedHook(inner: $0, device: self, parts: parts) }
        options.user = SimulatedAccount.name(of: process.user)
        if let memos = SimulatedMemo.localOnly(parts.setting) { options.localOnly = memos }
        let context = try await SyncContext(
            client: SluiceClient(
                endpoint: try Endpoint("http://server.test"), dialect: parts.dialect,
                transport: SimulatedTransport(process: process, parts: parts),
                filters: [SimulatedFilter(process: process, parts: parts)] + parts.configuration.filters,
                options: client),
            store: SimulatedStore(
                inner: store, process: process, world: parts, usesThreads: kind.usesThreads, commits: commits),
            options: options)
        state.withLock { $0.context = context }
    }

    private func environment(_ process: SimulatedProcess) -> SyncEnvironment {
        let parts = parts
        let skew = Int64(parts.setting.skews.indices.contains(index) ? parts.setting.skews[index] : 0)
        var environment = SyncEnvironment(
            now: { Timestamp(ticks: parts.clock.now.ticks + skew * Timestamp.ticksPerSecond) },
            makeID: { [self] in newID() },
            sleep: { [self] in try await sleep($0) },
            random: { Double(parts.luck.below(1 << 20)) / Double(1 << 20) },
            reached: { [index] point, side in
                try process.checkAlive()
                if parts.faults.strikes(.crashAtCommitPoint, of: index) {
                    try process.crash("\(side.rawValue) the commit point \(point.rawValue)")
                }
            })
        environment.executor = parts.executor
        return environment
    }

    /// A new id: which device made it, and the how many-eth it is.
    private func newID() -> String {
        state.withLock {
            $0.ids += 1
            return "\(index).\($0.ids)"
        }
    }

    /// Waits in the world's time.
    func sleep(_ duration: Duration) async throws {
        let (seconds, attoseconds) = duration.components
        let ticks = seconds * Timestamp.ticksPerSecond + attoseconds / 100_000_000_000
        try await parts.agenda.wait(until: Timestamp(ticks: parts.clock.now.ticks + ticks), of: process)
    }

    /// The store as a process that begins finds it: where it is a file, nothing of the process before is left.
    private func reopened() async throws -> any LocalStore {
        let store = state.withLock { $0.store }
        guard kind.isReopened else { return store }
        let opened = try await parts.executor.outside { [open] in
            try await store.close()
            return try open()
        }
        state.withLock { $0.store = opened }
        return opened
    }

    /// Looks into the store itself.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        let store = state.withLock { $0.store }
        guard kind.usesThreads else { return try await store.read(body) }
        return try await parts.executor.outside { try await store.read(body) }
    }

    /// Gives up the context of a story that is over.
    func letGo() { state.withLock { $0.context = nil } }

    func countPurge() { state.withLock { $0.purges += 1 } }
}
