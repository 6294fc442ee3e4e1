public import SluiceCore
internal import Synchronization

/// The plugins of a deployment, as an application uses them.
///
/// ```swift
/// let plugins = try await Plugins(plans, options: PluginOptions(store: store))
/// let client = SluiceClient(endpoint: endpoint, transport: transport, filters: [plugins.filter])
/// let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))
/// ```
///
/// What it gives to client and context stays: a reload puts other plugins behind it.
public final class Plugins: Sendable {
    private struct State {
        var set: PluginSet
        var isReloading = false
    }
    let host: PluginHost
    private let state: Mutex<State>
    private let options: PluginOptions

    /// Loads plugins.
    ///
    /// - Parameters:
    ///   - plans: the plugins, each with its configuration.
    ///   - known: names that placements may say though there is no such plugin or filter.
    /// - Throws: ``SluiceError`` of code `invalidArgument`, with a ``PluginFailure`` as its cause where a script is the
    ///   reason.
    public init(_ plans: [PluginPlan], known: Set<String> = [], options: PluginOptions = PluginOptions()) async throws {
        host = try PluginHost(options.hostSettings)
        self.options = options
        let set = try await Self.load(plans, known, version: 1, host, options)
        state = Mutex(State(set: set))
        await host.noteReload(version: 1, refused: false)
    }

    /// The filters, plugins and the application's own in their order, as one filter for a client.
    public var filter: any Filter { PluginChain { [self] in current } }

    /// The conflict handlers, as one.
    public var conflictHandler: any ConflictHandler { PluginConflicts { [self] in current } }

    /// What takes part in writes, pushes and pulls, as one hook.
    public var syncHook: any SyncHook { LuaSyncHook { [self] in current } }

    /// What has a say in when to synchronise, as one hook.
    public var scheduleHook: any ScheduleHook { LuaScheduleHook { [self] in current } }

    /// Options with the plugins' conflict handlers and hooks behind those that are there.
    public func added(to options: SyncOptions) -> SyncOptions {
        var options = options
        options.conflictHandlers.append(conflictHandler)
        options.hooks.append(syncHook)
        options.scheduleHooks.append(scheduleHook)
        return options
    }

    /// The decisions that are kept, the oldest first.
    public var decisions: [PluginDecision] { get async { await host.log } }

    /// What the plugins have done and cost.
    public var metrics: PluginMetrics { get async { await host.figures } }

    /// The names of the plugins that serve.
    public var names: [String] { current.callers.map(\.plan.name) }

    /// Puts other plugins in the place of those that serve: all of them, or none if anything is wrong with one. Calls
    /// that are under way end with the plugins they began with, within ``PluginOptions/drainLimit``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the reason; the plugins from before go on.
    public func reload(_ plans: [PluginPlan], known: Set<String> = []) async throws {
        let isFree = state.withLock { state in
            defer { state.isReloading = true }
            return !state.isReloading
        }
        guard isFree else { throw SluiceError(.operationRefused, "plugins are being reloaded already") }
        defer { state.withLock { $0.isReloading = false } }
        let old = current
        let set: PluginSet
        do {
            set = try await Self.load(plans, known, version: old.version + 1, host, options)
        } catch {
            await host.noteReload(version: old.version, refused: true)
            throw error
        }
        state.withLock { $0.set = set }
        await host.noteReload(version: set.version, refused: false)
        await drain(old)
    }

    var current: PluginSet { state.withLock { $0.set } }

    /// Lets go of a set: at once where nothing is under way, else when it has ended, or at the limit.
    private func drain(_ old: PluginSet) async {
        let ids = old.callers.map(\.id)
        await host.retire(ids)
        guard await host.isBusy(ids) else { return }
        let (host, sleep, limit) = (host, options.environment.sleep, options.drainLimit)
        Task {
            try? await sleep(limit)
            await host.abandon(ids)
        }
    }

    private static func load(
        _ plans: [PluginPlan], _ known: Set<String>, version: Int, _ host: PluginHost, _ options: PluginOptions
    ) async throws -> PluginSet {
        var callers: [PluginCaller] = []
        do {
            for plan in plans where plan.mode != .off {
                try await options.gate?(plan)
                callers.append(try await load(plan, host, options))
            }
            let names = Set(plans.map(\.name))
            return try PluginSet(version: version, callers, known: known.union(names), options)
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
    /// - Throws: ``PluginFailure``, and what the sources of secrets and values throw.
    static func load(
        _ plan: PluginPlan, _ host: PluginHost, _ options: PluginOptions
    ) async throws -> PluginCaller {
        var values: [String: String] = [:]
        for name in plan.secrets.sorted() { values[name] = try await options.secret(name) }
        let secrets = SecretBook(values)
        var saved: [String: JSON] = [:]
        if plan.manifest.permissions.kvBytes > 0, await !host.knowsValues(of: plan.name) {
            saved = try await options.storage.values(of: plan.name)
        }
        let id = try await host.load(plan, saved: saved, secrets: secrets)
        return PluginCaller(host: host, services: options.services, id: id, plan: plan, secrets: secrets)
    }
}
