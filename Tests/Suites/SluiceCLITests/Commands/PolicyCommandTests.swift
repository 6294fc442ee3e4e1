import Foundation
import Sluice
import Testing

/// The commands of a deployment that has plugins.
@Suite struct PolicyCommandTests {
    private static let manifest = #"""
        {
          "name": "shop-rules", "version": "1.0.0", "description": "What a shop asks of its notes.", "api": "1.0",
          "hooks": {
            "before_enqueue": { "match": { "tables": ["notes"], "kinds": ["insert", "update"] } },
            "request": {},
            "on_conflict": { "match": { "tables": ["notes"] } },
            "after_pull": { "match": { "tables": ["notes"] } }
          },
          "permissions": { "secrets": ["shop-key"] }
        }
        """#
    private static let script = """
        local function before_enqueue(op)
          if op.record.text == "" then return decide.reject{ message = "a note needs a text" } end
          op.record.by = "shop"
        end
        local function request(req) req.headers:set("X-Shop", secrets.get("shop-key")) end
        local function on_conflict(c) return c:merge { default = "client" } end
        local function after_pull(rec) if rec.text == "secret" then return decide.drop{ reason = "not for shops" } end end
        return { before_enqueue = before_enqueue, request = request, on_conflict = on_conflict, after_pull = after_pull }
        """

    /// A configuration with a policy, in folders of their own.
    private func deployment(_ scratch: Scratch, _ endpoint: String, script: String = script) throws -> String {
        for folder in ["plugins/shop-rules", "secrets"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try scratch.write("plugins/shop-rules/plugin.json", Self.manifest)
        try scratch.write("plugins/shop-rules/main.lua", script)
        try scratch.write("secrets/shop-key", "k-1\n")
        try scratch.write(
            "plugins.yaml",
            """
            decisions: { file: decisions.jsonl, inputs: true }
            plugins:
              shop-rules: { path: plugins/shop-rules }

