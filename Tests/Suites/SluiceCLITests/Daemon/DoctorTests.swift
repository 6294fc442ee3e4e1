import Foundation
import Sluice
import Testing

@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
    private static func finding(_ result: Program.Result, _ subject: String) throws -> JSON? {
        try result.json["findings"]?.elements?.first { $0["subject"]?.string == subject }
    }

    @Test("equal copies are found equal by digest; a row that differs is named, and nothing is changed")
    func compares() async throws {
        try await withServer { server, scratch in
            let here = ["--store", scratch.file("a.db"), "--endpoint", server.endpoint, "--json"]
            let other = ["--store", scratch.file("b.db"), "--endpoint", server.endpoint]
            for id in ["a", "b", "c"] {
                _ = try await Program.sluice.run(["insert", "notes", #"{"id":"\#(id)","text":"x"}"#] + here)
            }
            #expect(try await Program.sluice.run(["sync", "notes"] + here).status == 0)
            chmod(scratch.file("a.db"), 0o600)
            let well = try await Program.sluice.run(["doctor"] + here)
            #expect(well.status == 0, "\(well)")
            let equal = try Self.finding(well, "rows of notes")
            #expect(equal?["grade"] == "good")
            #expect(equal?["text"]?.string?.contains("3 rows compared by digests") == true, "\(well)")
            #expect(try Self.finding(well, "clock")?["grade"] == "good")

            _ = try await Program.sluice.run(["sync", "notes"] + other)
            _ = try await Program.sluice.run(["update", "notes", "b", #"{"text":"y"}"#] + other)
            _ = try await Program.sluice.run(["delete", "notes", "c"] + other)
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"d"}"#] + other)
            _ = try await Program.sluice.run(["push"] + other)
            let ill = try await Program.sluice.run(["doctor"] + here)
            #expect(ill.status == 5, "\(ill)")
            let text = try Self.finding(ill, "rows of notes")?["text"]?.string ?? ""
            #expect(text.contains("1 row missing here (d)"), "\(text)")
            #expect(text.contains("1 row of another version (b)"), "\(text)")
            #expect(text.contains("1 row unknown to the server (c)"), "\(text)")
            // It reads only: the row is as it was.
            #expect(try await Program.sluice.run(["get", "notes", "b"] + here).json["text"] == "x")
            _ = try await Program.sluice.run(["sync", "notes"] + here)
            #expect(try await Program.sluice.run(["doctor"] + here).status == 0)
        }
    }

    @Test("a change that waits is no difference to mend")
    func waits() async throws {
        try await withServer { server, scratch in
            let here = ["--store", scratch.file("a.db"), "--endpoint", server.endpoint, "--json"]
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"a","text":"x"}"#] + here)
            #expect(try await Program.sluice.run(["sync", "notes"] + here).status == 0)
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"new"}"#] + here)
            _ = try await Program.sluice.run(["delete", "notes", "a"] + here)
            let result = try await Program.sluice.run(["doctor"] + here)
            #expect(result.status == 0, "\(result)")
            let text = try Self.finding(result, "rows of notes")?["text"]?.string ?? ""
            #expect(text.contains("2 rows differ, as their changes wait"), "\(text)")
        }
    }

    @Test("a server that is away, and a store that others may read, are told with what to do")
    func faults() async throws {
        try await withServer { server, scratch in
            let here = ["--store", scratch.file("a.db"), "--endpoint", server.endpoint, "--json"]
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"a"}"#] + here)
            #expect(try await Program.sluice.run(["sync", "notes"] + here).status == 0)
            chmod(scratch.file("a.db"), 0o644)
            try await server.stop()
            let result = try await Program.sluice.run(["doctor"] + here)
            #expect(result.status == 3, "\(result)")
            #expect(try Self.finding(result, "server")?["area"] == "network")
            #expect(try Self.finding(result, "server")?["advice"] != JSON.null)
            #expect(try Self.finding(result, "store file")?["grade"] == "warning")
            #expect(try Self.finding(result, "store file")?["advice"]?.string?.hasPrefix("chmod 600") == true)
        }
    }

    @Test("a record's copies are marked where they differ, and nowhere else")
    func marks() async throws {
        try await withServer { server, scratch in
            let other = ["--store", scratch.file("b.db"), "--endpoint", server.endpoint]
            let here = ["--store", scratch.file("a.db"), "--endpoint", server.endpoint]
            func run(_ arguments: [String]) async throws -> [String] {
                let result = try await Program.sluice.run(arguments)
                return result.output.split(separator: "\n").filter { $0.hasPrefix("*") }.map {
                    String($0.dropFirst().split(separator: " ").first ?? "")
                }
            }
            _ = try await run(["insert", "notes", #"{"id":"a","title":"x","stock":1,"due":null}"#] + other)
            _ = try await run(["push"] + other)
            _ = try await run(["sync", "notes"] + here)
            #expect(try await run(["explain", "notes", "a"] + here).isEmpty)
            #expect(try await run(["explain", "notes", "a", "--ask"] + here).isEmpty)
            _ = try await run(["update", "notes", "a", #"{"title":"theirs"}"#] + other)
            _ = try await run(["push"] + other)
            _ = try await run(["update", "notes", "a", #"{"title":"mine"}"#] + here)
            _ = try await run(["push"] + here)
            let queue = try await Program.sluice.run(["queue", "list", "--json"] + here)
            let id = try JSON(parsing: queue.output)["operations"]?[0]?["id"]?.string ?? ""
            let marked = try await run(["queue", "show", id] + here)
            #expect(marked.contains("title") && !marked.contains("stock") && !marked.contains("due"), "\(marked)")
        }
    }

    @Test("of a named query its own rows are compared, and one that left it at the server is told")
    func filtered() async throws {
        try await withServer { server, scratch in
            let other = ["--store", scratch.file("b.db"), "--endpoint", server.endpoint]
            for (id, text) in [("a", "x"), ("b", "x"), ("c", "y")] {
                _ = try await Program.sluice.run(["insert", "notes", #"{"id":"\#(id)","text":"\#(text)"}"#] + other)
            }
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            let config = try scratch.write(
                "sync.yaml",
                """
                endpoint: \(server.endpoint)
                store: a.db
                tables: { notes: { columns: { text: string } } }
                queries: { own: { table: notes, filter: "text eq 'x'" } }
                """)
            let here = ["--config", config, "--json"]
            let sync = try await Program.sluice.run(["sync"] + here)
            #expect(sync.status == 0, "\(sync)")
            chmod(scratch.file("a.db"), 0o600)
            let well = try await Program.sluice.run(["doctor"] + here)
            #expect(well.status == 0, "\(well)")
            let text = try Self.finding(well, "rows of notes")?["text"]?.string ?? ""
            #expect(text.contains("2 rows compared"), "\(text)")
            // Rows of others are none of the query's business; one that left it is.
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"d","text":"y"}"#] + other)
            _ = try await Program.sluice.run(["pull", "notes"] + other)
            _ = try await Program.sluice.run(["update", "notes", "b", #"{"text":"y"}"#] + other)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            let ill = try await Program.sluice.run(["doctor"] + here)
            #expect(ill.status == 5, "\(ill)")
            let told = try Self.finding(ill, "rows of notes")?["text"]?.string ?? ""
            #expect(told.contains("(b)") && !told.contains("(d") && !told.contains("(c"), "\(told)")
        }
    }

    @Test("without digests all ids and versions are listed, page by page")
    func lists() async throws {
        try await withServer { server, scratch in
            // Stands before the server and knows of no digests.
            let door = try await PythonServer(
                scratch,
                """
                import http.client, http.server, sys
                class Door(http.server.BaseHTTPRequestHandler):
                    protocol_version = "HTTP/1.1"
                    def pass_on(self):
                        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                        server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
                        if "digest" in self.path:
                            print("digest", flush=True)
                            return self.give(404, {"Content-Type": "application/json"}, b"{}")
                        server.request(self.command, self.path, body, dict(self.headers))
                        answer = server.getresponse()
                        drop = ("transfer-encoding", "content-length")
                        fields = {k: v for k, v in answer.getheaders() if k.lower() not in drop}
                        self.give(answer.status, fields, answer.read())
                    def give(self, status, fields, body):
                        self.send_response(status)
                        for name, value in fields.items(): self.send_header(name, value)
                        self.send_header("Content-Length", str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)
                    do_GET = do_POST = do_PATCH = do_DELETE = pass_on
                    def log_message(self, *a): pass
                door = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
                print(door.server_address[1], flush=True)
                door.serve_forever()
                """, ["\(server.port)"])
            defer { door.stop() }
            let here = [
                "--store", scratch.file("a.db"), "--endpoint", "http://127.0.0.1:\(door.port)", "--json",
            ]
            for id in ["a", "b", "c"] {
                _ = try await Program.sluice.run(["insert", "notes", #"{"id":"\#(id)"}"#] + here)
            }
            #expect(try await Program.sluice.run(["sync", "notes"] + here).status == 0)
            chmod(scratch.file("a.db"), 0o600)
            let well = try await Program.sluice.run(["doctor"] + here)
            #expect(well.status == 0, "\(well)")
            let text = try Self.finding(well, "rows of notes")?["text"]?.string ?? ""
            #expect(text.contains("3 rows compared by a list of all ids and versions"), "\(text)")
            let other = ["--store", scratch.file("b.db"), "--endpoint", server.endpoint]
            _ = try await Program.sluice.run(["sync", "notes"] + other)
            _ = try await Program.sluice.run(["delete", "notes", "c"] + other)
            _ = try await Program.sluice.run(["update", "notes", "a", #"{"text":"y"}"#] + other)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            let ill = try await Program.sluice.run(["doctor"] + here)
            let told = try Self.finding(ill, "rows of notes")?["text"]?.string ?? ""
            #expect(ill.status == 5 && told.contains("(a)") && told.contains("(c)"), "\(ill)")
        }
    }

    @Test("the server is asked also where nothing was pulled from it, and where no table is known")
    func asksAlways() async throws {
        try await withServer { server, scratch in
            let store = ["--store", scratch.file("a.db"), "--json"]
            #expect(
                try await Program.sluice.run(["sync", "notes", "--endpoint", server.endpoint] + store).status == 0)
            chmod(scratch.file("a.db"), 0o600)
            let down = try await Program.sluice.run(["doctor", "--endpoint", "http://127.0.0.1:1"] + store)
            #expect(down.status == 3, "\(down)")
            let empty = ["--store", scratch.file("b.db"), "--json"]
            #expect(try await Program.sluice.run(["queue", "import", "-"] + empty).status == 0)
            chmod(scratch.file("b.db"), 0o600)
            let there = try await Program.sluice.run(["doctor", "--endpoint", server.endpoint] + empty)
            #expect(there.status == 0, "\(there)")
            let away = try await Program.sluice.run(["doctor", "--endpoint", "http://127.0.0.1:1"] + empty)
            #expect(away.status == 3, "\(away)")
        }
    }

    @Test("a login page is no answer of the server, and rows that a program pulled by a name are named")
    func loginPage() async throws {
        try await withServer { server, scratch in
            let there = ["--store", scratch.file("a.db"), "--json", "--endpoint"]
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"a"}"#] + there + [server.endpoint])
            _ = try await Program.sluice.run(["pull", "notes", "--query", "mine"] + there + [server.endpoint])
            chmod(scratch.file("a.db"), 0o600)
            let named = try await Program.sluice.run(["doctor"] + there + [server.endpoint])
            let text = try Self.finding(named, "rows")?["text"]?.string ?? ""
            #expect(named.status == 0 && text.contains("mine of notes"), "\(named)")
            let login = try await PythonServer(
                scratch,
                """
                import http.server
                class Login(http.server.BaseHTTPRequestHandler):
                    def do_GET(self):
                        body = b"<!DOCTYPE html><html><body>Log in</body></html>"
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)
                    def log_message(self, *a): pass
                server = http.server.HTTPServer(("127.0.0.1", 0), Login)
                print(server.server_address[1], flush=True)
                server.serve_forever()
                """)
            defer { login.stop() }
            let caught = try await Program.sluice.run(["doctor"] + there + ["http://127.0.0.1:\(login.port)"])
            #expect(caught.status == 5, "\(caught)")
            let answer = try Self.finding(caught, "server")?["text"]?.string ?? ""
            #expect(answer.contains("login page"), "\(caught)")
        }
    }

    @Test("a token that is refused ends with 4, and a store that is none with 6")
    func codes() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(
                scratch,
                """
                import http.server
                class Closed(http.server.BaseHTTPRequestHandler):
                    def do_GET(self):
                        self.send_response(401)
                        self.send_header("Content-Length", "0")
                        self.end_headers()
                    def log_message(self, *a): pass
                server = http.server.HTTPServer(("127.0.0.1", 0), Closed)
                print(server.server_address[1], flush=True)
                server.serve_forever()
                """)
            defer { server.stop() }
            let here = [
                "--store", scratch.file("a.db"), "--endpoint", "http://127.0.0.1:\(server.port)", "--json",
            ]
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"a"}"#] + here)
            chmod(scratch.file("a.db"), 0o600)
            let refused = try await Program.sluice.run(["doctor"] + here)
            #expect(refused.status == 4, "\(refused)")
            #expect(try Self.finding(refused, "server")?["advice"]?.string?.contains("token") == true)
            let broken = try scratch.write("broken.db", String(repeating: "no database", count: 1000))
            chmod(broken, 0o600)
            let result = try await Program.sluice.run(
                ["doctor", "--store", broken, "--endpoint", "http://127.0.0.1:\(server.port)", "--json"])
            #expect(result.status == 6, "\(result)")
        }
    }

    @Test("a record's story has its copies, its change and what was done to it, in order")
    func explains() async throws {
        try await withServer { server, scratch in
            let here = ["--store", scratch.file("a.db"), "--endpoint", server.endpoint, "--json"]
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"a","text":"one"}"#] + here)
            _ = try await Program.sluice.run(["sync", "notes"] + here)
            _ = try await Program.sluice.run(["update", "notes", "a", #"{"text":"two"}"#] + here)
            _ = try await Program.sluice.run(["queue", "undo", "notes", "a"] + here)
            _ = try await Program.sluice.run(["update", "notes", "a", #"{"text":"three"}"#] + here)
            let story = try await Program.sluice.run(["explain", "notes", "a"] + here).json
            #expect(story["local"]?["text"] == "three")
            #expect(story["base"]?["text"] == "one")
            let events = story["events"]?.elements ?? []
            #expect(events.map { $0["what"]?.string } == ["audit", "change"], "\(story)")
            #expect(events.first?["text"]?.string?.contains("undo") == true, "\(story)")
            let asked = try await Program.sluice.run(["explain", "notes", "a", "--ask"] + here).json
            #expect(asked["server"]?["text"] == "one")
            #expect(try await Program.sluice.run(["explain", "notes", "nobody"] + here).status == 2)
        }
    }

    @Test("with a daemon, the story comes from it, and doctor looks at it")
    func daemon() async throws {
        try await withDaemon("schedule: { interval: 1h, on-change: false, spread: 1h }") { daemon, _, scratch in
            let here = ["--config", daemon.config]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"a b"}"#] + here).status == 0)
            let story = try await Program.sluice.run(["explain", "notes", "a b", "--json"] + here).json
            #expect(story["local"]?["id"] == "a b")
            let doctor = try await Program.sluice.run(["doctor", "--json"] + here)
            #expect(try Self.finding(doctor, "daemon")?["grade"] == "good", "\(doctor)")
        }
    }
}
