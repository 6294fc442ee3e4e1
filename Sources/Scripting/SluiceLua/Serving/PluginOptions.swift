public import CoreMetrics
internal import Foundation
public import Logging
public import SluiceCore

/// The application's settings and services for plugins.
public struct PluginOptions: Sendable {
    /// The clock, pauses and random numbers.
    public var environment: SyncEnvironment
    /// Waits for the end of a call's time. Throws when the task is cancelled.
    public var timer: @Sendable (Duration) async throws -> Void
    /// The logger of plugins and of messages about them.
    public var logger: Logger
    /// The transport of `http.request`, for hosts of a plugin's permissions; nil for none.
    public var transport: (any Transport)?
    /// The store that `store` reads; nil for none.
    public var store: (any LocalStore)?
    /// The storage of `kv`. In memory by default: use ``StoredPluginValues`` to keep it.
    public var storage: any PluginStorage
    /// Returns a secret by its name, when plugins are loaded; nil if there is none.
    public var secret: @Sendable (String) async throws -> String?
    /// The wire protocol of the server: it defines the fields of a record that only the server sets.
    public var dialect: Dialect
    /// Tables with declared columns: records from plugins are checked against them.
    public var tables: [TableSchema]
    /// Filters in Swift, in one chain with the plugins.
    public var filters: [Placed<any RequestFilter>]
    /// The number of decisions kept in memory. Default 512.
    public var decisionLogSize: Int
    /// A file for decisions, written as they are made. A policy's `decisions` replace it. Nil, the default, writes
    /// none.
    public var decisionLog: DecisionLog?
    /// The factory of the plugins' metrics; nil, the default, for the process's metrics system at the time of loading.
    public var metrics: (any MetricsFactory)?
    /// Whether the inputs and answers of hooks are kept with their decisions, without credentials. Default no.
    public var keepsInputs: Bool
    /// The time limit for calls of replaced plugins. Default 30 s.
    public var drainLimit: Duration
    /// Whether each guard of the sandbox is tested whenever a plugin is loaded. Default no.
    public var testsGuards: Bool
    /// Checks each plugin before a new set serves, for example its fixtures. An error keeps the old set.
    public var gate: (@Sendable (PluginPlan) async throws -> Void)?
    /// A file with a complete copy of the last plugins that loaded. If a policy's plugins do not load when a process
    /// starts, the copy is used. Nil, the default, keeps none.
    public var lastGood: String?
    /// Paths of the deployment's own files, such as the store's: no decisions are written to them.
    package var ownFiles: Set<String> = []
    /// Sees all decisions and calls; nil for no one.
    package var observer: (any DecisionObserver)?
    /// The seed of random numbers, if everything must be repeatable.
    var seed: UInt64?

    /// Creates options; each has a default.
    public init(
        environment: SyncEnvironment = .system,
        timer: @escaping @Sendable (Duration) async throws -> Void = { try await SyncEnvironment.wait(for: $0) },
        logger: Logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() },
        transport: (any Transport)? = nil, store: (any LocalStore)? = nil,
        storage: any PluginStorage = MemoryPluginValues(),
        secret: @escaping @Sendable (String) async throws -> String? = { _ in nil }, dialect: Dialect = .azureV2,
        tables: [TableSchema] = [], filters: [Placed<any RequestFilter>] = [], decisionLogSize: Int = 512,
        decisionLog: DecisionLog? = nil, metrics: (any MetricsFactory)? = nil, keepsInputs: Bool = false,
        drainLimit: Duration = .seconds(30), testsGuards: Bool = false,
        lastGood: String? = nil, gate: (@Sendable (PluginPlan) async throws -> Void)? = nil
    ) {
        self.environment = environment
        self.timer = timer
        self.logger = logger
        self.transport = transport
        self.store = store
        self.storage = storage
        self.secret = secret
        self.dialect = dialect
        self.tables = tables
        self.filters = filters
        self.decisionLogSize = decisionLogSize
        self.decisionLog = decisionLog
        self.metrics = metrics
        self.keepsInputs = keepsInputs
        self.drainLimit = drainLimit
        self.testsGuards = testsGuards
        self.lastGood = lastGood
        self.gate = gate
    }

    var hostSettings: HostSettings {
        let factory = metrics ?? MetricsSystem.factory
        var settings = HostSettings()
        settings.environment = environment
        settings.logger = logger
        settings.decisionLogSize = decisionLogSize
        settings.keepsInputs = keepsInputs
        settings.observer = observer
        // Without a metrics system there is nothing to pay for.
        settings.metrics = factory is NOOPMetricsHandler ? nil : factory
        settings.hasTransport = transport != nil
        settings.hasStore = store != nil
        settings.seed = seed
        settings.testsGuards = testsGuards
        return settings
    }

    var services: HostServices {
        HostServices(
            environment: environment, timer: timer, transport: transport, store: store, storage: storage)
    }
}

/// The file of a policy.
struct PolicySource: Sendable {
    let path: String

    /// Reads the policy and checks the order of its chains, so that an error names its place in the file.
    func policy(_ options: PluginOptions) throws(SluiceError) -> (policy: PluginPolicy, yaml: String) {
        let file = URL(fileURLWithPath: path)
        guard let data = try? Data(contentsOf: file), let yaml = String(data: data, encoding: .utf8) else {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be read, or is not UTF-8")
        }
        let policy = try PluginPolicy(yaml: yaml, file: path, folder: file.deletingLastPathComponent().path)
        let filters = options.filters.map { Placed<PluginPlan?>(nil, placement: $0.placement) }
        try policy.check(beside: [.http: filters])
        try (policy.decisionLog ?? options.decisionLog)?.check(besides: options.ownFiles.union([path]))
        return (policy, yaml)
    }
}
