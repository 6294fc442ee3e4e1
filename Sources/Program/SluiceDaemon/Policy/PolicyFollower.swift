internal import CoreMetrics
internal import Logging
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools
internal import SluicePolicy

/// The plugins that a policy decides for: those of a daemon's endpoint, or of a server.
struct PolicySubject: Sendable {
    let plugins: Plugins
    let settings: PluginSettings
    let transport: any Transport
    /// The context of the tables with releases and status; nil for a server.
    let context: SyncContext?
}

extension ClientSession {
    /// The plugins, for the policy from afar that may decide for them; nil without plugins.
    var policySubject: PolicySubject? {
        guard let plugins, let settings = settings.plugins else { return nil }
        return PolicySubject(plugins: plugins, settings: settings, transport: transport, context: context)
    }
}

/// Runs the policy of one endpoint or server: fetches releases, tries them, serves with them, and goes back. The rules are
/// ``PolicyDevice``'s; this carries out its effects.
actor PolicyFollower {
    /// The time between two looks at the counts.
    private static let look = Duration.seconds(1)
    /// The time between two saves of the counts.
    private static let saving = Duration.seconds(60)

    let settings: PolicySettings
    let folder: PolicyFolder
    let plugins: Plugins
    /// The plans of the installed policy.
    let installed: [PluginPlan]
    let counter: DecisionCounter
    /// The decisions of commands, which run in other processes.
    private var commands: NewDecisions
    let subject: PolicySubject
    let logger: Logger
    let metrics: any MetricsFactory
    var device: PolicyDevice
    var servingPlans: [PluginPlan]
    var trialPlans: [PluginPlan] = []
    /// The last events, the newest first.
    var events: [(at: Timestamp, event: PolicyDevice.Event)] = []
    /// The number of events so far.
    var eventCount = 0
    /// The effects that wait for those under way.
    var pending: [PolicyDevice.Effect] = []
    var isCarryingOut = false
    /// Whether the next answer has to have the file, though it may not have changed.
    var fetchesWhole = false
    /// The reason for which the state could not be saved; nil after a success.
    var unsaved: String?
    /// The bytes that were reported today.
    var budget: ReportBudget
    /// The reason for the last failed fetch; nil after a success.
    private var unreachable: String?

    /// Prepares the follower of plugins that already serve with the state's version; nil without a policy from afar.
    ///
    /// - Throws: ``SluiceError`` for keys, a folder or a state that cannot be read.
    init?(
        _ subject: PolicySubject, _ counter: DecisionCounter, _ logger: Logger, _ metrics: any MetricsFactory
    ) throws {
        guard let settings = subject.settings.fleet else { return nil }
        (self.settings, plugins, self.subject, self.logger) = (settings, subject.plugins, subject, logger)
        (self.counter, self.metrics) = (counter, metrics)
        installed = try subject.settings.policy.map { try PluginPolicy(file: $0).plans } ?? []
        folder = try PolicyFolder(settings.folder)
        commands = NewDecisions(path: settings.commandLog.path)
        budget = ReportBudget(settings.statusDailyBytes, file: "\(settings.folder)/reported.json")
        device = PolicyDevice(
            try folder.state(), try settings.deviceName(in: folder), try settings.trust(), settings.bounds)
        servingPlans = plugins.plans
    }

    /// The state, for status and metrics.
    var status: JSON {
        var json = PolicyReport.json(device.state, device.name)
        json["unreachable"] = unreachable.map { JSON($0) } ?? .null
        json["refused"] = device.refusal.map { JSON($0.reason) } ?? .null
        json["events"] = JSON(
            events.map { at, event -> JSON in
                [
                    "at": JSON(at.description), "event": JSON(event.kind.rawValue),
                    "version": event.version.map { JSON($0) } ?? .null,
                    "reason": event.reason.map { JSON($0) } ?? .null,
                ]
            })
        return json
    }

    /// Fetches, tries and judges until the task is cancelled.
    func run() async {
        await carryOut(device.began())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.fetch() }
            group.addTask { await self.judge() }
            group.addTask { await self.tell() }
        }
    }

    // MARK: Fetching

    private func fetch() async {
        var download: PolicyDownload?
        if case .url(let url) = settings.source {
            download = try? PolicyDownload(url, wait: settings.every, over: subject.transport)
        }
        while !Task.isCancelled {
            let began = ContinuousClock.now
            if fetchesWhole { download?.forget() }
            fetchesWhole = false
            do {
                let bytes = try await file(&download)
                unreachable = nil
                if let bytes { await take(bytes, &download) }
            } catch {
                if Task.isCancelled { return }
                note(unreachable: CommandText.reason(error))
            }
            // A server that waits with its answer has spent the period. Devices that began together drift apart.
            let rest = settings.every - (ContinuousClock.now - began)
            let spread = settings.every * Int.random(in: 0...100) / 1_000
            guard (try? await Task.sleep(for: max(.milliseconds(200), rest + spread))) != nil else { return }
        }
    }

    private func file(_ download: inout PolicyDownload?) async throws -> [UInt8]? {
        switch settings.source {
        case .url: return try await download?.file()
        case .table(let table):
            guard let context = subject.context else { return nil }
            return try await PolicyRow.file(in: table, context)
        }
    }

    private func note(unreachable reason: String) {
        if unreachable != reason { logger.warning("the policy could not be fetched: \(reason)") }
        unreachable = reason
    }

    private func take(_ bytes: [UInt8], _ download: inout PolicyDownload?) async {
        let name = device.name
        let (effects, release) = device.offered(bytes, at: SyncEnvironment.system.now()) {
            release throws(PolicyRefusal) in try settings.check(release, for: name)
        }
        guard let release else {
            // A file that is for others stays so, and costs the server one conditional request like a known one.
            if device.refusal?.kind.mayPass == true { download?.forget() }
            return await carryOut(effects)
        }
        do throws(SluiceError) {
            // It is complete on the disk before the state names it.
            try folder.keep(release)
        } catch {
            logger.error("the release \(release.version) could not be kept: \(error)")
            // Nothing was taken: the state on the disk is the one from before.
            reload()
            download?.forget()
            return
        }
        await carryOut(effects)
    }

    /// Goes back to the state on the disk.
    private func reload() {
        guard let state = try? folder.state() else { return }
        device = PolicyDevice(state, device.name, device.trust, device.bounds)
    }

    // MARK: Judging

    private func judge() async {
        var saved = ContinuousClock.now
        while (try? await Task.sleep(for: Self.look)) != nil {
            for decision in commands.next() { counter.decided(decision) }
            // The counts of a set that is being loaded prove nothing.
            if isCarryingOut { continue }
            let tallies = counter.tallies
            await carryOut(
                device.counted(serving: tallies.serving, trial: tallies.trial, at: SyncEnvironment.system.now()))
            if saved.duration(to: .now) > Self.saving, device.state.stage != .settled {
                saved = .now
                _ = save()
            }
        }
    }
}

/// A release as a row of a synced table.
enum PolicyRow {
    /// The column with the file.
    private static let column: PropertyName = "release"

    /// Returns the file of the row with the highest version; nil if the table is empty or not there yet.
    static func file(in table: String, _ context: SyncContext) async throws -> [UInt8]? {
        var query = TableQuery(table)
        query.order = [.init("version", descending: true)]
        query.top = 1
        let rows = try await context.store.read { [query] in try $0.records(matching: query) }
        return rows.first?[column]?.string.map { Array($0.utf8) }
    }
}
