import Foundation
import Sluice
import Testing

/// Settings of the daemon, each shown to do what it says by a running one.
@Suite(.timeLimit(.minutes(5))) struct DaemonSettingsTests {
    private func insert(_ id: String, _ daemon: DaemonProcess) async throws {
        let result = try await Program.sluice("insert", "notes", #"{"id":"\#(id)"}"#, "--config", daemon.config)
        #expect(result.status == 0, "\(result)")
    }

    private func pending(_ daemon: DaemonProcess) async throws -> Int64? {
        try await daemon.status()["endpoints"]?[0]?["queue"]?["pending"]?.int
    }

    /// Another device writes a row and sends it.
    private func writeElsewhere(_ id: String, _ server: ServeProcess, _ scratch: Scratch) async throws {
        let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
        #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"\#(id)"}"#] + other).status == 0)
        #expect(try await Program.sluice.run(["push"] + other).status == 0)
    }

    private func isHere(_ id: String, _ daemon: DaemonProcess) async throws -> Bool {
        try await Program.sluice("get", "notes", id, "--config", daemon.config).status == 0
    }

    /// How many runs there were, well or badly.
    private func runs(_ metrics: String) -> Int {
        metrics.split(separator: "\n").filter { $0.hasPrefix("sluice_sync_runs_total") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test("schedule.interval brings rows by itself; without on-event nothing else does")
    func interval() async throws {
        try await withDaemon("schedule: { spread: 0s, interval: 1h, on-event: false }") { daemon, server, scratch in
            #expect(try await daemon.ctl("sync").status == 0)
            try await writeElsewhere("far", server, scratch)
            try await Task.sleep(for: .seconds(2))
            #expect(try await !isHere("far", daemon))
        }
        try await withDaemon("schedule: { spread: 0s, interval: 1s, on-event: false }") { daemon, server, scratch in
            try await writeElsewhere("far", server, scratch)
            try await until("the row comes with the interval") { try await isHere("far", daemon) }
        }
    }

    @Test("metrics.port serves what sluice ctl metrics prints, and nothing else")
    func metrics() async throws {
        try await withDaemon("metrics: { port: 0 }\nschedule: { spread: 0s }") { daemon, _, _ in
            try await until("the port is logged") { daemon.log.contains("metrics are served") }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("metrics are served") })
            let address = try #require(line.split(separator: "address=").last?.split(separator: " ").first)
            #expect(try await daemon.ctl("sync").status == 0)
            let text = try await Curl.program.run(["-s", String(address)]).output
            #expect(text.contains("sluice_sync_runs_total"))
            let other = try await Curl.program.run(["-si", String(address).replacing("/metrics", with: "/status")])
                .output
            #expect(other.contains(" 404 "))
            let rebound = try await Curl.program.run(["-si", "-H", "Host: x.example", String(address)]).output
            #expect(rebound.contains(" 421 "))
        }
    }

    @Test("outside of schedule.windows nothing runs by itself, and who asks is served")
    func windows() async throws {
        let minute = { (date: Date) -> String in
            let parts = Calendar.current.dateComponents([.hour, .minute], from: date)
            return String(format: "%02d:%02d", parts.hour ?? 0, parts.minute ?? 0)
        }
        let (begin, end) = (minute(.now.addingTimeInterval(7200)), minute(.now.addingTimeInterval(10_800)))
        try await withDaemon(
            "schedule: { spread: 0s, interval: 1s, change-delay: 10ms, windows: [\"\(begin)-\(end)\"] }"
        ) { daemon, _, _ in
            try await insert("a", daemon)
            try await Task.sleep(for: .seconds(2))
            #expect(try await pending(daemon) == 1)
            #expect(try await daemon.ctl("sync").status == 0)
            #expect(try await pending(daemon) == 0)
        }
    }

    @Test("without schedule.on-change a write waits for a run")
    func onChange() async throws {
        try await withDaemon(
            "schedule: { spread: 0s, interval: 1h, change-delay: 10ms, on-change: false, on-event: false }"
        ) { daemon, _, _ in
            #expect(try await daemon.ctl("sync").status == 0)
            try await insert("a", daemon)
            try await Task.sleep(for: .seconds(2))
            #expect(try await pending(daemon) == 1)
        }
    }

    @Test("schedule.first-pause and longest-pause say how soon a server that is away is tried again")
    func pauses() async throws {
        /// How many runs have failed three seconds after there were so many.
        func failures(_ pauses: String, after least: Int) async throws -> Int {
            try await withScratch { scratch in
                let config = try scratch.write(
                    "daemon.yaml",
                    "endpoint: http://127.0.0.1:9\nstore: local.db\ntables: { notes: }\nretry: { attempts: 1 }\n"
                        + "schedule: { spread: 0s, on-event: false, \(pauses) }\n")
                let daemon = try await DaemonProcess(scratch, config: config)
                func count() async throws -> Int {
                    runs(try await Program.sluice("ctl", "metrics", "--config", config).output)
                }
                try await until("\(least) runs have failed") { try await count() >= least }
                try await Task.sleep(for: .seconds(3))
                let failed = try await count()
                try await daemon.stop()
                return failed
            }
        }
        #expect(try await failures("first-pause: 1h, longest-pause: 1d", after: 1) == 1)
        // A first pause of a day, and none longer than a tenth of a second.
        #expect(try await failures("first-pause: 1d, longest-pause: 100ms", after: 6) > 5)
    }

    @Test(
        "schedule.on-network has a run follow when a link comes up",
        .enabled(if: Namespace.isAllowed, "needs a network namespace of its own"))
    func onNetwork() async throws {
        func runs(_ flag: Bool) async throws -> Int {
            try await withScratch { scratch in
                let config = try scratch.write(
                    "daemon.yaml",
                    "endpoint: http://127.0.0.1:9\nstore: local.db\ntables: { notes: }\nretry: { attempts: 1 }\n"
                        + "schedule: { spread: 0s, first-pause: 1d, longest-pause: 1d, on-event: false, "
                        + "on-network: \(flag) }\n")
                let script = """
                    ip link set lo up
                    "$0" daemon --config "$1" 2>"$2/log" & daemon=$!
                    for i in $(seq 300); do "$0" ctl status --config "$1" >/dev/null 2>&1 && break; sleep 0.1; done
                    sleep 1
                    ip link add name dummy0 type dummy 2>/dev/null && ip addr add 10.9.8.7/24 dev dummy0 &&
                        ip link set dummy0 up || ip addr add 127.9.8.7/8 dev lo
                    sleep 2
                    "$0" ctl metrics --config "$1"
                    kill $daemon; wait $daemon
                    """
                let result = try await Namespace.unshare.run([
                    "-rn", "sh", "-c", script, Program.sluice.path, config, scratch.path,
                ])
                return self.runs(result.output)
            }
        }
        #expect(try await runs(false) == 1)
        #expect(try await runs(true) > 1)
    }

    @Test("control.socket is where it is listened, and control.users and group say who else is answered")
    func control() async throws {
        let ask = Program(path: "/usr/bin/env")
        func requireStatus(
            _ socket: String, of user: String?, _ expected: String, _ place: SourceLocation = #_sourceLocation
        ) async throws {
            let curl = [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket,
                "http://localhost/status",
            ]
            let way = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
            let found = try await ask.run(way + curl).output
            #expect(found == expected, sourceLocation: place)
        }
        // A folder that other users may go through.
        let folder = "/tmp/sluice-control-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let socket = "\(folder)/own.sock"
        try await withDaemon("control: { socket: \(socket) }") { daemon, _, scratch in
            try await requireStatus(socket, of: nil, "200")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("local.db.sock")))
            if geteuid() == 0 { try await requireStatus(socket, of: "65534", "000") }
        }
        guard geteuid() == 0 else { return }
        try await withDaemon("control: { socket: \(socket), users: [nobody] }") { _, _, _ in
            try await requireStatus(socket, of: "65534", "200")
            // Whoever is not listed is told so by the daemon, whatever the file's mode is.
            try await requireStatus(socket, of: "2", "403")
        }
        try await withDaemon("control: { socket: \(socket), group: bin }") { _, _, _ in
            try await requireStatus(socket, of: "2", "200")
            try await requireStatus(socket, of: "65534", "000")
        }
    }

    @Test("without watch a changed file waits for a reload that is asked for")
    func watch() async throws {
        try await withDaemon("watch: false\nschedule: { interval: 1h }") { daemon, _, scratch in
            let text = try String(contentsOfFile: daemon.config, encoding: .utf8)
            try (text + "\nwrong: 1\n").write(toFile: daemon.config, atomically: true, encoding: .utf8)
            try await Task.sleep(for: .seconds(3))
            // The file does not say any more where the daemon is.
            #expect(try await daemon.ctl("status").output.contains("--socket"))
            let socket = ["--socket", scratch.file("local.db.sock"), "--json"]
            let status = try await Program.sluice.run(["ctl", "status"] + socket).json
            #expect(status["configuration"]?["refused"] == JSON.null)
            #expect(try await Program.sluice.run(["ctl", "reload"] + socket).status == 2)
        }
    }

    @Test("shutdown-time bounds what a request under way may take")
    func shutdown() async throws {
        try await withScratch { scratch in
            /// A daemon whose pull gets no answer.
            func waiting(_ name: String, _ time: String) async throws -> (DaemonProcess, PythonServer) {
                let silent = try await PythonServer(
                    scratch,
                    """
                    import socket
                    server = socket.create_server(("127.0.0.1", 0))
                    print(server.getsockname()[1], flush=True)
                    kept = []
                    while True:
                        kept.append(server.accept()[0])
                        print("asked", flush=True)
                    """)
                let config = try scratch.write(
                    "\(name).yaml",
                    "endpoint: http://127.0.0.1:\(silent.port)\nstore: \(name).db\ntables: { notes: }\n"
                        + "schedule: { spread: 0s, on-event: false }\nshutdown-time: \(time)\n")
                let daemon = try await DaemonProcess(scratch, config: config)
                try await until("the server was asked") { !silent.lines.isEmpty }
                return (daemon, silent)
            }
            let (short, first) = try await waiting("short", "2s")
            let (long, second) = try await waiting("long", "1h")
            defer {
                kill(long.pid, SIGKILL)
                first.stop()
                second.stop()
            }
            kill(long.pid, SIGTERM)
            let start = ContinuousClock.now
            #expect(try await short.stop() == 0)
            let time = start.duration(to: .now)
            #expect(time > .seconds(1), "\(time)")
            // Both have been asked to end; with one time for both they would do so side by side.
            try await Task.sleep(for: .seconds(3))
            #expect(long.isRunning)
        }
    }

    @Test("oauth.token-url is asked with client-id, secret, scope and refresh token, and the server gets what it gives")
    func oauth() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(
                scratch,
                """
                import http.server
                class Server(http.server.BaseHTTPRequestHandler):
                    def give(self, body):
                        self.send_response(200)
                        self.send_header("Content-Type", "application/json")
                        self.send_header("Content-Length", str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)
                    def do_POST(self):
                        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                        print(self.path, self.headers["Authorization"], form, flush=True)
                        self.give(b'{"access_token": "granted"}')
                    def do_GET(self):
                        print("tables", self.headers["Authorization"], flush=True)
                        self.give(b"[]")
                    def log_message(self, *a): pass
                server = http.server.HTTPServer(("127.0.0.1", 0), Server)
                print(server.server_address[1], flush=True)
                server.serve_forever()
                """)
            defer { server.stop() }
            try scratch.write("secret", "open-sesame\n")
            try scratch.write("refresh", "again")
            func pull(_ more: String) async throws {
                let config = try scratch.write(
                    "sync.yaml",
                    """
                    endpoint: http://127.0.0.1:\(server.port)
                    store: local.db
                    tables: { notes: }
                    oauth: { token-url: "http://127.0.0.1:\(server.port)/token", client-id: shop, \(more) }
                    """)
                let result = try await Program.sluice("pull", "notes", "--config", config)
                #expect(result.status == 0, "\(result)")
            }
            try await pull("client-secret-file: secret, scope: notes")
            // shop:open-sesame, by HTTP Basic.
            let basic = "Basic c2hvcDpvcGVuLXNlc2FtZQ=="
            #expect(server.lines.first == "/token \(basic) grant_type=client_credentials&scope=notes")
            #expect(server.lines.dropFirst().allSatisfy { $0 == "tables Bearer granted" })
            #expect(server.lines.count > 1)
            try await pull("refresh-token-file: refresh")
            let asked = server.lines.last { $0.hasPrefix("/token") }
            #expect(asked == "/token None grant_type=refresh_token&refresh_token=again&client_id=shop")
        }
    }

    @Test("log.level says what is logged, and log.form how a line is written")
    func log() async throws {
        func lines(_ settings: String) async throws -> [String] {
            try await withDaemon("log: { \(settings) }") { daemon, _, _ in
                #expect(try await daemon.ctl("sync").status == 0)
                try await daemon.stop()
                return daemon.log.split(separator: "\n").map(String.init)
            }
        }
        #expect(try await lines("level: error").isEmpty)
        #expect(try await lines("level: debug").contains { $0.contains(" debug ") })
        let plain = try await lines("form: text")
        #expect(!plain.isEmpty && plain.allSatisfy { !$0.contains(" debug ") })
        let json = try await lines("form: json")
        #expect(try !json.isEmpty && json.allSatisfy { try JSON(parsing: $0)["level"]?.string != nil })
        // The priority that journald reads.
        let journal = try await lines("form: journald")
        #expect(!journal.isEmpty && journal.allSatisfy { $0.hasPrefix("<") && $0.dropFirst(2).hasPrefix(">") })
    }
}

/// A network of its own, where the machine allows one.
enum Namespace {
    static let unshare = Program(path: "/usr/bin/unshare")

    static let isAllowed: Bool = {
        guard FileManager.default.fileExists(atPath: "/usr/bin/unshare") else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-rn", "sh", "-c", "command -v ip && ip link set lo up && ip addr add 127.9.9.9/8 dev lo"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
