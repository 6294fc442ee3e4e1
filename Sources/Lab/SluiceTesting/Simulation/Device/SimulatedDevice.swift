internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// A device: a store that exists for the whole story, and the process that uses it now.
final class SimulatedDevice: Sendable {
    private struct State {
        var store: any LocalStore
        var process: SimulatedProcess
        var context: SyncContext?
        var ids = 0
        var isOffline = false
        /// The policy that decides conflicts at the end, when faults are off.
        var policy: ConflictPolicy
        /// The page size that the device requests.
        var page: Int
        /// The number of purges: a pull that ran beside a purge is not checked for missing rows.
        var purges = 0
        /// The number of failed requests for rows without a time.
        var failedQuestions = 0
        /// A counter that selects the filters of the named queries, so that a name can get another query.
        var wording = 0
        /// The user of the next process.
        var user = 0
        /// Whether the next user finds the data of the one before.
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

    /// The number of failed requests for rows without a time.
    var failedQuestions: Int { state.withLock { $0.failedQuestions } }

    /// Counts a server error in answer to a request for rows without a time.
    func note(_ status: Int, to request: SyncRequest) {
        guard status >= 500, request.head.path?.contains("eq%20null") ?? false else { return }
        state.withLock { $0.failedQuestions += 1 }
    }
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

    /// Sets the user of the next process on the device.
    ///
    /// - Parameter isHandedOver: whether the data of the user before is still there.
    func setUser(_ user: Int, isHandedOver: Bool) {
        state.withLock { ($0.user, $0.isHandedOver) = (user, isHandedOver) }
    }

    /// Starts a process on the device's store.
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
                filters: [SimulatedFilter(process: process, parts: parts)] + parts.configuration.filters
                    + SimulatedCodec.filters(parts.setting),
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
            random: { Double(parts.random.below(1 << 20)) / Double(1 << 20) },
            reached: { [index] point, side in
                try process.checkAlive()
                if parts.faults.strikes(.crashAtCommitPoint, of: index) {
                    try process.crash("\(side.rawValue) the commit point \(point.rawValue)")
                }
            })
        environment.executor = parts.executor
        return environment
    }

    /// Returns a new id: the number of the device and a count.
    func newID() -> String {
        state.withLock {
            $0.ids += 1
            return "\(index).\($0.ids)"
        }
    }

    /// Waits in simulated time.
    func sleep(_ duration: Duration) async throws {
        let (seconds, attoseconds) = duration.components
        let ticks = seconds * Timestamp.ticksPerSecond + attoseconds / 100_000_000_000
        try await parts.agenda.wait(until: Timestamp(ticks: parts.clock.now.ticks + ticks), of: process)
    }

    /// Returns the store for a new process. A store in a file is reopened, so that nothing of the process before
    /// remains.
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

    /// Reads the store directly, past the simulated process.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        let store = state.withLock { $0.store }
        guard kind.usesThreads else { return try await store.read(body) }
        return try await parts.executor.outside { try await store.read(body) }
    }

    /// Releases the context when the story is over.
    func letGo() { state.withLock { $0.context = nil } }

    func countPurge() { state.withLock { $0.purges += 1 } }
}

/// The source of a process's tokens: the device remembers the last token it received, good or not.
struct SimulatedTokens: TokenProvider {
    let device: SimulatedDevice
    let process: SimulatedProcess

    private var account: SimulatedAccount { SimulatedAccount(user: process.user, device: process.device) }

    func token() async throws -> String? { device.token(of: account) }

    func refresh(refused: String?) async throws -> String? {
        try process.checkAlive()
        if device.parts.faults.strikes(.tokenFails, of: device.index) { throw SimulatedMishap() }
        let token = device.parts.tokens.current(account)
        device.remember(token, of: account)
        return token
    }
}

/// A hook that removes a property from some pulled records, and changes it in the others. The application sees the
/// result, but nobody has edited the record.
struct SimulatedTidying: SyncHook {
    let fields: SimulatedFields

    var hookName: String { "tidying" }

    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        page.rows.map { $0.isTombstone ? .keep : .change(fields.tidied($0.record)) }
    }
}

extension SimulatedFields {
    /// The property that the hook changes.
    private static let tidied = "b"

    /// Returns the record as the hook changes it: an even value is removed, an odd one gets the opposite sign.
    func tidied(_ record: JSON) -> JSON {
        guard let value = value(Self.tidied, of: record) else { return record }
        var record = record
        record[name(Self.tidied)] = value % 2 == 0 ? nil : JSON(0 &- value)
        return record
    }

    /// Whether an update has overwritten a property with the value that the hook gave it.
    func writesTidying(over before: JSON, _ after: JSON) -> Bool {
        let name = name(Self.tidied)
        let (value, written) = (before[name], after[name])
        return value != nil && written != value && written == tidied(before)[name]
    }
}

extension SimulationSetting {
    /// Whether the device's record agrees with the server's row: unchanged, or as its hook changes it.
    func shows(_ row: JSON, as record: JSON?) -> Bool {
        record == row || tidiesPages && record == fields.tidied(row)
    }
}

extension SimulatedDevice {
    /// Moves the operations of a record to another device's queue, as a person does while both devices are idle. The
    /// other records of its groups move too, because a group cannot be split.
    func transfer(_ choice: Int, to other: SimulatedDevice) async {
        do {
            guard let queue = context?.queue, let target = other.context?.queue else { return }
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            let keys = together(with: operations[choice % operations.count], in: operations)
            let lines = try await queue.export().split(separator: "\n")
            let moved = zip(operations, lines).filter { keys.contains(self.key(of: $0.0)) }
            for key in keys {
                let ids = moved.map(\.0).filter { self.key(of: $0) == key }.map(\.id)
                parts.oracle.moves(ids, of: key, from: index, to: other.index)
            }
            guard try await target.import(moved.map(\.1).joined(separator: "\n")).imported == moved.count else {
                return
            }
            for key in keys {
                parts.trace.note(
                    "transfer", key.id.text, other.index,
                    line: "  \(key) goes on in the queue of device \(other.index)")
            }
            for (operation, _) in moved.reversed() {
                // Discarding one operation of a group has removed the others.
                guard try await queue.operations().contains(where: { $0.id == operation.id }) else { continue }
                try await queue.discard(operation.id, goesOnElsewhere: true)
            }
            for key in keys { parts.oracle.moved(key, from: index, to: other.index) }
        } catch let error as SluiceError
            where [.operationRefused, .operationsPending, .recordExists, .invalidRecord].contains(error.code)
        {
            // The other device has operations of that record too, or a record that is in the way.
        } catch {
            explain(error, "transfer")
        }
    }

    /// Returns the records whose operations must move together with that operation, in the order of the queue.
    private func together(with first: TableOperation, in operations: [TableOperation]) -> [RecordKey] {
        var keys: Set<RecordKey> = []
        var added: Set<RecordKey> = [key(of: first)]
        while !added.isEmpty {
            keys.formUnion(added)
            let groups = Set(operations.filter { keys.contains(key(of: $0)) }.compactMap(\.group))
            let members = operations.filter { operation in operation.group.map(groups.contains) ?? false }
            added = Set(members.map(key(of:))).subtracting(keys)
        }
        return operations.map(key(of:)).filter { keys.remove($0) != nil }
    }

    /// Returns the record of an operation.
    func key(of operation: TableOperation) -> RecordKey {
        RecordKey(table: operation.table, id: parts.setting.ids.known(operation.recordID))
    }
}
