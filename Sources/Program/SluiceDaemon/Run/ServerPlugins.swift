public import Logging
internal import Sluice
public import SluiceBackend
internal import SluiceCore
internal import SluiceLua

/// The plugins in Lua that a backend's configuration names, as hooks of its tables.
///
/// ```swift
/// var configuration = try BackendConfiguration(file: "backend.yaml")
/// let hooks = try await ServerPlugins.hooks(of: &configuration)
/// let backend = try await Backend(configuration, hooks: hooks)
/// ```
public enum ServerPlugins {
    /// Loads the plugins and removes them from the configuration, as ``Backend`` requires. Their stored values (`kv`)
    /// last as long as the process.
    ///
    /// - Returns: hooks by table; empty if the configuration names no plugins.
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place of a mistake in the
    ///   policy, a plugin or a secret, or a plugin without any of the tables.
    public static func hooks(
        of configuration: inout BackendConfiguration, logger: Logger = Logger(label: "sluice.plugins")
    ) async throws -> [String: any TableHooks] {
        guard let named = configuration.plugins else { return [:] }
        let folder = named.secrets.map { SecretFolder(path: $0) }
        let plugins = try await Plugins(
            policy: named.policy,
            options: PluginOptions(
                logger: logger, transport: AsyncHTTPTransport(), secret: { try folder?.secret($0) }))
        let hooks = try Self.hooks(plugins, for: configuration.tables.map(\.name), logger)
        configuration.plugins = nil
        return hooks
    }

    /// Returns the plugins as hooks of the given tables.
    static func hooks(
        _ plugins: Plugins, for tables: [String], _ logger: Logger
    ) throws -> [String: any TableHooks] {
        for name in plugins.idle(onTables: tables) {
            throw SluiceError(
                .invalidArgument, "the plugin \(name) has hooks for a server's tables, and is for none of those here")
        }
        return Dictionary(
            uniqueKeysWithValues: tables.filter(plugins.isAround).map { ($0, PluginTableHooks(plugins, logger)) })
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

/// The permissions that a reload granted and revoked, so that an operator sees the demands of a changed bundle.
enum PermissionChanges {
    /// Returns a line for each plugin with changed permissions.
    static func lines(from old: Serving, to new: Serving) -> [String] {
        new.installations.flatMap { installation in
            let place = installation.name.isEmpty ? "" : "\(installation.name): "
            return lines(
                from: permissions(old.installation(installation.name)), to: permissions(installation)
            ).map { place + $0 }
        }
    }

    private static func permissions(_ installation: Installation?) -> [String: Set<String>] {
        let plans = installation?.session.plugins?.plans ?? []
        return Dictionary(plans.map { ($0.name, $0.permissions.words) }, uniquingKeysWith: { $1 })
    }

    private static func lines(from old: [String: Set<String>], to new: [String: Set<String>]) -> [String] {
        new.sorted { $0.key < $1.key }.compactMap { name, words in
            let (more, less) = (words.subtracting(old[name] ?? []), (old[name] ?? []).subtracting(words))
            let parts = [("may now", more), ("may no longer", less)].compactMap { word, permissions in
                permissions.isEmpty ? nil : "\(word) \(permissions.sorted().joined(separator: ", "))"
            }
            return parts.isEmpty ? nil : "plugin \(name) \(parts.joined(separator: "; "))"
        }
    }
}
