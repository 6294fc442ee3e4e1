public import Logging
public import SluiceBase
public import SluiceWire

/// How a sync context works.
public struct SyncOptions: Sendable {
    /// Who decides conflicts, asked in this order.
    public var conflictHandlers: [any ConflictHandler]
    /// What happens to a conflict that no handler decides. The default loses nothing: the operation is held.
    public var conflictPolicy: ConflictPolicy
    /// How often in a row an operation may fail at the server before it is dead and waits for someone. Failures of the
    /// network do not count, nor do answers that report a busy server (408, 425, 429, 502, 503, 504, 507), want other
    /// credentials (401, 407), or come from a login page on the way (3xx, 511). A try within a push counts once, however
    /// often it is repeated. Default 10.
    public var maximumAttempts: Int
    /// How many operations a push may send in one request to `tables/$batch`, from 1 (no batches) to 100. The default,
    /// nil, uses batches of up to 100 with servers that say that they take them, as the embedded backend does. A number
    /// above 1 tries batches with every server, and only then there can be groups: see
    /// ``SyncContext/group(options:_:)``.
    public var batchSize: Int?
    /// How many rows a pull asks for at once; a server may send fewer.
    public var pageSize: Int
    /// How far a saved cursor stays behind the server's clock, because a transaction may be committed after one that
    /// began later. Rows of that time are read again by the next pull. Default 30 s.
    public var commitLag: Duration
    /// Bounds of pulls, and when they reconcile.
    public var pull: PullOptions
    /// How long push, pull, purge and discard wait while another process, or another context, synchronises the store;
    /// then they throw `storeBusy`. Default 5 s; zero does not wait.
    public var leaseTimeout: Duration
    /// Whose data it is. Another user's cursors are not used.
    public var user: String
    /// The wire of the server whose rows the store holds, for a context without a client; a client has its own. It
    /// decides which properties of a record are the server's and which the application's.
    public var dialect: Dialect
    /// Where push and pull log what they do: ids, kinds and counts, never a record's content. Silent by default.
    public var logger: Logger
    /// Clock and ids.
    public var environment: SyncEnvironment
    /// How many requests of a push may be under way at once, each on another record, up to 64. Default 1: one after
    /// the other, in the queue's order. Conflict handlers and filters are then called side by side as well.
    public var concurrency: Int
    /// Which tables' records refer to those of which others, so that parents reach the server before their children. The
    /// references of a context's tables are added.
    public var dependencies: [TableDependency]
    /// Who takes part in what the engine does, asked in this order. None by default, and then nothing is asked.
    public var hooks: [any SyncHook]
    /// What of the data stays on this machine: together with what the store remembers of such.
    public var localOnly: LocalOnly
    /// The references by keys that the service assigns: those of a context's tables.
    package var assignedReferences: [AssignedReference] = []
    /// The references of tables by ids, which follow where the service's key becomes a record's id.
    var idReferences: [AssignedReference] = []
    /// How many operations of a long queue a push reads at a time.
    package var queuePart = 2000
    /// Decide when a ``SyncScheduler`` runs, asked in this order.
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

/// Bounds of pulls, and when they reconcile.
public struct PullOptions: Sendable, Hashable {
    /// How many pages a pull brings at the most, and how many may bring nothing new; then it ends with an error of code
    /// `limitReached`, and the next goes on from there. Default 100,000.
    public var maximumPages = 100_000
    /// How many rows a pull brings at the most, likewise. Default 10,000,000.
    public var maximumRows = 10_000_000
    /// A pull or reconcile that would remove more rows than this, and more than ``maximumRemovedPercent``, ends with an
    /// error of code `removalsHeld` and removes none of those at hand, until it is allowed. Default 100.
    public var maximumRemovedRows = 100
    /// The share of a table's rows, in percent, that a pull or reconcile may remove unasked. Default 50.
    public var maximumRemovedPercent = 50
    /// After how many pulls under one name a pull ends with a reconcile; nil reconciles only where it has to be (after
    /// a change of the query, and after a token that the server no longer knew) and on demand. Default nil.
    public var reconcileEvery: Int?

    /// The defaults.
    public init() {}
}
