internal import CoreMetrics
internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceBackend
internal import SluiceLua
internal import SluicePluginTools
internal import SluicePolicy
internal import Synchronization

/// The releases of a server's policy. The processes that name one folder share it: the first one fetches, tries and judges;
/// the others serve what its state says within a second, and one of them takes over when it ends. The decisions of all
/// count.
final class ServerReleases: Sendable {
    /// The pause between two looks at the state.
    private static let look = Duration.milliseconds(250)
    /// The pause after plugins that did not load.
    private static let pause = Duration.seconds(5)

    let transport: any Transport
    private let settings: PluginSettings
    private let fleet: PolicySettings
    private let counter = DecisionCounter()
    private let claim: Mutex<PolicyFolderClaim?>
    private let logger: Logger
    private let metrics: any MetricsFactory

    /// Reads the settings, and claims the folder if no other process has it.
    ///
    /// - Parameters:
    ///   - path: a configuration file as a daemon's, of which `policy`, `tls` and `proxy` count.
    ///   - named: the plugins beside it: the installed policy and the secrets.
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the place of a mistake.
    init(
        _ path: String, beside named: BackendConfiguration.Plugins, _ logger: Logger, _ metrics: any MetricsFactory
    ) throws {
        let source = SettingsSource(path: path)
        let values = SettingValues(try source.read().1, environment: source.environment)
        guard let fleet = try PolicySettings(values, store: nil) else {
            throw SluiceError(.invalidArgument, "\(path): releases need policy.url")
        }
        if case .table = fleet.source {
            throw SluiceError(
                .invalidArgument, "\(values.origin("policy.table")): the releases of a server come from policy.url")
        }
        if fleet.status?.table != nil {
            throw SluiceError(
                .invalidArgument,
                "\(values.origin("policy.status-table")): the status of a server goes to policy.status-url")
        }
        transport = try TransportSettings(values).transport()
        settings = PluginSettings(policy: named.policy, secrets: named.secrets, fleet: fleet)
        (self.fleet, self.logger, self.metrics) = (fleet, logger, metrics)
        _ = try fleet.trust()
        claim = Mutex(try Self.claim(fleet.folder))
    }

    /// Returns the claim; nil if another process has the folder.
    private static func claim(_ path: String) throws -> PolicyFolderClaim? {
        do {
            return try PolicyFolder(path).claim(process: Int(getpid()))
        } catch  where error.code == .storeBusy {
            return nil
        }
    }

    private var leads: Bool { claim.withLock { $0 != nil } }

    /// Loads the plugins of the version that the state names, or of the installed policy.
    func plugins(_ options: PluginOptions) async throws -> Plugins {
        var options = options
        options.gate = FixtureRunner.gate
        return try await settings.load(options, countedBy: leads ? counter : nil)
    }

    /// Follows the releases until the task is cancelled.
    func follow(_ plugins: Plugins) async {
        if !leads { await followState(plugins) }
        do {
            let subject = PolicySubject(plugins: plugins, settings: settings, transport: transport, context: nil)
            let follower = try PolicyFollower(subject, counter, logger, metrics)
            await follower?.run()
        } catch {
            logger.error("the releases are not followed: \(CommandText.reason(error))")
        }
    }

    /// Serves what the state of another process says, until this process can claim the folder.
    private func followState(_ plugins: Plugins) async {
        let path = "\(fleet.folder)/state.json"
        var loaded: [String]?
        while (try? await Task.sleep(for: Self.look)) != nil {
            if let taken = try? Self.claim(fleet.folder) {
                claim.withLock { $0 = taken }
                await serve(plugins, hasTrial: false)
                return
            }
            let now = PolicyFiles.fingerprint([path])
            guard now != loaded else { continue }
            if await serve(plugins, hasTrial: true) {
                loaded = now
            } else {
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Loads the plugins that the state names, and returns whether they serve.
    @discardableResult
    private func serve(_ plugins: Plugins, hasTrial: Bool) async -> Bool {
        do {
            let installed = try settings.policy.map { try PluginPolicy(file: $0).plans } ?? []
            let plans = try fleet.plans(insteadOf: installed, hasTrial: hasTrial)
            if plans.map(\.identity) != plugins.plans.map(\.identity) { try await plugins.reload(plans) }
            return true
        } catch {
            logger.error("the plugins of the release do not load: \(CommandText.reason(error))")
            return false
        }
    }
}
