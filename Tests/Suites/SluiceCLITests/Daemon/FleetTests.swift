import Foundation
import Sluice
import Testing

/// A policy from afar, by the programs that its publisher and its devices run.
@Suite(.timeLimit(.minutes(5))) struct FleetTests {
    private static let manifest = #"""
        { "name": "rules", "version": "1.0.0", "api": "1.0", "description": "What a note may be.",
          "hooks": { "before_enqueue": { "match": { "tables": ["notes"] } } },
          "permissions": { "clock": true } }
        """#

    /// A script that refuses notes without a text, or one that fails.
    private static func script(_ fails: Bool) -> String {
        """
        local function before_enqueue(op)
          \(fails ? "if op.record.missing.text then return end" : "")
          if op.record.text == "" then return decide.reject{ message = "a note needs a text" } end
        end
        return { before_enqueue = before_enqueue }
        """
    }

    private func publish(_ version: Int, fails: Bool, _ scratch: Scratch, _ more: String...) async throws {
        for folder in ["shops/plugins/rules", "www"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try scratch.write("shops/policy.yaml", "plugins: { rules: { path: plugins/rules } }\n")
        try scratch.write("shops/plugins/rules/plugin.json", Self.manifest)
        try scratch.write("shops/plugins/rules/main.lua", Self.script(fails))
        let result = try await Program.sluice.run(
            [
                "policy", "publish", scratch.file("shops"), "--key", scratch.file("shops.signer"), "--release-version",
                "\(version)", "--output", scratch.file("www/policy.json"),
            ] + more)
        #expect(result.status == 0, "\(result)")
    }

    /// Runs `body` with a daemon that takes releases of the server's file.
    ///
    /// - Parameters:
    ///   - source: the place of the releases; the web server's file without one.
    ///   - target: the place of the device's status.
    private func withDevice(
        _ settings: String, from source: String? = nil, to target: String = "status-table: policy_status",
        files: [String: String] = [:],
        _ body: (DaemonProcess, PythonServer, ServeProcess, Scratch) async throws -> Void
    ) async throws {
        try await withServer(tables: "{ notes: { softDelete: true }, policy_status: {}, policies: {} }") {
            server, scratch in
            let keys = try await Program.sluice("policy", "keygen", scratch.file("shops"))
            #expect(keys.status == 0, "\(keys)")
            for (name, text) in files {
                try FileManager.default.createDirectory(
                    atPath: (scratch.file(name) as NSString).deletingLastPathComponent,
                    withIntermediateDirectories: true)
                try scratch.write(name, text)
            }
            try await publish(1, fails: false, scratch)
            let web = try await PythonServer(scratch, PythonServer.files, [scratch.file("www")])
            defer { web.stop() }
            let config = try scratch.write(
                "daemon.yaml",
                """
                endpoint: \(server.endpoint)
                store: local.db
                tables: { notes: { columns: { text: string } }, policy_status: , policies: }
                schedule: { spread: 0s, interval: 1s }
                policy:
                  \(source ?? "url: http://127.0.0.1:\(web.port)/policy.json")
                  keys: [shops.key]
                  required: 1
                  name: shops
                  device: shop-17
                  labels: [ring=canary]
                  every: 1s
                  probation: 1h
                  least-calls: 3
                  most-errors: 10%
                  most-overruns: 10%
                  most-held: 10%
                  most-refused: 100%
                  most-differences: 10%
                  folder: policy
                  \(target)
                  status-every: 1s
                \(settings)
                """)
            let daemon = try await DaemonProcess(scratch, config: config)
            do {
                try await body(daemon, web, server, scratch)
                try await daemon.stop()
            } catch {
                try await daemon.stop(SIGKILL)
                throw error
            }
        }
    }

    private func status(_ daemon: DaemonProcess) async throws -> JSON {
        try await Program.sluice("policy", "status", "--config", daemon.config, "--json").json
    }

    private func insert(_ record: String, _ daemon: DaemonProcess) async throws -> Int32 {
        try await Program.sluice("insert", "notes", record, "--config", daemon.config).status
    }

    @Test("a release is taken and decides; a bad one goes back by itself, and is not taken again")
    func goesBack() async throws {
        try await withDevice("  trial: 0s") { daemon, web, server, scratch in
            try await until("version 1 serves") { try await status(daemon)["serving"] == 1 }
            #expect(try await insert(#"{"text":""}"#, daemon) == 2)
            #expect(try await insert(#"{"id":"a","text":"x"}"#, daemon) == 0)
            try await publish(2, fails: true, scratch)
            try await until("version 2 serves") { try await status(daemon)["serving"] == 2 }
            for _ in 0..<4 { _ = try await insert(#"{"text":"y"}"#, daemon) }
            try await until("version 1 serves again") { try await status(daemon)["serving"] == 1 }
            #expect(try await status(daemon)["withdrawn"]?["2"]?.string?.contains("calls failed") == true)
            #expect(try await insert(#"{"id":"b","text":"z"}"#, daemon) == 0)
            try await Task.sleep(for: .seconds(2))
            #expect(try await status(daemon)["serving"] == 1, "the same version is not taken again")
            let why = try await Program.sluice("policy", "why", "notes/b", "--config", daemon.config)
            #expect(why.status == 0 && why.output.contains("release 1, rules"), "\(why)")
            try await until("the fleet's table shows it") {
                let fleet = try await Program.sluice("policy", "fleet", "--endpoint", server.endpoint, "--json").json
                let row = fleet["devices"]?[0]
                return row?["device"] == "shop-17" && row?["serving"] == 1 && row?["withdrawn"]?["2"] != nil
            }
            // Unchanged, the file costs one conditional request each time.
            #expect(web.lines.suffix(2).allSatisfy { $0 == "304" }, "\(web.lines)")
            let fleet = try await Program.sluice("policy", "fleet", "--endpoint", server.endpoint)
            #expect(fleet.output.contains("1 device with version 1"), "\(fleet)")
        }
    }

    @Test("it is tried as a shadow first, which changes nothing; what asks for more than granted is withdrawn")
    func trial() async throws {
        let installed = [
            "installed.yaml": "plugins: { rules: { path: here/rules } }\n",
            "here/rules/plugin.json": Self.manifest,
            "here/rules/main.lua": Self.script(false).replacing(#"text == "" then"#, with: #"text == "no" then"#),
        ]
        let settings = "  trial: 1h\n  trial-decisions: 9\nplugins: installed.yaml\n"
        try await withDevice(settings, files: installed) { daemon, web, _, scratch in
            try await until("version 1 is on trial") { try await status(daemon)["trial"] == 1 }
            #expect(try await insert(#"{"text":""}"#, daemon) == 0, "it decides nothing yet")
            #expect(try await insert(#"{"text":"no"}"#, daemon) == 2, "and the installed policy decides")
            let unsigned = try await Program.sluice(
                "policy", "verify", scratch.file("www/policy.json"), "--key", scratch.file("shops.key"), "--device",
                "shop-17")
            #expect(unsigned.status == 0, "\(unsigned)")
            try await publish(2, fails: false, scratch, "--label", "ring=beta")
            try await until("it is refused for its label") {
                daemon.log.contains("policy refused: for_others: it is for devices with ring beta")
            }
            #expect(try await status(daemon)["trial"] == 1)
            try await until("and costs one conditional request each time") {
                web.lines.suffix(3).allSatisfy { $0 == "304" }
            }
        }
        let grants = ["grants.yaml": "rules: { permissions: {} }\n"]
        try await withDevice("  trial: 0s\n  grants: grants.yaml\n", files: grants) { daemon, _, _, scratch in
            try await until("it asks for more, and is no worse for it") { daemon.log.contains("read the clock") }
            #expect(try await status(daemon)["serving"] == .null)
            // A mistake in the file changes nothing.
            try scratch.write("grants.yaml", "rules: { permisions: {} }\n")
            #expect(try await daemon.ctl("reload").status == 2)
            try scratch.write("grants.yaml", "rules: { permissions: { clock: true } }\n")
            try await until("the same version serves once it is granted") {
                try await status(daemon)["serving"] == 1
            }
        }
    }

    @Test("a release comes as a row of a synced table too, the one of the highest version")
    func table() async throws {
        try await withDevice("  trial: 0s", from: "table: policies") { daemon, _, server, scratch in
            let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
            for version in [1, 2] {
                try await publish(version, fails: false, scratch)
                let file = try String(contentsOfFile: scratch.file("www/policy.json"), encoding: .utf8)
                let row: JSON = ["id": JSON("v\(version)"), "version": JSON(version), "release": JSON(file)]
                let inserted = try await Program.sluice.run(["insert", "policies", "\(row)"] + other)
                #expect(inserted.status == 0, "\(inserted)")
                #expect(try await Program.sluice.run(["push"] + other).status == 0)
                try await until("version \(version) serves") { try await status(daemon)["serving"] == JSON(version) }
            }
        }
    }

    @Test("the newest decisions are in the status; once the bytes of the day are spent, versions and errors alone are")
    func reports() async throws {
        try await withDevice("  trial: 0s\n  status-decisions: 2\n  status-daily-bytes: 12000") {
            daemon, _, server, scratch in
            try await until("version 1 serves") { try await status(daemon)["serving"] == 1 }
            for _ in 0..<3 { #expect(try await insert(#"{"text":""}"#, daemon) == 2) }
            func row() async throws -> JSON? {
                try await Program.sluice("policy", "fleet", "--endpoint", server.endpoint, "--json").json["devices"]?[0]
            }
            try await until("the fleet's table has the decisions") {
                let row = try await row()
                let first = row?["decisions"]?[0]
                return row?["decisions"]?.count == 2 && row?["short"] == false
                    && first?["decision"] == "reject" && first?["plugin"] == "rules"
            }
            try await until("it is short") {
                let row = try await row()
                return row?["short"] == true && row?["decisions"]?.count == 0 && row?["serving"] == 1
            }
            let file = try String(contentsOfFile: scratch.file("policy/reported.json"), encoding: .utf8)
            let spent = try JSON(parsing: file)
            #expect(spent["bytes"]?.int ?? 0 > 10_500, "a restart keeps to it: \(spent)")
        }
    }

    /// A web server that takes what is posted to it, if not at the first try.
    private static let collector = """
        import http.server
        class Handler(http.server.BaseHTTPRequestHandler):
            tries = 0
            def do_POST(self):
                Handler.tries += 1
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                print(self.path, self.headers.get("Authorization"), body, flush=True)
                self.send_response(503 if Handler.tries == 1 else 204)
                self.end_headers()
            def log_message(self, *ignored): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    @Test("the status goes to an address instead, with its own token, and again after a failure")
    func uploads() async throws {
        try await withScratch { elsewhere in
            let collector = try await PythonServer(elsewhere, Self.collector, [])
            defer { collector.stop() }
            let target =
                "status-url: http://127.0.0.1:\(collector.port)/devices\n  status-token-file: status.token"
            let files = ["status.token": "of-the-status\n", "token": "of-the-endpoint\n"]
            try await withDevice("  trial: 0s\ntoken-file: token", to: target, files: files) { daemon, _, _, _ in
                try await until("version 1 is reported") {
                    guard let line = collector.lines.last else { return false }
                    let parts = line.split(separator: " ", maxSplits: 3)
                    #expect(parts.prefix(3) == ["/devices", "Bearer", "of-the-status"])
                    let row = try JSON(parsing: String(parts[3]))
                    return row["id"] == "shop-17" && row["serving"] == 1
                }
                #expect(
                    daemon.log.contains("the policy's status cannot be reported: the server of the status answered 503")
                )
            }
        }
    }

    @Test("the inspector has the same of the policy as the command: what serves, since when, and what was refused")
    func inspected() async throws {
        try await withDevice("  trial: 0s\ninspector: { port: 0 }") { daemon, _, _, scratch in
            try await until("version 1 serves") { try await status(daemon)["serving"] == 1 }
            try await publish(2, fails: false, scratch, "--label", "ring=beta")
            try await until("version 2 is refused") { try await status(daemon)["refused"]?.string != nil }
            let address = try await Program.sluice("inspector", "--config", daemon.config).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let jar = scratch.file("cookies")
            #expect(try await Curl.program.run(["-s", "-c", jar, address]).status == 0)
            let base = String(try #require(address.split(separator: "?").first))
            let shown = try await Curl.program.run(["-s", "-b", jar, "\(base)api/status"]).json
            let policy = try #require(shown["endpoints"]?[0]?["policy"])
            let command = try await status(daemon)
            for name in ["device", "serving", "servingSince", "stage", "withdrawn", "refused"] {
                #expect(policy[name] == command[name], "\(name): \(policy)")
            }
            #expect(policy["servingSince"]?.string != nil && policy["refused"]?.string?.contains("ring beta") == true)
            let text = try await Program.sluice("policy", "status", "--config", daemon.config)
            #expect(text.output.contains("refused: it is for devices with ring beta"), "\(text)")
        }
    }

    @Test("a daemon of another store that names the same folder says whose it is, and ends")
    func sameFolder() async throws {
        try await withDevice("  trial: 0s") { daemon, _, server, scratch in
            let text = try String(contentsOfFile: daemon.config, encoding: .utf8)
            let other = try scratch.write("other.yaml", text.replacing("store: local.db", with: "store: other.db"))
            let second = try await Program.sluice("daemon", "--config", other)
            #expect(second.status != 0 && second.errors.contains("process id \(daemon.pid)"), "\(second)")
            #expect(second.errors.contains("each daemon needs a policy.folder of its own"), "\(second)")
            try await until("the first one goes on") { try await status(daemon)["serving"] == 1 }
            #expect(try await daemon.ctl("reload").status == 0)
            let one = "endpoint: \(server.endpoint)\nstore: local.db\n"
            let endpoints = ["a", "b"].map { "  \($0): { endpoint: \"\(server.endpoint)\", store: \($0).db }\n" }
            let both = try scratch.write(
                "both.yaml", text.replacing(one, with: "endpoints:\n\(endpoints.joined())"))
            let check = try await Program.sluice("config", "check", "--config", both)
            #expect(check.status == 2 && check.errors.contains("have the same policy.folder"), "\(check)")
        }
    }

    @Test("a publisher signs twice, tells two versions apart, and widens one in steps")
    func publishes() async throws {
        try await withScratch { scratch in
            for name in ["shops", "second"] {
                #expect(try await Program.sluice("policy", "keygen", scratch.file(name)).status == 0)
            }
            try await publish(1, fails: false, scratch)
            let file = scratch.file("www/policy.json")
            try FileManager.default.copyItem(atPath: file, toPath: scratch.file("first.json"))
            let keys = ["--key", scratch.file("shops.key"), "--key", scratch.file("second.key"), "--required", "2"]
            #expect(try await Program.sluice.run(["policy", "verify", file] + keys).status == 1)
            let signed = try await Program.sluice("policy", "sign", file, "--key", scratch.file("second.signer"))
            #expect(signed.status == 0, "\(signed)")
            #expect(try await Program.sluice.run(["policy", "verify", file] + keys).status == 0)
            // Its steps would lose a signature in silence.
            let served = try await Program.sluice(
                "policy", "rollout", file, "--key", scratch.file("shops.signer"), "--serve", scratch.file("served"))
            #expect(served.status == 2 && !FileManager.default.fileExists(atPath: scratch.file("served")))
            try await publish(2, fails: true, scratch)
            let difference = try await Program.sluice("policy", "diff", scratch.file("first.json"), file)
            #expect(difference.output == "files: rules/main.lua changes\n", "\(difference)")
            let steps = try await Program.sluice(
                "policy", "rollout", file, "--key", scratch.file("shops.signer"), "--steps", "1%,50%,100%", "--into",
                scratch.file("www"), "--serve", scratch.file("served"), "--wait", "1ms")
            #expect(steps.status == 0, "\(steps)")
            let last = try Data(contentsOf: URL(fileURLWithPath: scratch.file("www/shops-2-step3.json")))
            #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("served"))) == last)
            let shrinking = try await Program.sluice(
                "policy", "rollout", file, "--key", scratch.file("shops.signer"), "--steps", "10%,1%")
            #expect(shrinking.status == 2)
        }
    }
}
