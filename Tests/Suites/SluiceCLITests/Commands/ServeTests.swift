import Foundation
import HTTPTypes
import Sluice
import Testing

@Suite struct ServeTests {
    @Test("serve prints one line, and ends with 0 on SIGTERM and SIGINT", arguments: [SIGTERM, SIGINT])
    func line(_ signal: Int32) async throws {
        try await withScratch { scratch in
            let config = try scratch.write("backend.yaml", "database: \"sqlite::memory:\"\ntables: { t: {} }\n")
            let server = try await ServeProcess(scratch, config: config)
            #expect(server.output == "listening on http://127.0.0.1:\(server.port)\n")
            let pull = try await Program.sluice(
                "pull", "t", "--store", scratch.file("x.db"), "--endpoint", server.endpoint)
            #expect(pull.status == 0)
            #expect(try await server.stop(signal) == 0)
            #expect(server.output == "listening on http://127.0.0.1:\(server.port)\n")
        }
    }

    @Test("a client that comes too often is told when to come again, by the limits of the file")
    func rateLimit() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "backend.yaml",
                """
                database: "sqlite::memory:"
                rateLimit: { requests: 1, burst: 1 }
                limits: { head: 2048, idle: 20s }
                tables: { t: {} }
                """)
            let server = try await ServeProcess(scratch, config: config)
            var answers: [Int: SyncResponse] = [:]
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/tables/t")
            for _ in 0..<20 {
                let answer = try await AsyncHTTPTransport().send(SyncRequest(head))
                answers[answer.status] = answer
            }
            #expect(answers[200] != nil)
            #expect(answers[429]?.head.headerFields[.retryAfter] == "1")
            #expect(try await server.stop() == 0)
        }
    }

    @Test("the records are there after a restart, on the port that was asked for")
    func restart() async throws {
        try await withScratch { scratch in
            try scratch.write("seed.json", #"{"films":[{"id":"f1","title":"Solaris"}]}"#)
            let config = try scratch.write(
                "backend.yaml", "database: sqlite:backend.db\ntables:\n  films: { seed: seed.json, pageSize: 10 }\n")
            let store = scratch.file("x.db")
            let first = try await ServeProcess(scratch, config: config)
            _ = try await Program.sluice("insert", "films", #"{"id":"f2"}"#, "--store", store)
            #expect(try await Program.sluice("push", "--store", store, "--endpoint", first.endpoint).status == 0)
            #expect(try await first.stop() == 0)
            let second = try await ServeProcess(scratch, config: config, port: first.port)
            #expect(second.port == first.port)
            let pull = try await Program.sluice(
                "pull", "films", "--store", scratch.file("y.db"), "--endpoint", second.endpoint, "--json")
            #expect(try pull.json["stored"] == 2)

            // The port is taken now.
            let third = try await Program.sluice("serve", "--config", config, "--port", "\(first.port)")
            #expect(third.status == 2)
            #expect(third.output == "")
            #expect(third.errors.contains("\(first.port)"))
            try await second.stop()
        }
    }

    @Test("backend restored stamps the records anew, and serve says when it noticed a restore by itself")
    func restored() async throws {
        try await withScratch { scratch in
            try scratch.write("seed.json", #"{"films":[{"id":"f1","title":"Solaris"},{"id":"f2"}]}"#)
            let config = try scratch.write(
                "backend.yaml", "database: sqlite:backend.db\ntables:\n  films: { seed: seed.json }\n")
            let first = try await Program.sluice("backend", "restored", "--config", config)
            #expect(first.status == 0)
            #expect(first.output == "2 records stamped anew; clients read them again\n")
            let again = try await Program.sluice("backend", "restored", "--config", config, "--json")
            #expect(try again.json["stamped"] == 2)
            try FileManager.default.removeItem(atPath: scratch.file("backend.db-mark"))
            let noticed = try await Program.sluice("backend", "restored", "--config", config)
            #expect(noticed.output == "2 records stamped anew; clients read them again\n")
            #expect(try await Program.sluice("backend", "restored", "--config", "/nonexistent.yaml").status == 2)
        }
    }

    @Test("a mistake in the configuration is told with its line and column")
    func mistake() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "backend.yaml", "database: \"sqlite::memory:\"\ntables:\n  t: { pageSise: 1 }\n")
            let result = try await Program.sluice("serve", "--config", config)
            #expect(result.status == 2)
            #expect(result.errors.contains("backend.yaml:3:8"))
        }
    }

    @Test("a database that is none ends with 6")
    func notADatabase() async throws {
        try await withScratch { scratch in
            try scratch.write("backend.db", String(repeating: "no database at all\n", count: 100))
            let config = try scratch.write("backend.yaml", "database: sqlite:backend.db\ntables: { t: {} }\n")
            let result = try await Program.sluice("serve", "--config", config)
            #expect(result.status == 6)
        }
    }

    @Test("plugins of the configuration stand around its tables, over a socket")
    func plugins() async throws {
        try await withScratch { scratch in
            for name in ["rules", "secrets"] {
                try FileManager.default.createDirectory(
                    atPath: scratch.file(name), withIntermediateDirectories: true)
            }
            try scratch.write("secrets/word", "hunter2-hunter2\n")
            try scratch.write("plugins.yaml", "plugins:\n  rules: { path: rules }\n")
            try scratch.write(
                "rules/plugin.json",
                #"{"name":"rules","version":"1.0.0","api":"1.0","permissions":{"secrets":["word"]},"#
                    + #""hooks":{"read":{},"insert":{},"update":{},"delete":{},"on_conflict":{}}}"#)
            try scratch.write(
                "rules/main.lua",
                """
                return {
                  read = function(req, next) local a = next(req); for _, r in a:rows() do r.seen = req.kind end; return a end,
                  insert = function(req, next) req.record.by = crypto.hmac_sha256(secrets.get("word"), "x"); return next(req) end,
                  update = function(req, next) while req.record.n == 13 do end; return next(req) end,
                  delete = function() return decide.refuse { status = 403, message = "never" } end,
                  on_conflict = function(c) return c:merge { n = "max", default = "server" } end,
                }
                """)
            let config = try scratch.write(
                "backend.yaml",
                "database: sqlite:backend.db\ntables: { t: {} }\nplugins: plugins.yaml\nsecrets: secrets\n")
            let server = try await ServeProcess(scratch, config: config)
            let curl = Curl(base: [server.endpoint])
            let made = try await curl("POST", "/tables/t", #"{"id":"a","n":1}"#)
            #expect(made.status == 201 && made.body["by"]?.string?.count == 64, "\(made.body)")
            #expect(try await curl("PATCH", "/tables/t/a", #"{"n":2}"#, "If-Match: \"AAAAAAAAAAA=\"").body["n"] == 2)
            let loop = try await curl("PATCH", "/tables/t/a", #"{"n":13}"#)
            #expect(loop.status == 500 && loop.body["error"] == "a hook of the table failed", "\(loop.body)")
            let refused = try await curl("DELETE", "/tables/t/a")
            #expect(refused.status == 403 && refused.body["error"] == "never")
            let read = try await curl("GET", "/odata/v4/t('a')")
            #expect(read.body["n"] == 2 && read.body["seen"] == "lookup", "\(read.body)")
            #expect(try await server.stop() == 0)

            try scratch.write("rules/main.lua", "return {")
            let broken = try await Program.sluice("serve", "--config", config)
            #expect(broken.status == 2 && broken.errors.contains("main.lua"), "\(broken.errors)")
            #expect(try await Program.sluice("backend", "restored", "--config", config).status == 0)
        }
    }

    @Test("the operator has a page of the fleet by the token of a file; without the setting there is none")
    func fleet() async throws {
        try await withScratch { scratch in
            let tables = "database: \"sqlite::memory:\"\ntables: { policy_status: {} }\n"
            let config = try scratch.write("backend.yaml", "\(tables)fleet: { tokenFile: operator.token }\n")
            try scratch.write("operator.token", "short\n")
            let refused = try await Program.sluice("serve", "--config", config)
            #expect(refused.status == 2 && refused.errors.contains("16 characters"), "\(refused.errors)")
            #expect(!refused.errors.contains("short\n"))
            try scratch.write("operator.token", "operator-token-0001\n")
            let server = try await ServeProcess(scratch, config: config)
            let curl = Curl(base: [server.endpoint])
            let row = #"{"id":"d1","serving":3,"stage":"settled","newest":3,"reportedAt":"2020-01-01T00:00:00Z"}"#
            #expect(try await curl("POST", "/tables/policy_status", row).status == 201)
            #expect(try await curl("GET", "/fleet.json").status == 401)
            let right = "Authorization: Bearer operator-token-0001"
            let document = try await curl("GET", "/fleet.json?x=1", nil, right)
            let listed = try await Program.sluice("policy", "fleet", "--endpoint", server.endpoint, "--json").json
            #expect(document.body["devices"] == listed["devices"], "\(listed)")
            #expect(listed["devices"]?[0]?["state"] == "silent")
            let address = "\(server.endpoint)/fleet"
            let signIn = try await Curl.program.run(["-si", "-d", "token=operator-token-0001", address])
            let line = try #require(
                signIn.output.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("set-cookie") })
            #expect(line.contains("HttpOnly; SameSite=Strict") && !line.contains("Secure"))
            let cookie = line.split(separator: ":", maxSplits: 1)[1].split(separator: ";")[0]
            let page = try await Curl.program.run(["-s", "-H", "Cookie:\(cookie)", address])
            #expect(page.output.contains("1 silent") && page.output.contains("1 device with version 3"), "\(page)")
            let large = String(repeating: "x", count: 9_000)
            #expect(try await curl("POST", "/fleet", large).status == 413)
            #expect(try await server.stop() == 0)

            let without = try await ServeProcess(scratch, config: try scratch.write("backend.yaml", tables))
            let none = Curl(base: [without.endpoint])
            #expect(try await none("GET", "/fleet", nil, right).status == 404)
            #expect(try await none("GET", "/fleet.json", nil, right).status == 404)
            #expect(try await without.stop() == 0)
        }
    }

    @Test("changed plugins serve without a restart; with a mistake, or around another table, those from before do")
    func reloadsPlugins() async throws {
        try await withScratch { scratch in
            try FileManager.default.createDirectory(atPath: scratch.file("rules"), withIntermediateDirectories: true)
            func manifest(_ tables: String) throws {
                try scratch.write(
                    "rules/plugin.json",
                    #"{"name":"rules","version":"1.0.0","api":"1.0","hooks":{"insert":{"match":{"tables":[\#(tables)]}}}}"#
                )
            }
            func script(_ version: Int) -> String {
                "return { insert = function(req, next) req.record.by = \(version); return next(req) end }\n"
            }
            try manifest(#""t""#)
            try scratch.write("rules/main.lua", script(1))
            try scratch.write("plugins.yaml", "plugins:\n  rules: { path: rules }\n")
            let config = try scratch.write(
                "backend.yaml", "database: \"sqlite::memory:\"\ntables: { t: {}, u: {} }\nplugins: plugins.yaml\n")
            let server = try await ServeProcess(scratch, config: config)
            let curl = Curl(base: [server.endpoint])
            func version() async throws -> JSON? {
                let made = try await curl("POST", "/tables/t", "{}")
                #expect(made.status == 201, "\(made.body)")
                return made.body["by"]
            }
            #expect(try await version() == 1)
            try scratch.write("rules/main.lua", script(2))
            try await until("the changed plugin serves") { try await version() == 2 }
            try scratch.write("rules/main.lua", "return {")
            try await Task.sleep(for: .seconds(1))
            #expect(try await version() == 2)
            try scratch.write("rules/main.lua", script(3))
            try manifest(#""t","u""#)
            try await Task.sleep(for: .seconds(1))
            #expect(try await version() == 2, "hooks around another table need a restart")
            try manifest(#""t""#)
            try await until("it is mended") { try await version() == 3 }
            #expect(try await server.stop() == 0)
        }
    }
}
