public import CoreMetrics
public import Logging
internal import Sluice
public import SluiceBackend
internal import SluiceCore
internal import SluiceLua

/// The plugins in Lua that a backend's configuration names, as hooks of its tables.
///
/// ```swift
/// var configuration = try BackendConfiguration(file: "backend.yaml")
/// let plugins = try await ServerPlugins(of: &configuration)
/// let backend = try await Backend(configuration, hooks: plugins.hooks)
/// async let reloads: Void = plugins.follow()
/// ```
public struct ServerPlugins: Sendable {
    /// The pause between two looks at the policy's files.
    private static let look = Duration.milliseconds(250)

    /// The hooks by table; empty if the configuration names no plugins.
    public let hooks: [String: any TableHooks]
    private let plugins: Plugins?
    private let policy: String?
    private let releases: ServerReleases?
    private let tables: [String]
    private let logger: Logger

    /// Loads the plugins and removes them from the configuration, as ``Backend`` requires. Their stored values (`kv`)
    /// last as long as the process.
    ///
    /// - Parameter metrics: the factory of the plugins' and the releases' metrics; nil for the process's metrics system.
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place of a mistake in the
    ///   policy, a plugin or a secret, or a plugin without any of the tables.
    public init(
        of configuration: inout BackendConfiguration, logger: Logger = Logger(label: "sluice.plugins"),
        metrics: (any MetricsFactory)? = nil
    ) async throws {
        (tables, self.logger) = (configuration.tables.map(\.name), logger)
        guard let named = configuration.plugins else {
            (hooks, plugins, policy, releases) = ([:], nil, nil, nil)
            return
        }
        let folder = named.secrets.map { SecretFolder(path: $0) }
        let releases = try named.releases.map {
            try ServerReleases($0, beside: named, logger, metrics ?? MetricsSystem.factory)
        }
        let options = PluginOptions(
            logger: logger, transport: releases?.transport ?? AsyncHTTPTransport(), secret: { try folder?.secret($0) },
            metrics: metrics)
        let plugins =
            if let releases { try await releases.plugins(options) } else {
                try await Plugins(policy: named.policy ?? "", options: options)
            }
        (self.plugins, policy, self.releases) = (plugins, named.policy, releases)
        // A release may come with hooks around any table.
        hooks = try Self.hooks(plugins, for: tables, logger, areAll: releases != nil)
        configuration.plugins = nil
    }

    /// Reloads the plugins within a second of each change of their files, until the task is cancelled. Requests under way
    /// end with the plugins that they began with. A policy with a mistake, or one with plugins around other tables, is
    /// logged, and the plugins from before serve. With releases those are followed instead.
    public func follow() async {
        guard let plugins else { return }
        if let releases { return await releases.follow(plugins) }
        guard let policy else { return }
        var loaded = PolicyFiles.fingerprint(PolicyFiles.of(policy: policy))
        var seen = loaded
        while (try? await Task.sleep(for: Self.look)) != nil {
            let now = PolicyFiles.fingerprint(PolicyFiles.of(policy: policy))
            // Files that are still being written are read once they rest.
            if now == seen, now != loaded {
                loaded = now
                await reload(plugins, policy)
            }
            seen = now
        }
    }

    private func reload(_ plugins: Plugins, _ policy: String) async {
        let before = plugins.plans
        do {
            let plans = try PluginPolicy(file: policy).plans
            let around = Set(tables.filter { table in plans.contains { $0.isAround(table: table) } })
            guard around.isSubset(of: hooks.keys) else {
                let more = around.subtracting(hooks.keys).sorted().joined(separator: ", ")
                throw SluiceError(.invalidArgument, "\(policy): hooks around \(more) take effect with a restart only")
            }
            try await plugins.reload()
            logger.notice("the plugins were loaded again")
            for line in PermissionChanges.lines(from: before, to: plugins.plans) { logger.notice("\(line)") }
        } catch {
            logger.error("the plugins were not loaded again, those from before serve: \(CommandText.reason(error))")
        }
    }

