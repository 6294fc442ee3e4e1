public import Logging
public import SluiceBase
public import SluiceWire

/// The options of a sync context.
public struct SyncOptions: Sendable {
    /// The handlers that decide conflicts, asked in this order.
    public var conflictHandlers: [any ConflictHandler]
    /// The treatment of a conflict that no handler decides. The default loses nothing: the operation is held.
    public var conflictPolicy: ConflictPolicy
    /// The number of failures in a row at the server after which an operation is dead and waits for a person. Failures
    /// of the network do not count. Nor do answers that report a busy server (408, 425, 429, 502, 503, 504, 507), ask
    /// for other credentials (401, 407), or come from a login page on the way (3xx, 511). A try within a push counts
    /// once, even if it is repeated. Default 10.
    public var maximumAttempts: Int
    /// The number of operations that a push may send in one request to `tables/$batch`, from 1 (no batches) to 100.
    /// The default, nil, uses batches of up to 100 with servers that announce support, such as the embedded backend. A
    /// number above 1 tries batches with every server, and is required for groups: see
    /// ``SyncContext/group(options:_:)``.
    public var batchSize: Int?
    /// The number of rows that a pull requests at once; a server may send fewer.
    public var pageSize: Int
    /// The time by which a saved cursor stays behind the server's clock, because transactions may be committed in
    /// another order than they began. The next pull reads rows of that time again. Default 30 s.
    public var commitLag: Duration
    /// The limits of pulls, and the times of their reconciles.
    public var pull: PullOptions
    /// The time for which push, pull, purge and discard wait while another process, or another context, synchronises
    /// the store. Then they throw `storeBusy`. Default 5 s; zero does not wait.
    public var leaseTimeout: Duration
    /// The user whose data it is. Another user's cursors are not used.
    public var user: String
    /// The wire of the server whose rows the store holds, for a context without a client; a client has its own. It
    /// separates the server's properties of a record from the application's.
    public var dialect: Dialect
    /// The logger of push and pull: ids, kinds and counts, never a record's content. Silent by default.
    public var logger: Logger
    /// The clock, the sleep and the source of ids.
    public var environment: SyncEnvironment
    /// The number of requests of a push that may be under way at once, each on another record, up to 64. Default 1:
    /// one after the other, in the queue's order. With more, conflict handlers and filters are called concurrently
    /// too.
    public var concurrency: Int
    /// The references between tables, so that parents reach the server before their children. The references of a
    /// context's tables are added.
    public var dependencies: [TableDependency]
    /// The hooks of the engine's steps, asked in this order. None by default, and then nothing is asked.
    public var hooks: [any SyncHook]
    /// The tables and columns that stay on this machine, in addition to the ones that the store remembers.
    public var localOnly: LocalOnly
    /// The references of a context's tables by keys that the service assigns.
    package var assignedReferences: [AssignedReference] = []
    /// The references of tables by ids. They are updated where the service's key becomes a record's id.
    var idReferences: [AssignedReference] = []
    /// The number of operations of a long queue that a push reads at a time.
    package var queuePart = 2000
    /// The hooks that decide the times of a ``SyncScheduler``, asked in this order.
    public var scheduleHooks: [any ScheduleHook]

    /// Options; each has a default.
    public init(
        conflictHandlers: [any ConflictHandler] = [], conflictPolicy: ConflictPolicy = .hold,
        maximumAttempts: Int = 10, batchSize: Int? = nil, pageSize: Int = 1000, commitLag: Duration = .seconds(30),
        leaseTimeout: Duration = .seconds(5), user: String = "", dialect: Dialect = .azureV2,
        logger: Logger = Logger(label: "sluice.sync") { _ in SwiftLogNoOpLogHandler() },
        environment: SyncEnvironment = .system, concurrency: Int = 1, dependencies: [TableDependency] = [],
        pull: PullOptions = PullOptions(), hooks: [any SyncHook] = [], localOnly: LocalOnly = LocalOnly(),
        scheduleHooks: [any ScheduleHook] = []
    ) {
        self.conflictHandlers = conflictHandlers
        self.conflictPolicy = conflictPolicy
        self.maximumAttempts = maximumAttempts
        self.batchSize = batchSize
        self.pageSize = pageSize
        self.commitLag = commitLag
        self.leaseTimeout = leaseTimeout
        self.user = user
        self.dialect = dialect
        self.logger = logger
        self.environment = environment
        self.concurrency = concurrency
        self.dependencies = dependencies
        self.pull = pull
        self.hooks = hooks
        self.localOnly = localOnly
        self.scheduleHooks = scheduleHooks
    }
}

/// The limits of pulls, and the times of their reconciles.
public struct PullOptions: Sendable, Hashable {
    /// The maximum number of pages of a pull, and of pages without anything new. At the limit it ends with an error of
    /// code `limitReached`, and the next pull goes on from there. Default 100,000.
    public var maximumPages = 100_000
    /// The maximum number of rows of a pull, likewise. Default 10,000,000.
    public var maximumRows = 10_000_000
    /// The number of removed rows at which a pull or reconcile may be stopped. One that would remove more rows, and
    /// more than ``maximumRemovedPercent``, ends with an error of code `removalsHeld` before it removes the rows at
    /// hand, until it is allowed. Default 100.
    public var maximumRemovedRows = 100
    /// The share of a table's rows, in percent, that a pull or reconcile may remove by default. Default 50.
    public var maximumRemovedPercent = 50
    /// The number of pulls under one name after which a pull ends with a reconcile. Nil reconciles only on demand and
    /// where it is necessary: after a change of the query, and after a token that the server no longer knew. Default
    /// nil.
    public var reconcileEvery: Int?
    /// Whether the first page of a pull that is watched asks the server for the number of rows. A server that fails at
    /// that is asked again without. Default false.
    public var countsRows = false

    /// The defaults.
    public init() {}
}