            """)
        return try scratch.write(
            "sync.yaml",
            "endpoint: \(endpoint)\nstore: shop.db\nplugins: plugins.yaml\nsecrets: secrets\n")
    }

    @Test("hooks, filters and conflict handlers of the policy take part, and explain tells what they did")
    func takesPart() async throws {
        try await withServer { server, scratch in
            let config = try deployment(scratch, server.endpoint)
            let refused = try await Program.sluice("insert", "notes", #"{"id":"n0","text":""}"#, "--config", config)
            #expect(
                refused.status == 2 && refused.errors.contains("shop-rules")
                    && refused.errors.contains("a note needs a text"), "\(refused)")
            let inserted = try await Program.sluice(
                "insert", "notes", #"{"id":"n1","text":"a"}"#, "--config", config, "--json")
            #expect(try inserted.json["by"] == "shop", "\(inserted)")
            #expect(try await Program.sluice("push", "--config", config).status == 0)
            let story = try await Program.sluice("explain", "notes", "n1", "--config", config, "--json").json
            let decided = (story["events"]?.elements ?? []).filter { $0["what"] == "decision" }
            #expect(decided.contains { $0["text"]?.string?.contains("in before_enqueue") ?? false }, "\(story)")
            #expect(decided.allSatisfy { $0["plugin"] == "shop-rules" })

            // Another device, without a policy, edits the note and makes one that the shop does not take.
            let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
            _ = try await Program.sluice.run(["sync", "notes"] + other)
            _ = try await Program.sluice.run(["update", "notes", "n1", #"{"text":"other"}"#] + other)
            _ = try await Program.sluice.run(["insert", "notes", #"{"id":"n2","text":"secret"}"#] + other)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)

            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"ours"}"#, "--config", config)
            let sync = try await Program.sluice("sync", "notes", "--config", config, "--json")
            #expect(sync.status == 0, "\(sync)")
            #expect(try sync.json["pulls"]?[0]?["dropped"] == 1)
            let left = try await Program.sluice("get", "notes", "n1", "--config", config, "--json")
            #expect(try left.json["text"] == "ours")
            #expect(try await Program.sluice("get", "notes", "n2", "--config", config).status != 0)

            // Each command was a process of its own, whose decisions are counted from 1.
            let explain = ["plugin", "explain", scratch.file("decisions.jsonl"), "--json"]
            let told = try await Program.sluice.run(explain + ["notes/n1"])
            let decisions = try #require(try told.json["decisions"]?.elements, "\(told)")
            #expect(decisions.allSatisfy { $0["plugin"] == "shop-rules" && $0["record"] == "n1" })
            #expect(decisions.compactMap { $0["line"]?.int } == decisions.compactMap { $0["line"]?.int }.sorted())
            let numbers = decisions.compactMap { $0["sequence"]?.int }
            #expect(Set(numbers).count < numbers.count, "\(numbers)")
            let conflict = try #require(decisions.first { $0["hook"] == "on_conflict" }, "\(told)")
            #expect(conflict["decision"] == "merge" && conflict["input"]?["conflict"]?["client"]?["text"] == "ours")
            let one = try await Program.sluice.run(explain + ["--line", "\(conflict["line"] ?? .null)"])
            #expect(try one.json["decisions"] == [conflict], "\(one)")
            let log = try String(contentsOfFile: scratch.file("decisions.jsonl"), encoding: .utf8)
            #expect(log.contains("on_conflict") && !log.contains("k-1"))
        }
    }

    @Test("--plugins has a policy without a configuration take part")
    func flag() async throws {
        try await withScratch { scratch in
            _ = try deployment(scratch, "http://127.0.0.1:1")
            let inserted = try await Program.sluice(
                "insert", "notes", #"{"text":"a"}"#, "--store", scratch.file("a.db"), "--plugins",
                scratch.file("plugins.yaml"), "--secrets", scratch.file("secrets"), "--json")
            #expect(try inserted.json["by"] == "shop", "\(inserted)")
        }
    }

    @Test("an import asks the policy about each record, and a refusal has its line and takes its step back")
    func imports() async throws {
        try await withScratch { scratch in
            let config = try deployment(scratch, "http://127.0.0.1:1")
            let lines = (1...5).map { #"{"id":"n\#($0)","text":"\#($0 == 4 ? "" : "a")"}"# }
            try scratch.write("notes.jsonl", lines.joined(separator: "\n"))
            let refused = try await Program.sluice(
                "import", "notes", "notes.jsonl", "--config", config, "--step", "2", "--json", in: scratch.path)
            #expect(refused.status == 2 && refused.errors.contains("notes.jsonl:4: "), "\(refused)")
            #expect(refused.errors.contains("a note needs a text") && refused.errors.contains("record n4"))
            #expect(try refused.json["inserted"] == 2)
            // Records that come again and again are asked about one after the other, as the hook has left them.
            let again = (1...20).map { #"{"id":"n\#(1 + $0 % 2)","text":"b\#($0 / 2)"}"# }
            try scratch.write("notes.jsonl", again.joined(separator: "\n"))
            let result = try await Program.sluice(
                "import", "notes", "notes.jsonl", "--config", config, "--upsert", "--json", in: scratch.path)
            #expect(try result.json["updated"] == 20, "\(result)")
            let note = try await Program.sluice("get", "notes", "n1", "--config", config, "--json")
            #expect(try note.json["text"] == "b10" && note.json["by"] == "shop", "\(note)")
        }
    }

    @Test("a policy, a script or a secret with a mistake is told with its place; nothing is written, lost or sent")
    func mistakes() async throws {
        try await withServer { server, scratch in
            let door = try await Door(scratch, before: server)
            defer { door.stop() }
            let config = try deployment(scratch, door.endpoint)
            func run(_ arguments: [String]) async throws -> Program.Result {
                try await Program.sluice.run(arguments + ["--config", config])
            }
            // What the store holds before: a row that was pushed, and a change of it that waits.
            #expect(try await run(["insert", "notes", #"{"id":"n1","text":"a"}"#]).status == 0)
            #expect(try await run(["sync", "notes"]).status == 0)
            #expect(try await run(["update", "notes", "n1", #"{"text":"b"}"#]).status == 0)
            func content() async throws -> [String] {
                let queries = [["query", "notes"], ["query", "others"], ["queue", "list"], ["status"]]
                var found: [String] = []
                for query in queries {
                    let result = try await run(query + ["--json"])
                    #expect(result.status == 0, "\(result)")
                    found.append(result.output)
                }
                return found
            }
            let before = try await content()
            #expect(before[2].contains(#""state":"pending""#), "\(before)")
            let requests = door.requests.count
            try scratch.write("notes.jsonl", #"{"id":"n3","text":"c"}"#)
            let commands = [
                ["insert", "notes", #"{"id":"n2","text":"a"}"#], ["insert", "others", "{}"],
                ["update", "notes", "n1", #"{"text":"c"}"#], ["delete", "notes", "n1"], ["undelete", "notes", "n1"],
                ["import", "notes", scratch.file("notes.jsonl")], ["push"], ["pull", "notes"], ["sync", "notes"],
                ["reconcile", "notes"],
            ]
            /// Each command is refused with exactly these words.
            func refusal(_ message: String) async throws {
                for command in commands {
                    let result = try await run(command)
                    #expect(result.status == 2 && result.output == "", "\(command): \(result)")
                    #expect(result.errors == "sluice: \(message)\n", "\(command)")
                }
                let document = try await run(commands[0] + ["--json"])
                #expect(try document.json["error"]?["message"] == JSON(message), "\(document)")
            }
            let policy = try String(contentsOfFile: scratch.file("plugins.yaml"), encoding: .utf8)
            try scratch.write("plugins.yaml", policy.replacing("path:", with: "paht:"))
            try await refusal(
                "\(scratch.file("plugins.yaml")):3:17: unknown key paht in shop-rules; did you mean path?")
            try scratch.write("plugins.yaml", policy)
            try scratch.write("plugins/shop-rules/main.lua", Self.script + "\nreturn {")
            try await refusal("plugin shop-rules, load, main.lua:9: <eof> expected near 'return'")
            try scratch.write("plugins/shop-rules/main.lua", Self.script)
            try FileManager.default.moveItem(atPath: scratch.file("plugins.yaml"), toPath: scratch.file("away.yaml"))
            try await refusal("\(scratch.file("plugins.yaml")): the file cannot be read, or is not UTF-8")
            try FileManager.default.moveItem(atPath: scratch.file("away.yaml"), toPath: scratch.file("plugins.yaml"))
            let secret = scratch.file("secrets/shop-key")
            try Data([0xFF]).write(to: URL(fileURLWithPath: secret))
            try await refusal("the secret shop-key is not a readable file of text")
            try FileManager.default.removeItem(atPath: secret)
            try FileManager.default.createDirectory(atPath: secret, withIntermediateDirectories: false)
            try await refusal("the secret shop-key is not a readable file of text")
            try FileManager.default.removeItem(atPath: secret)
            try scratch.write("secrets/shop-key", "k-1\n")
            #expect(try await content() == before, "nothing was written, and nothing is lost")
            #expect(door.requests.count == requests, "nothing was sent")
            // Mended, it goes on.
            #expect(try await run(["push"]).status == 0)
            #expect(door.requests.suffix(1) == ["PATCH /tables/notes/n1"])
        }
    }

    @Test("a secret that is missing is told where it is asked for, and the change stays")
    func missingSecret() async throws {
        try await withServer { server, scratch in
            let door = try await Door(scratch, before: server)
            defer { door.stop() }
            let config = try deployment(scratch, door.endpoint)
            try FileManager.default.removeItem(atPath: scratch.file("secrets/shop-key"))
            let insert = ["insert", "notes", #"{"id":"n1","text":"a"}"#, "--config", config]
            #expect(try await Program.sluice.run(insert).status == 0)
            let push = try await Program.sluice("push", "--config", config)
            #expect(push.status == 5 && push.errors.contains("shop-key"), "\(push)")
            #expect(door.requests == [])
            let queue = try await Program.sluice("queue", "list", "--config", config, "--json").json
            #expect(queue["count"] == 1 && queue["operations"]?[0]?["record"] == "n1", "\(queue)")
            let note = try await Program.sluice("get", "notes", "n1", "--config", config, "--json")
            #expect(try note.json["text"] == "a")
        }
    }
}
