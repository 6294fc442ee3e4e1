internal import Foundation
internal import Logging
public import SluiceCore
internal import Synchronization

/// The plugins of a deployment, for use by an application.
///
/// ```swift
/// let plugins = try await Plugins(policy: "policy.yaml", options: PluginOptions(store: store))
/// let client = SluiceClient(endpoint: endpoint, transport: transport, filters: [plugins.filter])
/// let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))
/// ```
///
/// Clients and contexts keep its filter and hooks: after a reload these call the new plugins.
public final class Plugins: Sendable {
    /// A replaced set that still has calls under way.
    private struct Leaving {
        var underWay: Int
        /// Ends the remaining calls at the time limit.
        var limit: Task<Void, Never>?
    }

    private struct State {
        var set: PluginSet
        /// The number of calls of the set under way.
        var underWay = 0
        /// Earlier sets, by their versions.
        var leaving: [Int: Leaving] = [:]
        var refusal: SluiceError?
        var isReloading = false
    }
    let host: PluginHost
    private let state: Mutex<State>
    private let options: PluginOptions
    /// The policy that ``reload()`` reads.
    private let source: PolicySource?

    /// Loads the plugins of a deployment's policy. If that fails and ``PluginOptions/lastGood`` has earlier plugins,
    /// those serve, and ``refusal`` holds the reason.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place; its cause is a
    ///   ``PluginFailure`` if a script failed.
    public convenience init(policy path: String, options: PluginOptions = PluginOptions()) async throws {
        let source = PolicySource(path: path)
        do {
            let (policy, yaml) = try source.policy(options)
            try await self.init(policy.plans, source, options, policy.decisionLog)
            keep(policy, yaml)
        } catch let error as SluiceError {
            guard let policy = options.lastGood.flatMap({ LastGoodPlugins(path: $0).policy() }) else { throw error }
            options.logger.error("the plugins of \(path) do not load, those that served last do: \(error)")
            try await self.init(policy.plans, source, options, policy.decisionLog, refusal: error)
        }
    }

    /// Loads plugins.
    ///
    /// - Parameters:
    ///   - plans: the plugins with their configurations; disabled ones too, because others may name them.
    ///   - options: clock, limits and files of the process.
    /// - Throws: ``SluiceError`` of code `invalidArgument`; its cause is a ``PluginFailure`` if a script failed.
    public convenience init(_ plans: [PluginPlan], options: PluginOptions = PluginOptions()) async throws {
        try options.decisionLog?.check(besides: options.ownFiles)
        try await self.init(plans, nil, options)
    }

    private init(
        _ plans: [PluginPlan], _ source: PolicySource?, _ options: PluginOptions, _ log: DecisionLog? = nil,
        refusal: SluiceError? = nil
    ) async throws {
        host = try PluginHost(options.hostSettings)
        self.options = options
        self.source = source
        await host.write(to: log ?? options.decisionLog)
        let set = try await Self.load(plans, version: 1, host, options)
        state = Mutex(State(set: set, refusal: refusal))
        await host.noteReload(version: 1, refused: false)
    }

    /// The plugins and the application's own filters in their order, as one filter for a client.
    public var filter: any RequestFilter { ServedFilter(plugins: self) }

    /// The conflict handlers of all plugins, as one.
    public var conflictHandler: any ConflictHandler { ServedConflictHandler(plugins: self) }

    /// The hooks of all plugins for writes, pushes and pulls, as one.
    public var syncHook: any SyncHook { ServedSyncHook(plugins: self) }

    /// The `on_schedule` hooks of all plugins, as one.
    public var scheduleHook: any ScheduleHook { ServedScheduleHook(plugins: self) }

    /// Returns the options with the plugins' conflict handlers and hooks appended.
    public func added(to options: SyncOptions) -> SyncOptions {
        var options = options
        options.conflictHandlers.append(conflictHandler)
        options.hooks.append(syncHook)
        options.scheduleHooks.append(scheduleHook)
        return options
    }

