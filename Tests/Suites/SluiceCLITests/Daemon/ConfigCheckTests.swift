import Foundation
import Testing

@Suite("config check refuses what the daemon refuses", .timeLimit(.minutes(5)))
struct ConfigCheckTests {
    @Test(arguments: [
        "gateway: { port: 0 }", "gateway: { port: 0, token-file: short }", "gateway: { port: 0, token-file: none }",
        "schedule: { windows: [25:00-26:00] }", "tls: { certificate-file: short }", "control: { group: no-such-group }",
        "control: { users: [no-such-user] }", "plugins: none.yaml", "key-file: short", "passphrase-file: none",
        "tracing: { endpoint: nowhere }", "token-file: none", "plugins: policy.yaml", "endpoint: http",
        "tables: { notes: { columns: { a: string, A: string } } }", "tables: { notes: { columns: { Id: string } } }",
        "tables: { notes: { columns: { a: string }, indexes: [b] } }", "tables: { notes: { local: [id] } }",
        "tables: { sluice_notes: }", "tables: { a b: }", "queries: { q: { table: a b } }",
        "tables: { notes: { local: true } }\nqueries: { q: { table: notes } }",
        "migrations: { m: [{ table: notes, drop: id }] }", "endpoints: { a: { store: a.db }, b: { store: ./a.db } }",
        "store: none/local.db", "store: short/local.db", "store: folder", "store: two", "token-file: two",
        "token-file: folder", "application-key-file: two", "token-command: [/none]", "token-command: []",
        "oauth: { token-url: 'https://a.example/', client-id: a, client-secret-file: none }",
        "plugins: policy.yaml\nsecrets: none", "control: { socket: none/s }", "control: { socket: two }",
        "control: { socket: folder }", "control: { socket: local.db-lock }", "gateway: { socket: none/s }",
        "gateway: { socket: local.db.sock }", "gateway: { port: 0, token-file: two }",
        "inspector: { port: 7000 }\nmetrics: { port: 7000 }",
    ])
    func refused(mistake: String) async throws {
        try await withScratch { scratch in
            try scratch.write("short", "abc")
            chmod(scratch.file("short"), 0o600)
            try scratch.write("two", "the first of two lines\nthe second\n")
            try FileManager.default.createDirectory(atPath: scratch.file("folder"), withIntermediateDirectories: false)
            try scratch.write("policy.yaml", "plugins:\n  none: { path: none }\n")
            let lines = ["endpoint: http://127.0.0.1:1", "store: local.db", "tables: { notes: }"].filter {
                !mistake.hasPrefix($0.prefix { $0 != ":" })
            }
            let config = try scratch.write("daemon.yaml", (lines + [mistake, ""]).joined(separator: "\n"))
            let check = try await Program.sluice("config", "check", "--config", config)
            #expect([2, 4, 6].contains(check.status), "\(check)")
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
