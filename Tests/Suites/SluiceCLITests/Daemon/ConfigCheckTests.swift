import Foundation
import Testing

@Suite("config check refuses what the daemon refuses", .timeLimit(.minutes(5)))
struct ConfigCheckTests {
    @Test(arguments: [
        "gateway: { port: 0 }", "gateway: { port: 0, token-file: short }", "gateway: { port: 0, token-file: none }",
        "schedule: { windows: [25:00-26:00] }", "tls: { certificate-file: short }", "control: { group: no-such-group }",
        "control: { users: [no-such-user] }", "plugins: none.yaml", "key-file: short", "passphrase-file: none",
        "tracing: { endpoint: nowhere }", "token-file: none", "plugins: policy.yaml", "endpoint: http",
    ])
    func refused(mistake: String) async throws {
        try await withScratch { scratch in
            try scratch.write("short", "abc")
            chmod(scratch.file("short"), 0o600)
            try scratch.write("policy.yaml", "plugins:\n  none: { path: none }\n")
            let endpoint = mistake.hasPrefix("endpoint") ? "" : "endpoint: http://127.0.0.1:1\n"
            let config = try scratch.write(
                "daemon.yaml", "\(endpoint)store: local.db\ntables: { notes: }\n\(mistake)\n")
            let check = try await Program.sluice("config", "check", "--config", config)
            #expect(check.status == 2 || check.status == 6, "\(check)")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("local.db")))
            let daemon = try await Program.sluice("daemon", "--config", config)
            #expect(daemon.status == check.status, "\(daemon) \(check)")
            #expect(daemon.errors.split(separator: "\n").last == check.errors.split(separator: "\n").last)
        }
    }

    @Test("a good one is good, and makes no store")
    func good() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "daemon.yaml",
                "endpoint: http://127.0.0.1:1\nstore: local.db\ntables: { notes: }\ntoken-command: [/bin/false]\n")
            #expect(try await Program.sluice("config", "check", "--config", config).status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["daemon.yaml"])
        }
    }
}
