internal import CoreMetrics
internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceConfiguration
internal import SluiceLua

/// A daemon's log, metrics and traces of its endpoints.
struct Instruments: Sendable {
    var logger: Logger
    var metrics: any MetricsFactory
    /// The inspector's recorded data; nil if no inspector is served.
    var inspection: Inspection?
    /// The queue of spans to export; nil if none are exported.
    var tracer: ExportTracer?
    /// The owners of the tokens that were used for users.
    let owners = TokenOwners()
}

/// All endpoints of one configuration. A reload builds a new value and replaces the previous one as a whole.
final class Serving: Sendable {
    let plan: ServingPlan
    /// The open endpoints: all of the configuration's, or none while the daemon starts.
    let installations: [Installation]
    /// The time at which the configuration was loaded.
    let since: Timestamp

    private init(_ plan: ServingPlan, _ installations: [Installation], since: Timestamp) {
        (self.plan, self.installations, self.since) = (plan, installations, since)
    }

    /// Creates the value without any open endpoint.
    convenience init(_ plan: ServingPlan) { self.init(plan, [], since: SyncEnvironment.system.now()) }

    /// Opens every store and loads every plugin; if one fails, all are closed again.
    static func open(_ plan: ServingPlan, _ instruments: Instruments) async throws -> Serving {
        var installations: [Installation] = []
        do {
            for endpoint in plan.endpoints {
                installations.append(try await Installation.open(endpoint, instruments))
                try Task.checkCancellation()
            }
        } catch {
            for installation in installations { try? await installation.session.close() }
            throw error
        }
        return Serving(plan, installations, since: SyncEnvironment.system.now())
    }

    /// Returns a copy with one installation replaced.
    func replacing(_ old: Installation, with new: Installation) -> Serving {
        Serving(plan, installations.map { $0 === old ? new : $0 }, since: since)
    }

    func installation(_ name: String) -> Installation? { installations.first { $0.name == name } }

    /// Returns a line for each plugin whose permissions differ from those of the configuration before.
    func permissionChanges(since old: Serving) -> [String] {
        installations.flatMap { installation in
            let place = installation.name.isEmpty ? "" : "\(installation.name): "
            return PermissionChanges.lines(
                from: old.installation(installation.name)?.session.plugins?.plans ?? [],
                to: installation.session.plugins?.plans ?? []
            ).map { place + $0 }
        }
    }

    /// Stops further requests and ends the schedules.
    func finish() { for installation in installations { installation.finish() } }

    /// Ends all schedules at the same time and closes the stores.
    func stop() async {
        await withTaskGroup(of: Void.self) { group in
            for installation in installations { group.addTask { await installation.stop() } }
        }
    }
}

/// The file, flags and environment of the daemon's configuration, read again at each reload.
package struct SettingsSource: Sendable {
    package let path: String
    package let flags: [String: [String]]
    package let environment: [String: String]

    package init(
        path: String, flags: [String: [String]] = [:],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.path, self.flags, self.environment) = (path, flags, environment)
    }

    package func read() throws -> (SettingsFile, Settings) {
        let file = try SettingsFile(path: path)
        return (file, try Settings(file, flags: flags, environment: environment))
    }

    /// Returns the paths, sizes, times and inodes of the configuration's files, to notice a change of one. It reads
    /// 2,000 files at most.
    func fingerprint() -> [String] {
        var paths = [path]
        if let (file, settings) = try? read() {
            for name in settings.endpoints {
                guard let client = try? ClientSettings(file, settings, endpoint: name, environment: environment) else {
                    continue
                }
                // The token identifies the user of the changes.
                if case .fixed(let token)? = client.token, case .file(let path) = token.source { paths.append(path) }
                if let fleet = client.plugins?.fleet { paths += fleet.files }
                if let policy = client.plugins?.policy { paths += PolicyFiles.of(policy: policy) }
            }
        }
        return PolicyFiles.fingerprint(paths)
    }
}

/// The files of a policy and of the plugins that it names.
enum PolicyFiles {
    private static let most = 2_000

    /// Returns the paths, 2,000 at most.
    static func of(policy: String) -> [String] {
        var paths = [policy]
        for folder in folders(of: policy) {
            let files = FileManager.default.enumerator(atPath: folder)
            while let name = files?.nextObject() as? String, paths.count < most {
                paths.append((folder as NSString).appendingPathComponent(name))
            }
        }
        return paths
    }

    /// Returns paths, sizes, times and inodes, to notice a change of a file.
    static func fingerprint(_ paths: [String]) -> [String] {
        paths.prefix(most).map { "\($0) \(FileStatus($0)?.description ?? "-")" }
    }

    /// Returns the values of the policy's `path` keys, resolved relative to the policy; none for an unreadable file.
    private static func folders(of policy: String) -> [String] {
        let base = (policy as NSString).deletingLastPathComponent
        guard let root = try? ConfigurationFile(path: policy).root(),
            let plugins = try? root.entries().first(where: { $0.name == "plugins" })?.value.entries()
        else { return [] }
        return plugins.compactMap { plugin in
            guard let path = try? plugin.value.entries().first(where: { $0.name == "path" })?.value.text() else {
                return nil
            }
            return path.hasPrefix("/") || base.isEmpty ? path : (base as NSString).appendingPathComponent(path)
        }
    }
}
