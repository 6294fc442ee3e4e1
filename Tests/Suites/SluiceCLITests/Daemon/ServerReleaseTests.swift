import Foundation
import Sluice
import Testing

/// Signed releases that decide about the requests to `sluice serve`.
@Suite(.timeLimit(.minutes(5))) struct ServerReleaseTests {
    private static let manifest = #"""
        { "name": "rules", "version": "1.0.0", "api": "1.0", "description": "Stamps what is inserted.",
          "hooks": { "insert": { "match": { "tables": ["notes"] } } } }
        """#

    /// A script that stamps a record, or one that fails for each record of another text.
    private static func script(_ version: Int, fails: Bool) -> String {
        """
        return { insert = function(req, next)
          \(fails ? "if req.record.text == 'y' then error('broken') end" : "")
          req.record.by = \(version)
          return next(req)
        end }
        """
    }

    private func publish(_ version: Int, fails: Bool = false, _ scratch: Scratch) async throws {
        for folder in ["shops/plugins/rules", "www"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try scratch.write("shops/policy.yaml", "plugins: { rules: { path: plugins/rules } }\n")
        try scratch.write("shops/plugins/rules/plugin.json", Self.manifest)
        try scratch.write("shops/plugins/rules/main.lua", Self.script(version, fails: fails))
        let result = try await Program.sluice.run([
            "policy", "publish", scratch.file("shops"), "--key", scratch.file("shops.signer"), "--release-version",
            "\(version)", "--output", scratch.file("www/policy.json"),
        ])
        #expect(result.status == 0, "\(result)")
    }

    private func insert(_ text: String, at server: ServeProcess) async throws -> (status: Int, by: JSON?) {
        let answer = try await Curl(base: [server.endpoint])("POST", "/tables/notes", #"{"text":"\#(text)"}"#)
        return (answer.status, answer.body["by"])
    }

    @Test(
        "all processes serve a release, a bad one goes back in all, and another process takes over from one that ended")
    func shared() async throws {
        try await withScratch { scratch in
            #expect(try await Program.sluice("policy", "keygen", scratch.file("shops")).status == 0)
            try await publish(1, scratch)
            let web = try await PythonServer(scratch, PythonServer.files, [scratch.file("www")])
            defer { web.stop() }
            try scratch.write(
                "releases.yaml",
                """
                policy:
                  url: http://127.0.0.1:\(web.port)/policy.json
                  keys: [shops.key]
                  folder: policy
                  every: 1s
                  trial: 0s
                  least-calls: 3
                """)
            let config = try scratch.write(
                "backend.yaml", "database: \"sqlite::memory:\"\ntables: { notes: {} }\nreleases: releases.yaml\n")
            let first = try await ServeProcess(scratch, config: config)
            let second = try await ServeProcess(scratch, config: config)
            func serve(_ version: Int, _ servers: ServeProcess...) async throws {
                for server in servers {
                    try await until("version \(version) serves") {
                        let made = try await insert("x", at: server)
                        #expect(made.status == 201)
                        return made.by == JSON(version)
                    }
                }
            }
            try await serve(1, first, second)
            try await publish(2, fails: true, scratch)
            try await serve(2, first, second)
            // The process that judges is not the one that fails.
            for _ in 0..<4 { #expect(try await insert("y", at: second).status == 500) }
            try await serve(1, first, second)
            #expect(try await insert("y", at: second).status == 201)
            let status = try await Program.sluice(
                "policy", "status", "--config", scratch.file("releases.yaml"), "--json")
            #expect(try status.json["withdrawn"]?["2"]?.string?.contains("calls failed") == true, "\(status)")
            #expect(try await first.stop() == 0)
            try await publish(3, scratch)
            try await serve(3, second)
            #expect(try await second.stop() == 0)
        }
    }

    @Test(
        "what belongs to a device is refused for a server, with its place",
        arguments: [
            ("table: policies", "the releases of a server come from policy.url"),
            ("url: http://127.0.0.1:9/p\n  status-table: s", "the status of a server goes to policy.status-url"),
            ("every: 1s", "releases need policy.url"),
        ])
    func refused(_ lines: String, _ reason: String) async throws {
        try await withScratch { scratch in
            #expect(try await Program.sluice("policy", "keygen", scratch.file("shops")).status == 0)
            try scratch.write("releases.yaml", "policy:\n  keys: [shops.key]\n  folder: policy\n  \(lines)\n")
            let config = try scratch.write(
                "backend.yaml", "database: \"sqlite::memory:\"\ntables: { notes: {} }\nreleases: releases.yaml\n")
            let result = try await Program.sluice("serve", "--config", config)
            #expect(result.status == 2 && result.errors.contains(reason), "\(result)")
        }
    }
}
