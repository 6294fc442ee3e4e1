import Foundation
import Sluice
import Testing

@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
    private static let settings = """
        schedule: { spread: 0s, interval: 1s, change-delay: 10ms, longest-pause: 100ms }
        gateway: { socket: gateway.sock }
        """

    @Test("a client reads and writes without a network, and what it wrote reaches the server")
    func offline() async throws {
        try await withDaemon(Self.settings) { daemon, server, scratch in
            let curl = Curl(base: ["--unix-socket", scratch.file("gateway.sock"), "http://localhost"])
            try await server.stop()
            let made = try await curl("POST", "/tables/notes", #"{"id":"a","text":"x"}"#)
            #expect(made.status == 201 && made.body["text"] == "x", "\(made)")
            #expect(made.headers["x-sluice-pending"] == "1" && made.headers["x-sluice-source"] == "local")
            let first = try #require(made.headers["etag"])
            #expect(try await curl("POST", "/tables/notes", #"{"id":"a"}"#).status == 409)
            let changed = try await curl("PATCH", "/tables/notes/a", #"{"text":"y"}"#, "If-Match: \(first)")
            let second = try #require(changed.headers["etag"])
            #expect(changed.body["text"] == "y" && second != first)
            // What another client wrote here meanwhile is not overwritten, and not taken for known.
            let stale = try await curl("PATCH", "/tables/notes/a", #"{"text":"stale"}"#, "If-Match: \(first)")
            #expect(stale.status == 412 && stale.body["text"] == "y" && stale.headers["etag"] == second)
            #expect(try await curl("DELETE", "/tables/notes/a", nil, "If-Match: \(first)").status == 412)
            let read = try await curl("GET", "/tables/notes/a", nil, "If-None-Match: \(first)")
            #expect(read.status == 200 && read.body["text"] == "y" && read.headers["etag"] == second)
            #expect(try await curl("GET", "/tables/notes/a", nil, "If-None-Match: \(second)").status == 304)
            let list = try await curl("GET", "/tables/notes?$filter=text%20eq%20'y'&$inlinecount=allpages")
            #expect(list.body["count"] == 1 && list.body["results"]?[0]?["id"] == "a", "\(list)")
            #expect(try await curl("GET", "/tables/notes/none").status == 404)
            #expect(try await curl("GET", "/tables/none").status == 404)
            #expect(try await curl("GET", "/tables/notes?$filter=text%20eq").status == 400)
            let again = try await ServeProcess(
                scratch, config: scratch.file("backend.yaml"), port: server.port)
            try await until("the server has it") {
                try await curl("GET", "/tables/notes/a").headers["x-sluice-pending"] == "0"
            }
            let synced = try await curl("GET", "/tables/notes/a")
            let tag = try #require(synced.headers["etag"])
            #expect(tag != second)
            #expect(try await curl("GET", "/tables/notes/a", nil, "If-None-Match: \(tag)").status == 304)
            // The record is as the client left it, although the server has given it a version since.
            #expect(try await curl("PATCH", "/tables/notes/a", #"{"text":"y"}"#, "If-Match: \(second)").status == 200)
            try await until("that is sent too") {
                try await curl("GET", "/tables/notes/a").headers["x-sluice-pending"] == "0"
            }
            let last = try #require(try await curl("GET", "/tables/notes/a").headers["etag"])
            #expect(try await curl("PATCH", "/tables/notes/a", #"{"text":"z"}"#, "If-Match: \"other\"").status == 412)
            #expect(try await curl("DELETE", "/tables/notes/a", nil, "If-Match: \(last)").status == 204)
            #expect(try await curl("GET", "/tables/notes/a").status == 404)
            try await again.stop()
        }
    }

    @Test(
        "a conflict is shown by the next write as old clients know it: 412 with the server's record, and a merge or a delete ends it",
        arguments: [false, true])
    func conflicts(_ deletes: Bool) async throws {
        try await withDaemon(Self.settings) { daemon, server, scratch in
            let curl = Curl(base: ["--unix-socket", scratch.file("gateway.sock"), "http://localhost"])
            let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
            #expect(try await curl("POST", "/tables/notes", #"{"id":"a","text":"x"}"#).status == 201)
            try await until("it is pushed") {
                try await curl("GET", "/tables/notes/a").headers["x-sluice-pending"] == "0"
            }
            #expect(try await daemon.ctl("pause").status == 0)
            #expect(try await Program.sluice.run(["pull", "notes"] + other).status == 0)
            #expect(try await Program.sluice.run(["update", "notes", "a", #"{"text":"theirs"}"#] + other).status == 0)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            #expect(try await curl("PATCH", "/tables/notes/a", #"{"text":"mine"}"#).status == 200)
            #expect(try await daemon.ctl("resume").status == 0)
            try await until("the conflict is held") {
                try await daemon.status()["endpoints"]?[0]?["queue"]?["parked"] == 1
            }
            // Reading shows what is here; only a write is refused.
            #expect(try await curl("GET", "/tables/notes/a").body["text"] == "mine")
            let refused = try await curl("PATCH", "/tables/notes/a", #"{"text":"more"}"#)
            #expect(refused.status == 412 && refused.body["text"] == "theirs", "\(refused)")
            let tag = try #require(refused.headers["etag"])
            for method in ["PATCH", "DELETE"] {
                let any = try await curl(method, "/tables/notes/a", #"{"text":"unseen"}"#, "If-Match: *")
                #expect(any.status == 412, "who names any version has seen none: \(any)")
            }
            if deletes {
                #expect(try await curl("DELETE", "/tables/notes/a", nil, "If-Match: \(tag)").status == 204)
                return try await until("the server has deleted it") {
                    _ = try await Program.sluice.run(["pull", "notes"] + other)
                    return try await Program.sluice.run(["query", "notes", "--json"] + other).json["items"]?.elements
                        == []
                }
            }
            let merged = try await curl("PATCH", "/tables/notes/a", #"{"text":"both"}"#, "If-Match: \(tag)")
            #expect(merged.status == 200 && merged.body["text"] == "both", "\(merged)")
            try await until("the server has the merge") {
                _ = try await Program.sluice.run(["pull", "notes"] + other)
                return try await Program.sluice.run(["get", "notes", "a", "--json"] + other).json["text"] == "both"
            }
        }
    }

    @Test("a port needs a token and this machine's name, and answers no other origin")
    func port() async throws {
        let token = "a-token-of-the-gateway-1"
        try await withDaemon(
            "gateway: { port: 0, token-file: gateway.token }", files: ["gateway.token": token]
        ) { daemon, _, _ in
            try await until("the port is logged") { daemon.log.contains("the gateway listens") }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("the gateway listens") })
            let base = "http://" + line.split(separator: "//").last!
            let curl = Curl(base: [base])
            #expect(try await curl("GET", "/tables/notes").status == 401)
            #expect(
                try await curl("GET", "/tables/notes", nil, "Authorization: Bearer wrong-token-of-gateway").status
                    == 401)
            let right = "Authorization: Bearer \(token)"
            #expect(try await curl("GET", "/tables/notes", nil, right).status == 200)
            #expect(try await curl("GET", "/tables/notes", nil, "X-ZUMO-AUTH: \(token)").status == 200)
            #expect(try await curl("GET", "/tables/notes", nil, right, "Host: rebound.example").status == 421)
            #expect(try await curl("GET", "/tables/notes", nil, right, "Origin: https://evil.example").status == 403)
        }
    }

    @Test("changes of the store come as events, and changes of the server by way of its own")
    func events() async throws {
        try await withDaemon(
            "schedule: { spread: 0s, interval: 1h, change-delay: 10ms }\ngateway: { socket: gateway.sock }"
        ) { daemon, server, scratch in
            let stream = try scratch.write("stream", "")
            let process = try Curl.program.process([
                "-sN", "--unix-socket", scratch.file("gateway.sock"), "-H", "Accept: text/event-stream",
                "http://localhost/tables/notes/changes",
            ])
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: stream))
            try process.run()
            defer { process.end() }
            func seen() -> String { (try? String(contentsOfFile: stream, encoding: .utf8)) ?? "" }
            try await until("the stream begins") { seen().contains("event: ready") }
            let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"far"}"#] + other).status == 0)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            // The interval is an hour: only the server's events bring it.
            try await until("the change of the other device is here") { seen().contains("far") }
            #expect(try await Program.sluice("get", "notes", "far", "--config", daemon.config).status == 0)
        }
    }

    @Test("a daemon that cannot listen ends, and says where", .timeLimit(.minutes(2)))
    func taken() async throws {
        try await withDaemon("gateway: { port: 0, any-local-user: true }") { daemon, _, _ in
            try await until("the port is logged") { daemon.log.contains("the gateway listens") }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("the gateway listens") })
            let port = try #require(line.split(separator: ":").last)
            for setting in ["metrics: { port: \(port) }", "inspector: { port: \(port) }"] {
                try await withScratch { scratch in
                    let config = try scratch.write(
                        "d.yaml", "endpoint: http://127.0.0.1:1\nstore: a.db\n\(setting)\ntables: { t: }\n")
                    let result = try await Program.sluice("daemon", "--config", config)
                    #expect(result.status != 0 && result.errors.contains("\(port)"), "\(setting): \(result)")
                    #expect(!result.errors.contains("CancellationError"), "\(result.errors)")
                }
            }
        }
    }

    @Test("a port for any local user has to be meant")
    func unguarded() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "d.yaml", "endpoint: http://127.0.0.1:1\nstore: a.db\ngateway: { port: 0 }\ntables: { t: }\n")
            let result = try await Program.sluice("daemon", "--config", config)
            #expect(result.status == 2 && result.errors.contains("gateway.token-file"), "\(result)")
        }
        try await withDaemon("gateway: { port: 0, any-local-user: true }") { daemon, _, _ in
            try await until("the port is logged") { daemon.log.contains("the gateway listens") }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("the gateway listens") })
            let curl = Curl(base: ["http://" + line.split(separator: "//").last!])
            #expect(try await curl("GET", "/tables/notes").status == 200)
        }
    }
}
