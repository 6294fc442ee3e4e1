internal import Foundation
internal import Logging
public import SluiceCore
internal import Synchronization

/// The plugins of a deployment, as an application uses them.
///
/// ```swift
/// let plugins = try await Plugins(policy: "policy.yaml", options: PluginOptions(store: store))
/// let client = SluiceClient(endpoint: endpoint, transport: transport, filters: [plugins.filter])
/// let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))
/// ```
///
/// What it gives to client and context stays: a reload puts other plugins behind it.
public final class Plugins: Sendable {
    /// A set that was replaced while something of it was under way.
    private struct Leaving {
        var underWay: Int
        /// Ends the rest of it, in time.
        var limit: Task<Void, Never>?
    }

    private struct State {
        var set: PluginSet
        /// How much of it is under way.
        var underWay = 0
        /// The sets before it, by their versions.
        var leaving: [Int: Leaving] = [:]
        var refusal: SluiceError?
        var isReloading = false
    }
    let host: PluginHost
    private let state: Mutex<State>
    /// What a plugin has said of records on their way from the first of ``syncHooks`` to the second.
    let localRecords = LocalRecords()
    private let options: PluginOptions
    /// What ``reload()`` reads.
    private let source: PolicySource?

    /// Loads the plugins of a deployment's policy. Where that fails and ``PluginOptions/lastGood`` has plugins that
    /// served before, those serve, and ``refusal`` has the reason.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place; with a ``PluginFailure``
    ///   as its cause where a script is the reason.
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
    /// - Parameter plans: the plugins, each with its configuration; those that are off too, which others may name.
    /// - Throws: ``SluiceError`` of code `invalidArgument`, with a ``PluginFailure`` as its cause where a script is the
    ///   reason.
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

    /// The filters, plugins and the application's own in their order, as one filter for a client.
    public var filter: any Filter { ServedFilter(plugins: self) }

    /// The conflict handlers, as one.
    public var conflictHandler: any ConflictHandler { ServedConflictHandler(plugins: self) }

    /// What takes part in writes, pushes and pulls, as hooks that belong after each other.
    public var syncHooks: [any SyncHook] { [syncHook, ServedLocalOnlyHook(plugins: self)] }

    /// The first of them, which asks the plugins.
    var syncHook: any SyncHook { ServedSyncHook(plugins: self) }

    /// What has a say in when to synchronise, as one hook.
    public var scheduleHook: any ScheduleHook { ServedScheduleHook(plugins: self) }

    /// Options with the plugins' conflict handlers and hooks after those that are there.
    public func added(to options: SyncOptions) -> SyncOptions {
        var options = options
        options.conflictHandlers.append(conflictHandler)
        options.hooks += syncHooks
        options.scheduleHooks.append(scheduleHook)
        return options
    }

    /// The decisions that are kept, the oldest first.
    public var decisions: [PluginDecision] { get async { await host.log } }

    /// What the plugins have done and cost.
    public var metrics: PluginMetrics { get async { await host.figures } }

    /// The names of the plugins that serve.
    public var names: [String] { current.callers.map(\.plan.name) }
    /// The plugins that serve, each with what the deployment makes of it.
    public var plans: [PluginPlan] { current.callers.map(\.plan) }

    /// Reads the policy's file anew, and puts its plugins in the place of those that serve: see ``reload(_:)``.
    ///
    /// - Throws: as ``init(policy:options:)`` and ``reload(_:)``; also of code `invalidArgument` where there is no
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

    /// Puts other plugins in the place of those that serve: all of them, or none if anything is wrong with one. Calls
    /// that are under way end with the plugins they began with, within ``PluginOptions/drainLimit``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the reason; the plugins from before go on.
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

    /// Why the newest plugins that were to serve do not; nil if they do.
    public var refusal: SluiceError? { state.withLock { $0.refusal } }

    private func refused(_ error: any Error) async {
        let refusal =
            error as? SluiceError ?? SluiceError(.invalidArgument, "the plugins do not load", cause: error)
        state.withLock { $0.refusal = refusal }
        options.logger.error("the plugins do not load, those from before go on: \(refusal)")
        await host.noteReload(version: current.version, refused: true)
    }

    /// Keeps what serves. That it cannot be kept is no reason not to serve.
    private func keep(_ policy: PluginPolicy, _ yaml: String) {
        guard let path = options.lastGood, let source else { return }
        do {
            try LastGoodPlugins(path: path).keep(policy, yaml: yaml, file: source.path)
        } catch {
            options.logger.error("the plugins that serve could not be kept in \(path): \(error)")
        }
    }

    var current: PluginSet { state.withLock { $0.set } }

    /// Has the plugins that serve do something, all of it: a set from before stays until what began with it has ended.
    ///
    /// Every request passes here: inlined, so that it knows its types.
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

    /// Lets go of a set: at once where nothing is under way, else when that has ended, or at the limit.
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

    /// Makes one plugin ready.
    ///
    /// - Parameter others: the values of other plugins' secrets.
    /// - Throws: ``PluginFailure``, and what the sources of secrets and values throw.
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

/// The plugins that served last, whole, in one file: what a process begins with where the policy's do not load.
struct LastGoodPlugins: Sendable {
    let path: String

    /// The policy that was kept; nil if there is none, or none that can be read.
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

    /// Keeps a policy that serves, with its bundles. The file is there whole or not at all.
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