    /// The decisions kept in memory, the oldest first.
    public var decisions: [PluginDecision] { get async { await host.log } }

    /// The counts and costs of all plugins.
    public var metrics: PluginMetrics { get async { await host.figures } }

    /// The names of the serving plugins.
    public var names: [String] { current.callers.map(\.plan.name) }
    /// The serving plugins with the deployment's settings.
    public var plans: [PluginPlan] { current.callers.map(\.plan) }

    /// Reads the policy's file again, and replaces the serving plugins: see ``reload(_:)``.
    ///
    /// - Throws: the errors of ``init(policy:options:)`` and ``reload(_:)``; code `invalidArgument` if there is no
    ///   file.
    public func reload() async throws {
        guard let source else { throw SluiceError(.invalidArgument, "these plugins were made without a policy's file") }
        let (policy, yaml): (PluginPolicy, String)
        do {
            (policy, yaml) = try source.policy(options)
        } catch {
            await refused(error)
            throw error
        }
        try await reload(policy.plans)
        await host.write(to: policy.decisionLog ?? options.decisionLog)
        keep(policy, yaml)
    }

    /// Replaces the serving plugins: all of them, or none if one has an error. Calls under way end with the plugins
    /// that they began with, within ``PluginOptions/drainLimit``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the reason; the old plugins continue to serve.
    public func reload(_ plans: [PluginPlan]) async throws {
        let isFree = state.withLock { state in
            defer { state.isReloading = true }
            return !state.isReloading
        }
        guard isFree else { throw SluiceError(.operationRefused, "plugins are being reloaded already") }
        defer { state.withLock { $0.isReloading = false } }
        let old = current
        let set: PluginSet
        do {
            set = try await Self.load(plans, version: old.version + 1, host, options)
        } catch {
            await refused(error)
            throw error
        }
        state.withLock { state in
            if state.underWay > 0 { state.leaving[old.version] = Leaving(underWay: state.underWay) }
            (state.set, state.underWay, state.refusal) = (set, 0, nil)
        }
        await host.noteReload(version: set.version, refused: false)
        await drain(old)
    }

    /// The reason why the last reload or load was refused; nil if it succeeded.
    public var refusal: SluiceError? { state.withLock { $0.refusal } }

    private func refused(_ error: any Error) async {
        let refusal =
            error as? SluiceError ?? SluiceError(.invalidArgument, "the plugins do not load", cause: error)
        state.withLock { $0.refusal = refusal }
        options.logger.error("the plugins do not load, those from before go on: \(refusal)")
        await host.noteReload(version: current.version, refused: true)
    }

    /// Saves the serving plugins. A failure is logged, and the plugins serve anyway.
    private func keep(_ policy: PluginPolicy, _ yaml: String) {
        guard let path = options.lastGood, let source else { return }
        do {
            try LastGoodPlugins(path: path).keep(policy, yaml: yaml, file: source.path)
        } catch {
            options.logger.error("the plugins that serve could not be kept in \(path): \(error)")
        }
    }

    var current: PluginSet { state.withLock { $0.set } }

    /// Runs `body` with the serving plugins. A replaced set stays until every run that began with it has ended.
    ///
    /// Every request calls it: inlining lets the compiler specialize it.
    @inline(__always)
    func serving<Result, Failure>(
        _ body: (PluginSet) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let set = state.withLock { state in
            state.underWay += 1
            return state.set
        }
        let result: Result
        do {
            result = try await body(set)
        } catch {
            await left(set)
            throw error
        }
        await left(set)
        return result
    }

    private func left(_ set: PluginSet) async {
        let isLast = state.withLock { state in
            if state.set.version == set.version {
                state.underWay -= 1
                return false
            }
            state.leaving[set.version]?.underWay -= 1
            guard let leaving = state.leaving[set.version], leaving.underWay == 0 else { return false }
            leaving.limit?.cancel()
            state.leaving[set.version] = nil
            return true
        }
        if isLast { await host.retire(set.callers.map(\.id)) }
    }

