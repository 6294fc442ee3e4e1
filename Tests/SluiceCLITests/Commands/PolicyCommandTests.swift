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

            let explained = try await Program.sluice(
                "plugin", "explain", scratch.file("decisions.jsonl"), "n1", "--json")
            #expect(explained.status == 0 && explained.output.contains("shop-rules"), "\(explained)")
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

    @Test("a policy, a script or a secret with a mistake is told with its place, and nothing is written")
    func mistakes() async throws {
        try await withScratch { scratch in
            let config = try deployment(scratch, "http://127.0.0.1:1")
            let insert = ["insert", "notes", #"{"id":"n1","text":"a"}"#, "--config", config]
            func refusal(_ part: String) async throws {
                let result = try await Program.sluice.run(insert)
                #expect(result.status == 2 && result.errors.contains(part), "\(result)")
            }
            let policy = try String(contentsOfFile: scratch.file("plugins.yaml"), encoding: .utf8)
            try scratch.write("plugins.yaml", policy.replacing("path:", with: "paht:"))
            try await refusal("plugins.yaml:3:")
            try scratch.write("plugins.yaml", policy)
            try scratch.write("plugins/shop-rules/main.lua", "return {")
            try await refusal("main.lua:1")
            try scratch.write("plugins/shop-rules/main.lua", Self.script)
            try FileManager.default.removeItem(atPath: scratch.file("secrets/shop-key"))
            // A secret is missed where it is asked for: the change stays.
            #expect(try await Program.sluice.run(insert).status == 0)
            let push = try await Program.sluice("push", "--config", config)
            #expect(push.status == 5 && push.errors.contains("shop-key"), "\(push)")
            let count = try await Program.sluice("query", "notes", "--count", "--config", config, "--json")
            #expect(try count.json["count"] == 1)
        }
    }
}
