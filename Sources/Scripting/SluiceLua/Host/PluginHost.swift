internal import Foundation
internal import Logging
package import SluiceCore

/// The owner of the plugins' machines, which runs them on a thread of its own.
///
/// Each method runs from beginning to end without a suspension, so that no script sees another one half done. The
/// caller carries out a script's waits: see ``PluginCaller``.
package actor PluginHost {
    nonisolated let thread: PluginThread
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let settings: HostSettings
    package var instances: [PluginInstance.ID: PluginInstance] = [:]
    var calls: [UInt64: PluginInstance.ID] = [:]
    var metrics = PluginMetrics()
    private var values: [String: KeyValueBox] = [:]
    private var decisions: DecisionRing
    private var writer: DecisionWriter?
    private var lastInstance = 0
    private var lastCall: UInt64 = 0

    /// Creates a host without plugins.
    ///
    /// - Throws: ``SluiceError`` of code `limitReached` if the system provides no thread.
    package init(_ settings: HostSettings) throws(SluiceError) {
        self.settings = settings
        decisions = DecisionRing(capacity: settings.decisionLogSize)
        thread = try PluginThread()
    }

    deinit { thread.stop() }

    var now: Timestamp { settings.environment.now() }
    /// The time now by the steady clock.
    var steady: Timestamp { settings.environment.steady() }

    /// The decisions kept in memory, the oldest first.
    package var log: [PluginDecision] { decisions.all }

    /// The metrics of all plugins, with their current memory and circuit breakers.
    var figures: PluginMetrics {
        var figures = metrics
        figures.callsUnderWay = calls.count
        figures.lostDecisions += writer?.lost ?? 0
        for instance in instances.values { add(instance, to: &figures) }
        for instance in instances.values where !instance.isRetired {
            figures.memory[instance.plan.name] = instance.vm.memory
            for (kind, breaker) in instance.breakers {
                figures.hooks[instance.plan.name]?[kind.rawValue]?.isBreakerOpen = breaker.isOpen(at: steady)
            }
        }
        return figures
    }

    func nextCall() -> UInt64 {
        lastCall += 1
        return lastCall
    }

    /// Writes decisions to a file from now on; nil for none.
    func write(to log: DecisionLog?) {
        guard log != writer?.log else { return }
        metrics.lostDecisions += writer?.lost ?? 0
        writer = log.map { DecisionWriter($0, settings.logger) }
    }

    /// Whether the inputs and answers of hooks are kept anywhere.
    var keepsInputs: Bool { settings.keepsInputs || writer?.log.hasInputs == true }

    func record(_ decision: PluginDecision, hiding redact: Redactor) {
        var decision = decision
        decision.sequence = decisions.next
        writer?.write(decision, hiding: redact)
        if !settings.keepsInputs { (decision.input, decision.answer) = (nil, nil) }
        decisions.append(decision)
    }

    /// Whether the plugin's values are in memory already.
    func knowsValues(of plugin: String) -> Bool { values[plugin] != nil }

    /// Prepares a plugin: its machine, `main`, `init`. It serves from the first call.
    ///
    /// - Parameter saved: the plugin's values, if the host does not have them.
    /// - Throws: ``PluginFailure``.
    package func load(
        _ plan: PluginPlan, saved: [String: JSON], secrets: SecretBook
    ) throws(PluginFailure) -> PluginInstance.ID {
        let box = values[plan.name] ?? KeyValueBox(saved)
        values[plan.name] = box
        lastInstance += 1
        let id = PluginInstance.ID(number: lastInstance)
        do throws(ScriptFailure) {
            instances[id] = try PluginInstance(id: id, plan, values: box, secrets: secrets, settings)
        } catch {
            throw PluginFailure(plugin: plan.name, hook: "load", error)
        }
        do throws(PluginFailure) {
            try initialize(id)
        } catch {
            instances[id] = nil
            throw error
        }
        return id
    }

    /// Retires plugins. Each is released at once if it has no call under way, else after its last one.
    func retire(_ ids: some Sequence<PluginInstance.ID> & Sendable) {
        for id in ids {
            guard let instance = instances[id] else { continue }
            instance.isRetired = true
            release(instance)
        }
    }

    /// Ends the calls of retired plugins that are still under way.
    func abandon(_ ids: some Sequence<PluginInstance.ID> & Sendable) {
        for id in ids {
            for (call, owner) in calls where owner == id {
                metrics.abandonedCalls += 1
                _ = end(call, .cancelled)
            }
            if let instance = instances[id] { release(instance) }
        }
    }

    /// Releases a retired plugin without calls under way. Its metrics are kept.
    func release(_ instance: PluginInstance) {
        guard instance.isRetired, instance.functions.calls.isEmpty, instances[instance.id] != nil else { return }
        instances[instance.id] = nil
        add(instance, to: &metrics)
    }

    private func add(_ instance: PluginInstance, to metrics: inout PluginMetrics) {
        for (kind, figures) in instance.figures {
            metrics.hooks[instance.plan.name, default: [:]][kind.rawValue, default: .init()].add(figures)
        }
    }

    func noteReload(version: Int, refused: Bool) {
        if refused {
            metrics.refusedReloads += 1
        } else {
            metrics.reloads += version > 1 ? 1 : 0
            metrics.setVersion = version
        }
    }

    /// The number of loaded plugins, retired ones with calls under way included.
    var size: Int { instances.count }

    /// Returns how many times a plugin's machine was replaced.
    func rebuilds(of id: PluginInstance.ID) -> Int { instances[id]?.rebuilds ?? 0 }

    /// Whether the stacks of all machines are at their initial height.
    var isBalanced: Bool { instances.values.allSatisfy { $0.vm.isBalanced } }
}

