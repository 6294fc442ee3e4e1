public import CoreMetrics
internal import Foundation
public import Logging
public import SluiceCore

/// What plugins get from the application.
public struct PluginOptions: Sendable {
    /// Clock, pauses and chance.
    public var environment: SyncEnvironment
    /// Waits for the end of a call's time. Throws when the task is cancelled.
    public var timer: @Sendable (Duration) async throws -> Void
    /// Where plugins log, and what is said about them.
    public var logger: Logger
    /// What `http.request` goes through, to hosts that a plugin's permission names; nil for none.
    public var transport: (any Transport)?
    /// What `store` reads; nil for none.
    public var store: (any LocalStore)?
    /// Where `kv` is kept. In memory by default: give ``StoredPluginValues`` to keep it.
    public var storage: any PluginStorage
    /// The value of a secret by its name, asked when plugins are loaded; nil if there is none.
    public var secret: @Sendable (String) async throws -> String?
    /// The wire of the server: which fields of a record are the server's.
    public var dialect: Dialect
    /// Tables whose columns are declared: what plugins make of their records is checked by it.
    public var tables: [TableSchema]
    /// Filters in Swift that stand in one chain with the plugins.
    public var filters: [PlacedFilter]
    /// How many decisions are kept. Default 512.
    public var decisionLogSize: Int
    /// A file into which decisions are written as they are made. A policy's `decisions` take its place. Nil, the
    /// default, writes none.
    public var decisionLog: DecisionLog?
    /// Where what plugins do is counted; nil, the default, for the metrics system that the process has when the plugins
    /// are loaded.
    public var metrics: (any MetricsFactory)?
    /// Whether what hooks were given and answered is kept with their decisions, without credentials. Default no.
    public var keepsInputs: Bool
    /// How long calls of plugins that were replaced may go on. Default 30 s.
    public var drainLimit: Duration
    /// Whether each guard of the sandbox is tried whenever a plugin is loaded. Default no.
    public var testsGuards: Bool
    /// Asked about each plugin before a new set serves, such as whether its fixtures pass: an error keeps the old set.
    public var gate: (@Sendable (PluginPlan) async throws -> Void)?
    /// A file in which the plugins that serve are kept whole: where a policy's plugins do not load when a process
    /// begins, those serve. Nil, the default, keeps none.
    public var lastGood: String?
    /// Paths of files that are the deployment's own, such as the store's: no decisions are written to them.
    package var ownFiles: Set<String> = []
    /// The seed of chance, where everything is to be repeatable.
    var seed: UInt64?

    /// Options; each has a default.
    public init(
        environment: SyncEnvironment = .system,
        timer: @escaping @Sendable (Duration) async throws -> Void = { try await Pause.wait(for: $0) },
        logger: Logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() },
        transport: (any Transport)? = nil, store: (any LocalStore)? = nil,
        storage: any PluginStorage = MemoryPluginValues(),
        secret: @escaping @Sendable (String) async throws -> String? = { _ in nil }, dialect: Dialect = .azureV2,
        tables: [TableSchema] = [], filters: [PlacedFilter] = [], decisionLogSize: Int = 512,
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
        // A process without a metrics system does not pay for one.
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

    /// Reads the policy and checks the order of its chains, so that a contradiction is told with its place in the file.
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
