internal import CoreMetrics
internal import Foundation
internal import Logging
internal import Sluice

/// What a daemon watches its endpoints with.
struct Instruments: Sendable {
    var logger: Logger
    var metrics: any MetricsFactory
    /// What the inspector shows of the past; nil where none is served.
    var inspection: Inspection?
    /// Gets the spans; nil where none are exported.
    var tracer: ExportTracer?
}

/// All endpoints of one configuration: what a reload builds whole, and puts in the place of what served before.
final class Serving: Sendable {
    let settings: Settings
    let installations: [Installation]
    /// When the configuration was loaded.
    let since: Timestamp

    private init(_ settings: Settings, _ installations: [Installation]) {
        (self.settings, self.installations) = (settings, installations)
        since = SyncEnvironment.system.now()
    }

    /// Reads the configuration, opens every store and loads every plugin; all of it or nothing.
    static func build(_ source: SettingsSource, _ instruments: Instruments) async throws -> Serving {
        let (file, settings) = try source.read()
        var installations: [Installation] = []
        do {
            for name in settings.endpoints {
                let client = try ClientSettings(file, settings, endpoint: name, environment: source.environment)
                var instruments = instruments
                if !name.isEmpty { instruments.logger[metadataKey: "endpoint"] = "\(name)" }
                let values = SettingValues(settings, endpoint: name, environment: source.environment)
                let store = try client.requireStore()
                if let other = installations.first(where: { $0.session.settings.store == store }) {
                    throw SluiceError(
                        .invalidArgument,
                        "the endpoints \(other.name) and \(name) have the same store; each needs one of its own")
                }
                installations.append(try await Installation.open(client, values, instruments))
            }
        } catch {
            for installation in installations { try? await installation.session.close() }
            throw error
        }
        return Serving(settings, installations)
    }

    func installation(_ name: String) -> Installation? { installations.first { $0.name == name } }

    /// The stores, by path.
    var stores: [String] { installations.compactMap(\.session.settings.store) }

    /// Ends all schedules at the same time and closes the stores.
    func stop() async {
        await withTaskGroup(of: Void.self) { group in
            for installation in installations { group.addTask { await installation.stop() } }
        }
    }
}

/// Where the daemon's configuration comes from: read anew at each reload.
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

    /// What changes when one of the files does that the configuration is made of: their paths, sizes, times and inodes.
    /// It looks at 2,000 files at most.
    func fingerprint() -> [String] {
        var paths = [path]
        if let (file, settings) = try? read() {
            for name in settings.endpoints {
                guard let client = try? ClientSettings(file, settings, endpoint: name, environment: environment),
                    let policy = client.plugins?.policy
                else { continue }
                paths.append(policy)
                for folder in PluginFolders.of(policy: policy) {
                    let files = FileManager.default.enumerator(atPath: folder)
                    while let name = files?.nextObject() as? String, paths.count < 2000 {
                        paths.append((folder as NSString).appendingPathComponent(name))
                    }
                }
            }
        }
        return paths.map { "\($0) \(FileState($0)?.description ?? "-")" }
    }
}