/// The newest decisions, up to the capacity.
struct DecisionRing: Sendable {
    private var entries: [PluginDecision] = []
    private var oldest = 0
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// The sequence number of the next entry.
    var next: Int { count + 1 }

    /// Appends an entry; a full ring loses its oldest.
    mutating func append(_ entry: PluginDecision) {
        count += 1
        guard capacity > 0 else { return }
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % capacity
        }
    }

    /// All entries, the oldest first.
    var all: [PluginDecision] { Array(entries[oldest...] + entries[..<oldest]) }
}

/// Writes decisions to a file. When that fails, it logs the error once, and once again when writing works again.
final class DecisionWriter {
    let log: DecisionLog
    private let file: LineFile
    private let logger: Logger
    private var isFailing = false
    /// The number of decisions that could not be written.
    private(set) var lost = 0

    init(_ log: DecisionLog, _ logger: Logger) {
        self.log = log
        self.logger = logger
        file = LineFile(
            path: log.path, maximumBytes: log.maximumBytes, kept: log.kept, head: PluginDecision.lineHead)
        trying { () throws(SystemFailure) in _ = try file.ready() }
    }

    func write(_ entry: PluginDecision, hiding redact: Redactor) {
        var entry = entry
        if log.hasInputs {
            entry = entry.hiding(Set(log.hidden.map(PropertyName.init)))
        } else {
            (entry.input, entry.answer) = (nil, nil)
        }
        let line = redact(entry.json).bytes() + [UInt8(ascii: "\n")]
        if !trying({ () throws(SystemFailure) in try file.append(line) }) { lost += 1 }
    }

    @discardableResult
    private func trying(_ act: () throws(SystemFailure) -> Void) -> Bool {
        do throws(SystemFailure) {
            try act()
            if isFailing { logger.notice("decisions of plugins are written to \(log.path) again") }
            isFailing = false
            return true
        } catch {
            if !isFailing { logger.error("decisions of plugins cannot be written to \(log.path): \(error)") }
            isFailing = true
            return false
        }
    }
}

extension DecisionLog {
    /// Checks that the file holds no other data: log lines would destroy a store, a script or the policy.
    ///
    /// - Parameter owned: paths of the deployment's own files, existing or not.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    func check(besides owned: Set<String>) throws(SluiceError) {
        guard FileStatus(path)?.isFolder != true else {
            throw SluiceError(
                .invalidArgument, "decisions cannot be written to \(path): it is a folder; name a file in it")
        }
        let isOwned = owned.contains { Self.target($0) == Self.target(path) }
        guard !isOwned, !LineFile.isOther(path, than: Array(PluginDecision.lineHead.utf8)) else {
            throw SluiceError(
                .invalidArgument,
                "decisions cannot be written to \(path): the file is another one of the deployment's, and lines in it would "
                    + "destroy it; give a file of its own")
        }
    }

    /// Returns the file that a path leads to.
    private static func target(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }
}
