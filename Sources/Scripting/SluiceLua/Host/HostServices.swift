package import CoreMetrics
internal import HTTPTypes
package import Logging
package import SluiceCore

/// Carries out the waits of scripts, off the plugins' thread.
package struct HostServices: Sendable {
    var environment: SyncEnvironment
    /// Waits for the end of a call's time.
    var timer: @Sendable (Duration) async throws -> Void
    /// The transport of `http`; nil for none. Like any transport it follows no redirects.
    var transport: (any Transport)?
    /// The store of `store`; nil for none.
    var store: (any LocalStore)?
    /// The storage of `kv`.
    var storage: any PluginStorage

    package init(
        environment: SyncEnvironment, timer: @escaping @Sendable (Duration) async throws -> Void,
        transport: (any Transport)? = nil, store: (any LocalStore)? = nil, storage: any PluginStorage
    ) {
        self.environment = environment
        self.timer = timer
        self.transport = transport
        self.store = store
        self.storage = storage
    }

    /// Carries out a wait within a time; nil for no limit.
    package func perform(_ wait: HostWait, within time: Duration?) async -> WaitResult {
        guard let time else { return await perform(wait) }
        guard time > .zero else { return .ended(.deadline) }
        if case .sleep(let pause) = wait, pause > time { return .ended(.deadline) }
        let timer = timer
        return await withTaskGroup(of: WaitResult?.self) { group in
            group.addTask { await perform(wait) }
            group.addTask {
                do {
                    try await timer(time)
                    return .ended(.deadline)
                } catch {
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let result = await group.next() { if let result { return result } }
            return .ended(.cancelled)
        }
    }

    private func perform(_ wait: HostWait) async -> WaitResult {
        do {
            switch wait {
            case .sleep(let pause):
                try await environment.sleep(pause)
                return .reply(.value(nil))
            case .http(let request):
                guard let transport else { return .reply(.failure("the host has given plugins no transport")) }
                return .reply(HostFunctions.document(of: try await transport.send(request)))
            case .record(let table, let id):
                guard let store else { return .reply(.failure("the host has given plugins no store")) }
                return .reply(.value(try await store.read { try $0.record(id, in: table) }))
            case .count(let query):
                guard let store else { return .reply(.failure("the host has given plugins no store")) }
                return .reply(.value(JSON(try await store.read { try $0.count(matching: query) })))
            case .table: return .reply(.failure("there is no table's server here"))
            case .next: return .reply(.failure("next can be used in the hook filter only"))
            }
        } catch {
            if Task.isCancelled || error is CancellationError { return .ended(.cancelled) }
            return .reply(.failure((error as? SluiceError).map { "\($0.code): \($0.message)" } ?? "\(error)"))
        }
    }
}

/// Sees the decisions of all plugins, unremarkable ones included.
package protocol DecisionObserver: Sendable {
    /// Takes a decision with the hash of its answer.
    func decided(_ decision: PluginDecision)

    /// Takes calls that make no decision of their own: pulled rows that a plugin leaves as they are, and calls that were
    /// refused before they began.
    func counted(_ calls: Int, errors: Int, of plan: PluginPlan)
}

/// The settings and surroundings of a host.
package struct HostSettings: Sendable {
    /// The clock and the source of random numbers.
    package var environment: SyncEnvironment = .system
    /// The logger of plugins and of the host.
    package var logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() }
    /// The number of decisions kept in memory.
    package var decisionLogSize = 512
    /// Whether the inputs and answers of hooks are kept with their decisions.
    package var keepsInputs = false
    /// Sees all decisions and calls; nil for no one.
    package var observer: (any DecisionObserver)?
    /// The factory of the plugins' metrics; nil for none.
    package var metrics: (any MetricsFactory)?
    /// Whether the host has a transport for `http`.
    package var hasTransport = false
    /// Whether the host has a store for `store`.
    package var hasStore = false
    /// The seed of random numbers, for a host that must be repeatable; nil for the system's.
    package var seed: UInt64?
    /// Whether the guards of each new machine are tested.
    package var testsGuards = false

    package init() {}
}

/// The answer of a host function to a script.
package enum HostReply: Sendable {
    /// A value; nil for nothing.
    case value(JSON?)
    /// An error that the script may catch.
    case failure(String)
    /// An error because a permission is missing.
    case denied(String)
    /// The script has to wait.
    case wait(HostWait)
}

/// A reason to wait. The caller carries it out, off the plugins' thread, and resumes the script with the result.
package enum HostWait: Sendable {
    /// The rest of the chain.
    case next(SyncRequest)
    /// An exchange with a server that the plugin may talk to.
    case http(SyncRequest)
    /// A pause.
    case sleep(Duration)
    /// A record of the local store.
    case record(table: String, id: RecordID)
    /// The number of matching records in the local store.
    case count(TableQuery)
    /// A request to a server's table, carried out by the server.
    case table(TableRequestEdit)
}
