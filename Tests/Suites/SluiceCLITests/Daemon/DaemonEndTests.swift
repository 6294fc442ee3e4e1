import Foundation
import Sluice
import Testing

@Suite("A daemon's start and end", .timeLimit(.minutes(5)))
struct DaemonEndTests {
    @Test("a token's program that hangs keeps the daemon from no answer and from no end, and does not outlive it")
    func hangingToken() async throws {
        try await withServer { server, scratch in
            let pid = scratch.file("pid")
            let script = try scratch.write("hang.sh", "#!/bin/sh\nsleep 300 &\necho $$ $! > \(pid)\nwait\n")
            chmod(script, 0o700)
            let config = try scratch.write(
                "daemon.yaml",
                "endpoint: \(server.endpoint)\nstore: local.db\ntables: { notes: }\ntoken-command: [\(script)]\n")
            let daemon = try await DaemonProcess(scratch, config: config, waits: false)
            try await until("the program runs") {
                (FileManager.default.contents(atPath: pid)?.count ?? 0) > 3
            }
            try await until("the daemon answers") { try await daemon.ctl("status").status == 0 }
            #expect(try await daemon.status()["state"] == "starting")
            let start = ContinuousClock.now
            #expect(try await daemon.stop() == 0)
            #expect(ContinuousClock.now - start < .seconds(5))
            let text = String(decoding: FileManager.default.contents(atPath: pid) ?? Data(), as: UTF8.self)
            let processes = text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
            #expect(processes.count == 2)
            try await until("the program and what it started are gone") {
                processes.allSatisfy { kill($0, 0) != 0 || Self.isZombie($0) }
            }
        }
    }

    /// Whether a process has ended, and nobody has asked for it.
    private static func isZombie(_ process: Int32) -> Bool {
        let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
        return String(decoding: status, as: UTF8.self).contains(") Z ")
    }

    /// A server of tables that takes a moment for each change.
    private static let slow = """
        import http.server, json, time
        class Tables(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self): self.answer(200, b"[]")
            def do_POST(self):
                record = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(0.3)
                print("sent", flush=True)
                self.answer(201, json.dumps(dict(record, version="1", updatedAt="2026-01-01T00:00:00.000Z", deleted=False)).encode())
            def log_message(self, *a): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tables)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    @Test("SIGTERM lets the request that is under way end, and sends nothing more")
    func ends() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.slow)
            defer { server.stop() }
            let config = try scratch.write(
                "daemon.yaml",
                "endpoint: http://127.0.0.1:\(server.port)\nstore: local.db\nbatch: 1\ntables: { notes: }\n"
                    + "schedule: { spread: 0s, change-delay: 10ms, on-event: false }\n")
            let daemon = try await DaemonProcess(scratch, config: config)
            let rows = try scratch.write("rows.jsonl", (0..<60).map { "{\"id\":\"r\($0)\"}" }.joined(separator: "\n"))
            #expect(try await Program.sluice("import", "notes", rows, "--config", config).status == 0)
            try await until("some were sent") { server.lines.count > 2 }
            let before = server.lines.count
            let start = ContinuousClock.now
            #expect(try await daemon.stop() == 0)
            #expect(ContinuousClock.now - start < .seconds(3))
            #expect(server.lines.count <= before + 2, "\(server.lines.count - before) after it")
            // What was answered counts as sent, and the rest waits.
            let queue = try await Program.sluice("queue", "list", "--config", config, "--json").json
            #expect(queue["count"]?.int == Int64(60 - server.lines.count))
            #expect(queue["operations"]?.elements?.allSatisfy { $0["state"] == "pending" } == true, "\(queue)")
        }
    }

    @Test("a command ends through the daemon as it does without one", arguments: [("denied", 4), ("missing", 2)])
    func codes(table: String, code: Int32) async throws {
        try await withScratch { scratch in
            let backend = try scratch.write(
                "backend.yaml",
                "database: \"sqlite::memory:\"\nauth: { secretVariable: PATH }\n"
                    + "tables: { denied: { access: authenticated } }\n")
            let server = try await ServeProcess(scratch, config: backend)
            try scratch.write("token", "a.b.c")
            chmod(scratch.file("token"), 0o600)
            let config = try scratch.write(
                "daemon.yaml",
                "endpoint: \(server.endpoint)\nstore: local.db\ntables: { \(table): }\n"
                    + (table == "denied" ? "token-file: token\n" : "")
                    + "schedule: { interval: 1h, on-event: false }\n")
            #expect(try await Program.sluice("sync", "--config", config).status == code)
            let daemon = try await DaemonProcess(scratch, config: config)
            let asked = try await daemon.ctl("sync")
            #expect(asked.status == code, "\(asked)")
            let through = try await Program.sluice("sync", "--config", config)
            #expect(through.status == code, "\(through)")
            #expect(through.errors.contains(table), "\(through)")
            #expect(try await daemon.stop() == 0)
            try await server.stop()
        }
    }
}
