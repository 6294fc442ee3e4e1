import HTTPTypes
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// The stores that every sync test runs on.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite

    var testDescription: String { rawValue }

    func make() async throws -> any LocalStore {
        switch self {
        case .memory: MemoryStore()
        case .sqlite: try SQLiteStore(path: ":memory:")
        }
    }
}

/// A device with its own store, against a server they may share.
struct Device {
    let server: ModelServer
    let store: any LocalStore
    let context: SyncContext
    let todos: SyncTable<JSON>

    init(
        _ kind: StoreKind, server: ModelServer = ModelServer(), handlers: [any ConflictHandler] = [],
        policy: ConflictPolicy = .hold, filters: [any RequestFilter] = [], pageSize: Int = 50,
        store: (any LocalStore)? = nil, transport: (any Transport)? = nil, retry: RetryPolicy = .never,
        dialect: Dialect = .azureV2, endpoint: String = "http://model.test", maximumAttempts: Int = 10,
        batchSize: Int = 1,
        commitLag: Duration = .zero, pull: PullOptions = PullOptions(), tables: [TableSchema] = [],
        migrations: [StoreMigration] = [],
        adjust: (inout SyncOptions) -> Void = { _ in },
        reached: @escaping @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void = { _, _ in }
    ) async throws {
        self.server = server
        self.store = if let store { store } else { try await kind.make() }
        let ids = UUIDv7Source()
        let clock = Mutex<Int64>(17_000_000_000_000_000)
        let environment = SyncEnvironment(
            now: {
                clock.withLock {
                    $0 += 10_000
                    return Timestamp(ticks: $0)
                }
            },
            makeID: { ids.next(at: Timestamp(ticks: 17_000_000_000_000_000)) }, reached: reached)
        var options = ClientOptions()
        options.retry = retry
        options.environment.sleep = { _ in }
        let client = SluiceClient(
            endpoint: try Endpoint(endpoint), dialect: dialect, transport: transport ?? server,
            filters: filters, options: options)
        var syncOptions = SyncOptions(
            conflictHandlers: handlers, conflictPolicy: policy, maximumAttempts: maximumAttempts,
            batchSize: batchSize, pageSize: pageSize, commitLag: commitLag, environment: environment)
        syncOptions.pull = pull
        adjust(&syncOptions)
        context = try await SyncContext(
            client: client, store: self.store, tables: tables, migrations: migrations, options: syncOptions)
        todos = try context.table("todos")
    }

    /// The local record without what only the server sets.
    func local(_ id: String) async throws -> JSON? {
        try await todos.lookup(id: id).map(Self.plain)
    }

    /// The server's record without what only the server sets; nil if it is deleted there.
    func remote(_ id: String) -> JSON? {
        server.rows("todos")[RecordID(id)].flatMap { $0["deleted"] == true ? nil : Self.plain($0) }
    }

    static func plain(_ record: JSON) -> JSON {
        RecordRules.withoutSystemColumns(record, ["version", "updatedAt", "createdAt", "deleted"])
    }

    /// The queue as `kind id state`.
    func queue() async throws -> [String] {
        try await context.queue.operations().map { "\($0.kind.rawValue) \($0.recordID) \($0.state.rawValue)" }
    }

    /// What was given up on purpose.
    func audit() async throws -> [JSON] {
        try await store.read { try $0.records(matching: TableQuery(SyncTables.audit.name)) }
    }

    /// What the engine still remembers of records: empty when all is settled.
    func states() async throws -> Int {
        try await store.read { try $0.count(matching: TableQuery(RecordState.schema.name)) }
    }
}

extension SyncRequest {
    var isWrite: Bool { head.method != .get }
}
