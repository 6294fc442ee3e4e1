import Foundation
import RepositoryFiles
import Testing

@testable import SluiceDaemon

/// Which test shows that a setting does what it says. A setting that is in no test's list fails here.
@Suite struct SettingCoverageTests {
    private static let tests: [String: [String]] = [
        "SettingEffectTests.client": [
            "retry.attempts", "retry.first-pause", "retry.longest-pause", "batch", "concurrency", "limits.attempts",
            "limits.page-size", "limits.request-time", "limits.answer-bytes", "conflicts", "user", "dialect",
            "durability",
        ],
        "SettingEffectTests.schedule": ["schedule.change-delay", "schedule.spread"],
        "SettingEffectTests.encryption": ["store-key", "store-passphrase"],
        "SettingEffectTests.token": ["token-command", "token", "token-scheme"],
        "SyncConfigurationTests.token": ["token-file"],
        "SyncConfigurationTests.order": ["endpoint", "store"],
        "DialectTests.key": ["application-key", "application-key-file"],
        "StoreCommandTests.encryption": ["key-file", "passphrase-file"],
        "PolicyCommandTests.takesPart": ["plugins", "secrets"],
        "DaemonSettingsTests.oauth": [
            "oauth.token-url", "oauth.client-id", "oauth.client-secret-file", "oauth.scope", "oauth.refresh-token-file",
        ],
        "NetworkSettingsTests.proxy": ["proxy", "proxy-credentials-file", "no-proxy"],
        "NetworkSettingsTests.signIn": ["oauth.device-url"],
        "NetworkSettingsTests.assertion": [
            "oauth.assertion-key-file", "oauth.assertion-algorithm", "oauth.assertion-key-id",
            "oauth.assertion-subject",
        ],
        "NetworkSettingsTests.appService": ["app-service.provider"],
        "TLSTests.mutual": ["tls.certificate-file", "tls.key-file", "tls.authorities-file"],
        "DaemonSettingsTests.interval": ["schedule.interval", "schedule.on-event"],
        "DaemonSettingsTests.windows": ["schedule.windows"],
        "DaemonSettingsTests.onChange": ["schedule.on-change"],
        "DaemonSettingsTests.onNetwork": ["schedule.on-network"],
        "DaemonSettingsTests.pauses": ["schedule.first-pause", "schedule.longest-pause"],
        "DaemonSettingsTests.control": ["control.socket", "control.users", "control.group"],
        "DaemonSettingsTests.watch": ["watch"],
        "DaemonSettingsTests.shutdown": ["shutdown-time"],
        "DaemonSettingsTests.log": ["log.level", "log.form"],
        "GatewayTests.offline": ["gateway.socket"],
        "GatewayTests.port": ["gateway.port", "gateway.token-file"],
        "GatewayTests.unguarded": ["gateway.any-local-user"],
        "DaemonSettingsTests.metrics": ["metrics.port"],
        "FleetTests.goesBack": [
            "policy.url", "policy.keys", "policy.required", "policy.name", "policy.device", "policy.labels",
            "policy.every", "policy.trial", "policy.probation", "policy.least-calls", "policy.most-errors",
            "policy.most-overruns", "policy.most-held", "policy.most-refused", "policy.most-differences",
            "policy.folder", "policy.status-table", "policy.status-every",
        ],
        "FleetTests.uploads": ["policy.status-url", "policy.status-token-file"],
        "FleetTests.trial": ["policy.trial-decisions", "policy.grants"],
        "FleetTests.table": ["policy.table"],
        "FleetTests.reports": ["policy.status-decisions", "policy.status-daily-bytes"],
        "TrafficTests.metered": ["traffic.metered", "traffic.metered-file", "traffic.metered-interval"],
        "TrafficTests.budget": ["traffic.daily-bytes"],
        "InspectorTests.access": ["inspector.port"],
        "InspectorTests.readOnly": ["inspector.read-only", "inspector.bodies"],
        "TracingTests.exports": ["tracing.endpoint", "tracing.service"],
    ]

    @Test("every setting has a test, and every test that is named speaks of its settings")
    func everySetting() throws {
        let named = Self.tests.values.flatMap(\.self)
        #expect(Set(named) == Set(Setting.all.map(\.key)))
        #expect(named.count == Set(named).count)
        let folder = URL(fileURLWithPath: Repository.path("Tests/Suites"))
        var sources: [String: String] = [:]
        let files = FileManager.default.enumerator(atPath: folder.path)
        while let path = files?.nextObject() as? String {
            guard path.hasSuffix("Tests.swift") else { continue }
            let suite = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
            sources[suite, default: ""] += try String(
                contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        }
        for (test, settings) in Self.tests {
            let parts = test.split(separator: ".").map(String.init)
            let source = sources[parts[0]] ?? ""
            #expect(source.contains("func \(parts[1])("), "there is no test \(test)")
            for key in settings {
                let name = String(key.split(separator: ".").last ?? "")
                let variable = Setting.variable(key)
                #expect(
                    [name, variable, "--\(name)", name.filter { $0 != "-" }].contains {
                        source.lowercased().contains($0.lowercased())
                    }, "\(test) does not speak of \(key)")
            }
        }
    }
}