    /// Returns the plugins as hooks of the given tables.
    ///
    /// - Parameter areAll: whether tables without a hook now have one too, because a later set of plugins may be around
    ///   them.
    static func hooks(
        _ plugins: Plugins, for tables: [String], _ logger: Logger, areAll: Bool = false
    ) throws -> [String: any TableHooks] {
        for name in plugins.idle(onTables: tables) where !areAll {
            throw SluiceError(
                .invalidArgument, "the plugin \(name) has hooks for a server's tables, and is for none of those here")
        }
        let around = areAll ? tables : tables.filter(plugins.isAround)
        return Dictionary(uniqueKeysWithValues: around.map { ($0, PluginTableHooks(plugins, logger)) })
    }
}

/// Plugins in Lua as a table's hooks: the shared ones of all requests, from which each request gets its own.
final class PluginTableHooks: TableHooks {
    private let plugins: Plugins
    private let logger: Logger
    private let call: TableCall

    init(_ plugins: Plugins, _ logger: Logger) {
        self.plugins = plugins
        self.logger = logger
        call = TableCall(plugins)
    }

    func forRequest() -> any TableHooks { PluginTableHooks(plugins, logger) }

    func before(_ request: inout HookRequest) async throws {
        var question = TableQuestion(table: request.table, request.operation, request.principal)
        if request.operation == .read, request.recordID != nil { question.kind = .lookup }
        question.recordID = request.recordID
        question.query = request.query
        question.stored = request.stored
        question.replaces = request.replaces
        question.record = request.record
        question.filter = request.filter
        try await asking { try await call.before(&question) }
        request.record = question.record
        request.filter = question.filter
    }

    func after(_ answer: inout SluiceBackend.HookAnswer) async throws {
        var question = TableQuestion(table: answer.table, answer.operation, answer.principal)
        // `before` was not called for a conflict's record or a repeated change: the question is made here.
        question.recordID = answer.record?["id"]?.textID
        switch answer.operation {
        case .read: question.kind = .lookup
        case .insert, .update: (question.record, question.isRepeated) = (answer.record, true)
        case .delete, .undelete: question.isRepeated = true
        }
        let records = answer.records
        answer.records = try await asking { [question] in try await call.after(records, question) }
    }

    func conflict(_ conflict: HookConflict) async throws -> JSON? {
        let isDeleted = conflict.server["deleted"]?.bool == true
        let client = conflict.replaces || conflict.operation == .insert ? conflict.client : conflict.wholeClient
        let operation = TableOperation(
            id: "", sequence: 0, table: conflict.table, recordID: conflict.recordID,
            kind: conflict.operation == .insert ? .insert : .update, createdAt: SyncEnvironment.system.now())
        let question = Conflict(
            operation: operation, client: client, server: conflict.server, base: nil, maybeApplied: false,
            status: conflict.status, isDeletedOnServer: isDeleted)
        let decision = try await asking { try await call.decide(question) }
        switch decision {
        case .merge(let record), .replace(let record): return record
        case .client: return client
        // A deleted record is no answer to a write: the client gets a conflict.
        case .server, .discard: return isDeleted ? nil : conflict.server
        case .next, .ask, .defer, .delete, .abort: return nil
        }
    }

    /// Reports failures to the log only, never to a client.
    private func asking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusal as TableRefusal {
            throw HookRefusal(refusal.status, refusal.message)
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.error("a request is answered with 500: \(error)")
            throw error
        }
    }
}

extension TableQuestion {
    fileprivate init(table: String, _ operation: BackendOperation, _ principal: Principal?) {
        self.init(table: table, kind: SyncRequest.Context.Action(rawValue: operation.rawValue) ?? .read)
        user = principal?.user
        claims = principal?.claims
    }
}

extension HookConflict {
    /// The server's record with the request's changes.
    fileprivate var wholeClient: JSON {
        var whole = server
        for (name, value) in client.members ?? [] { whole[name] = value }
        return whole
    }
}