    /// Releases a set: at once if it has no calls under way, else after the last one, or at the time limit.
    private func drain(_ old: PluginSet) async {
        let ids = old.callers.map(\.id)
        let (host, sleep, limit) = (host, options.environment.sleep, options.drainLimit)
        let isIdle = state.withLock { state in
            guard state.leaving[old.version] != nil else { return true }
            state.leaving[old.version]?.limit = Task {
                guard (try? await sleep(limit)) != nil else { return }
                await host.retire(ids)
                await host.abandon(ids)
            }
            return false
        }
        if isIdle { await host.retire(ids) }
    }

    private static func load(
        _ plans: [PluginPlan], version: Int, _ host: PluginHost, _ options: PluginOptions
    ) async throws -> PluginSet {
        var callers: [PluginCaller] = []
        do {
            var secrets: Set<String> = []
            for plan in plans where plan.mode != .off {
                for name in plan.secrets.sorted() {
                    if let value = try await options.secret(name) { secrets.insert(value) }
                }
            }
            for plan in plans where plan.mode != .off {
                try await options.gate?(plan)
                callers.append(try await load(plan, host, options, besides: secrets.sorted()))
            }
            return try PluginSet(version: version, callers, known: Set(plans.map(\.name)), options)
        } catch {
            await host.retire(callers.map(\.id))
            if let failure = error as? PluginFailure {
                throw SluiceError(.invalidArgument, "plugin \(failure)", cause: failure)
            }
            throw error
        }
    }

    /// Loads one plugin.
    ///
    /// - Parameter others: the values of other plugins' secrets.
    /// - Throws: ``PluginFailure``, and the errors of the sources of secrets and values.
    static func load(
        _ plan: PluginPlan, _ host: PluginHost, _ options: PluginOptions, besides others: [String] = []
    ) async throws -> PluginCaller {
        var values: [String: String] = [:]
        for name in plan.secrets.sorted() { values[name] = try await options.secret(name) }
        let secrets = SecretBook(values, others: others)
        var saved: [String: JSON] = [:]
        if plan.manifest.permissions.kvBytes > 0, await !host.knowsValues(of: plan.name) {
            saved = try await options.storage.values(of: plan.name)
        }
        let id = try await host.load(plan, saved: saved, secrets: secrets)
        return PluginCaller(host: host, services: options.services, id: id, plan: plan, secrets: secrets)
    }
}

/// The last plugins that loaded, complete in one file. A process starts with them if the policy's do not load.
struct LastGoodPlugins: Sendable {
    let path: String

    /// Returns the saved policy; nil if there is none, or it cannot be read.
    func policy() -> PluginPolicy? {
        guard let data = FileManager.default.contents(atPath: path), let json = try? JSON(parsing: Array(data)),
            let yaml = json["yaml"]?.string, let file = json["file"]?.string
        else { return nil }
        var bundles: [String: PluginBundle] = [:]
        for (name, saved) in json["bundles"]?.members ?? [] {
            let files = (saved["files"]?.members ?? []).map { ($0.name.text, Array(($0.value.string ?? "").utf8)) }
            bundles[name.text] = try? PluginBundle(
                files: Dictionary(files, uniquingKeysWith: { $1 }), location: saved["location"]?.string ?? name.text)
        }
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        return try? PluginPolicy(yaml: yaml, file: file, folder: folder, bundles: bundles)
    }

    /// Saves a serving policy with its bundles. The file is written completely or not at all.
    func keep(_ policy: PluginPolicy, yaml: String, file: String) throws {
        let bundles = policy.plans.map { plan -> (String, JSON) in
            let files = plan.bundle.files.sorted { $0.key < $1.key }.map {
                ($0.key, JSON(String(decoding: $0.value, as: UTF8.self)))
            }
            return (plan.name, ["location": JSON(plan.bundle.location), "files": JSON(members: files)])
        }
        let json: JSON = ["file": JSON(file), "yaml": JSON(yaml), "bundles": JSON(members: bundles)]
        let data = Data(json.bytes())
        if FileManager.default.contents(atPath: path) == data { return }
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
