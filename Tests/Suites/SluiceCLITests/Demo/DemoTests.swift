import Foundation
import RepositoryFiles
import Sluice
import Testing

@Suite struct DemoTests {
    @Test("the demo's three copies are equal, and its one conflict was decided by the handler")
    func story() async throws {
        let result = try await Program.sluice("demo", "--json", limit: .seconds(60))
        #expect(result.status == 0)
        // No progress bar, and nothing else beside the document.
        #expect(result.errors == "")
        let facts = try result.json
        #expect(facts["equal"] == true)
        #expect(facts["rows"] == 248)
        #expect(facts["comparison"]?["copies"] == 3)
        #expect(facts["comparison"]?["rows"] == 248)
        #expect(facts["comparison"]?["differences"] == .array)
        #expect((facts["comparison"]?["fields"]?.int ?? 0) > 248 * 10)
        #expect(facts["offline"]?.elements?.map { $0["end"] } == ["network", "network"])
        #expect(facts["offline"]?.elements?.map { $0["waiting"] } == [4, 4])
        #expect(facts["pushed"]?.elements?.map { $0["remaining"] } == [0, 0])
        #expect(facts["conflicts"]?.count == 1)
        #expect(facts["conflicts"]?[0]?["status"] == 412)
        let fields = facts["conflicts"]?[0]?["fields"]?.elements ?? []
        #expect(fields.map { $0["field"]?.string } == ["title", "duration", "rating"])
        #expect(fields.map { $0["decided"] } == ["Fight Club (uncut)", 151, "NC17"])
    }

    @Test("on encrypted stores the story is the same, and their files show nothing of it")
    func encrypted() async throws {
        let result = try await Program.sluice("demo", "--json", "--encrypted", limit: .seconds(120))
        #expect(result.status == 0, "\(result)")
        let facts = try result.json
        #expect(facts["equal"] == true && facts["comparison"]?["copies"] == 3)
        #expect(facts["encryption"]?["found"] == 0)
        #expect((facts["encryption"]?["bytes"]?.int ?? 0) > 50_000)
    }

    @Test("the deployment of the examples takes part")
    func examplePolicy() async throws {
        let policy = Repository.path("Examples/policy/policy.yaml")
        let result = try await Program.sluice("demo", "--json", "--policy", policy)
        #expect(result.status == 0, "\(result)")
        #expect(try result.json["equal"] == true)
    }

    @Test(
        "a plugin in Lua decides the conflict by its configuration",
        arguments: [
            (nil, ["Fight Club (uncut)", 151, "NC17"]),
            (#"{"rules": {"title": "server"}, "default": "client"}"#, ["Fight Club (4K)", 151, "NC17"]),
        ] as [(String?, [JSON])])
    func plugin(_ config: String?, _ decided: [JSON]) async throws {
        let options = config.map { ["--plugin-config", $0] } ?? []
        let folder = Repository.path("Plugins/field-merge")
        let result = try await Program.sluice.run(["demo", "--json", "--plugin", folder] + options)
        #expect(result.status == 0)
        let facts = try result.json
        #expect(facts["equal"] == true)
        #expect(facts["conflicts"]?.count == 1)
        #expect(facts["conflicts"]?[0]?["judge"] == "field-merge in Lua")
        let fields = facts["conflicts"]?[0]?["fields"]?.elements ?? []
        #expect(fields.map { $0["decided"] } == decided)
    }

    @Test("what a plugin leaves to the next handler is decided in Swift")
    func pluginNext() async throws {
        let folder = Repository.path("Plugins/field-merge")
        let result = try await Program.sluice("demo", "--json", "--plugin", folder, "--plugin-config", "{}")
        #expect(result.status == 0)
        #expect(try result.json["conflicts"]?[0]?["judge"] == "a handler in Swift")
    }

    @Test("a plugin that comes with Sluice is found by its name from any folder")
    func bundledPlugin() async throws {
        try await withScratch { scratch in
            let result = try await Program.sluice("demo", "--json", "--plugin", "field-merge", in: scratch.path)
            #expect(result.status == 0, "\(result)")
            #expect(try result.json["conflicts"]?[0]?["judge"] == "field-merge in Lua")
        }
    }

    @Test("a plugin without on_conflict takes part with the hooks that it has")
    func otherHooks() async throws {
        let result = try await Program.sluice("demo", "--json", "--plugin", "correlation-id")
        #expect(result.status == 0, "\(result)")
        let facts = try result.json
        #expect(facts["equal"] == true && facts["conflicts"]?[0]?["judge"] == "a handler in Swift")
        #expect(facts["conflicts"]?[0]?["passed"] == .null)
        let hooks = facts["plugins"]?.elements ?? []
        #expect(hooks.map { $0["hook"] } == ["request", "response"])
        #expect(hooks.allSatisfy { $0["calls"]?["ok"]?.int ?? 0 > 5 }, "\(hooks)")
    }

    /// A policy of two plugins that have all hooks there are, each for movies.
    private func policy(_ scratch: Scratch) throws -> String {
        func plugin(_ name: String, _ hooks: [String], _ main: String) throws {
            try FileManager.default.createDirectory(atPath: scratch.file(name), withIntermediateDirectories: true)
            let declared = hooks.map { "\"\($0)\": {}" }.joined(separator: ", ")
            try scratch.write(
                "\(name)/plugin.json",
                #"{"name": "\#(name)", "version": "1.0.0", "api": "1.0", "hooks": {\#(declared)}}"#)
            try scratch.write("\(name)/main.lua", main)
        }
        try plugin(
            "records",
            [
                "request", "response", "before_enqueue", "before_push", "on_conflict", "on_push_error", "after_pull",
                "on_schedule", "on_event", "init",
            ],
            """
            local function nothing() end
            return {
              request = function(req) req.headers:set("X-Demo", "1") end,
              before_enqueue = function(op)
                if op.record and op.record.title == "Solaris" then return decide.reject { message = "not on Ben's watch" } end
              end,
              on_conflict = function(c) return c:merge { title = "client", default = "server" } end,
              after_pull = function(rec) if rec.id == "id-100" then return decide.drop { reason = "seen" } end end,
              on_schedule = function() return decide.push() end,
              response = nothing, before_push = nothing, on_push_error = nothing, on_event = nothing, init = nothing,
            }
            """)
        try plugin(
            "exchanges", ["filter", "after_pull_page"],
            "return { filter = function(req, next) return next(req) end, after_pull_page = function() end }")
        return try scratch.write(
            "policy.yaml", "plugins:\n  records: { path: records }\n  exchanges: { path: exchanges }\n")
    }

    @Test("--policy shows all hooks of a deployment's plugins at work, and compares what they let through")
    func policyAtWork() async throws {
        try await withScratch { scratch in
            let file = try policy(scratch)
            let result = try await Program.sluice("demo", "--json", "--policy", file)
            #expect(result.status == 0, "\(result)")
            let facts = try result.json
            let asked = (facts["plugins"]?.elements ?? []).filter { $0["calls"]?["ok"]?.int ?? 0 > 0 }
            #expect(
                Set(asked.compactMap { $0["hook"]?.string }) == [
                    "filter", "request", "response", "before_enqueue", "before_push", "on_conflict", "on_push_error",
                    "after_pull", "after_pull_page", "on_schedule", "on_event", "init",
                ], "\(facts["plugins"] ?? .null)")
            // Solaris was refused, and of one row it was decided that the devices do without.
            #expect(facts["equal"] == true && facts["comparison"]?["apart"] == 1, "\(facts)")
            #expect(facts["comparison"]?["rows"] == 246)
            #expect(facts["conflicts"]?[0]?["judge"] == "records in Lua")

            let told = try await Program.sluice("demo", "--policy", file).output
            #expect(told.contains("adds Solaris: ") && told.contains("not on Ben's watch"), "\(told)")
            #expect(told.contains("after_pull: 1 row dropped, 0 rows changed"), "\(told)")
            #expect(told.contains("1 row not compared"), "\(told)")
            let both = try await Program.sluice("demo", "--policy", file, "--plugin", "field-merge")
            #expect(both.status == 2 && both.output == "")
        }
    }

    @Test("a record that a handler deletes is no failure of the comparison")
    func decidedDelete() async throws {
        try await withHandler("return decide.delete { reason = 'gone' }") { folder, _ in
            let result = try await Program.sluice("demo", "--json", "--plugin", folder)
            #expect(result.status == 0, "\(result)")
            let facts = try result.json
            #expect(facts["equal"] == true && facts["comparison"]?["differences"] == .array)
            #expect(facts["conflicts"]?[0]?["verdict"] == "delete" && facts["comparison"]?["rows"] == 247)
        }
    }

    @Test("a plugin that is not there, or a configuration that is none is refused")
    func noPlugin() async throws {
        let missing = try await Program.sluice("demo", "--plugin", "nobody")
        #expect(missing.status == 2)
        #expect(missing.errors.contains("Plugins/nobody") && missing.errors.contains("field-merge"))
        let folder = Repository.path("Plugins/field-merge")
        let config = try await Program.sluice("demo", "--plugin", folder, "--plugin-config", #"{"defualt": 1}"#)
        #expect(config.status == 2)
        #expect(config.errors.contains("defualt"))
    }

    @Test("the demo tells its story in numbered lines, without colours in a pipe")
    func text() async throws {
        let result = try await Program.sluice("demo")
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(result.output.contains(" 1. "))
        #expect(result.output.contains("connection refused"))
        #expect(result.output.contains("every field the same"))
        #expect(!result.output.contains("\u{1B}"))
    }

    @Test("--rows grows the data and --keep leaves the stores for other programs")
    func keep() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("kept")
            let result = try await Program.sluice("demo", "--rows", "1000", "--keep", folder, "--json")
            #expect(result.status == 0)
            #expect(try result.json["comparison"]?["rows"] == 1000)
            for name in ["anna", "ben"] {
                let count = try await Program.sqlite(
                    "-readonly", "\(folder)/\(name).db", "SELECT count(*), count(version) FROM movies")
                #expect(count.output == "1000|1000\n")
            }
            let title = try await Program.sluice("get", "movies", "id-009", "--store", "\(folder)/ben.db", "--json")
            #expect(try title.json["title"] == "Fight Club (uncut)")

            let again = try await Program.sluice("demo", "--keep", folder)
            #expect(again.status == 2)
            #expect(again.errors.contains("is not empty"))
        }
    }

    @Test("without the sqlite3 program the demo says how to get it")
    func missingProgram() async throws {
        let result = try await Program.sluice("demo", environment: ["PATH": "/nonexistent"])
        #expect(result.status == 2)
        #expect(result.errors.contains("apt-get install sqlite3"))
    }

    @Test("a number of rows below the real movies is refused", arguments: ["0", "247", "-1", "many", "1000001"])
    func rows(_ rows: String) async throws {
        let result = try await Program.sluice("demo", "--rows=\(rows)")
        #expect(result.status == 2)
        #expect(result.output == "")
    }

    /// A plugin of that body, in a folder that goes away.
    private func withHandler(
        _ body: String, match: String = "movies", _ test: (_ folder: String, _ scratch: Scratch) async throws -> Void
    ) async throws {
        try await withScratch { scratch in
            let folder = scratch.file("judge")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try #"""
            {"name": "judge", "version": "1.0.0", "api": "1.0",
             "hooks": {"on_conflict": {"match": {"tables": ["\#(match)"]}}}}
            """#.write(toFile: "\(folder)/plugin.json", atomically: true, encoding: .utf8)
            try "return { on_conflict = function(c)\n\(body)\nend }"
                .write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            try await test(folder, scratch)
        }
    }

    @Test(
        "what a plugin decides is told with its reason, also where it is no record",
        arguments: [
            ("return decide.ask { reason = 'who knows' }", "judge in Lua answers ask: who knows", "ask"),
            ("return decide.defer { reason = 'later' }", "judge in Lua answers defer: later", "defer"),
            ("return decide.delete()", "judge in Lua answers delete", "delete"),
            ("error('no idea')", "judge in Lua answers failed", "failed"),
            ("return decide.client { reason = 'mine' }", "judge in Lua decides, field by field", "server's (mine)"),
        ])
    func verdicts(_ body: String, _ words: String, _ cell: String) async throws {
        try await withHandler(body) { folder, _ in
            let output = try await Program.sluice("demo", "--plugin", folder).output
            #expect(output.contains(words), "\(output)")
            let lines = output.split(separator: "\n").map { $0.drop { $0 == " " } }
            let duration = lines.first { $0.hasPrefix("duration ") } ?? ""
            #expect(duration.hasSuffix(cell), "\(output)")
        }
    }

    @Test("the demo says which plugin left the conflict to the next handler, and why")
    func passedOn() async throws {
        try await withHandler("return decide.next { reason = 'not mine' }") { folder, _ in
            let output = try await Program.sluice("demo", "--plugin", folder).output
            #expect(output.contains("judge in Lua passes it on (not mine); a handler in Swift decides"), "\(output)")
        }
        try await withHandler("return decide.next()", match: "films") { folder, _ in
            let output = try await Program.sluice("demo", "--plugin", folder).output
            #expect(
                output.contains("judge in Lua is not asked: its match does not hold; a handler in Swift"), "\(output)")
        }
    }

    @Test("a demo that is kept has the plugin's decisions: to explain, to record, to replay")
    func decisions() async throws {
        try await withHandler("return c:merge { default = 'client' }") { folder, scratch in
            let kept = scratch.file("kept")
            let demo = try await Program.sluice("demo", "--plugin", folder, "--keep", kept)
            #expect(
                demo.status == 0 && demo.output.contains("plugin explain \(kept)/decisions.jsonl --line 1"), "\(demo)")
            let file = "\(kept)/decisions.jsonl"
            let told = try await Program.sluice("plugin", "explain", file, "--line", "1")
            #expect(told.status == 0 && told.output.contains("title: base Fight Club") == false, "\(told)")
            #expect(told.output.contains("decided merge") && told.output.contains("changed on both sides"), "\(told)")
            let recorded = try await Program.sluice("plugin", "record", file, folder)
            #expect(recorded.status == 0 && recorded.output.contains("1 fixture, 0 decisions"), "\(recorded)")
            #expect(try await Program.sluice("plugin", "test", folder).status == 0)
            #expect(try await Program.sluice("plugin", "replay", file, folder).status == 0)
            try "return { on_conflict = function(c) return decide.server() end }"
                .write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            let replayed = try await Program.sluice("plugin", "replay", file, folder)
            #expect(replayed.status == 1 && replayed.output.contains("merge -> server"), "\(replayed)")
            let other = try await Program.sluice("plugin", "replay", file, folder, "--as", "other")
            #expect(other.status == 2 && other.errors.contains("only of judge"), "\(other)")
        }
    }

    @Test("nothing is told before the plugin and its configuration are accepted")
    func refusedFirst() async throws {
        try await withHandler("error('no')") { folder, _ in
            try "error('broken')".write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            let broken = try await Program.sluice("demo", "--plugin", folder)
            #expect(broken.status == 2 && broken.output == "", "\(broken)")
            let config = try await Program.sluice("demo", "--plugin", folder, "--plugin-config", "{")
            #expect(config.status == 2 && config.output == "", "\(config)")
        }
    }
}
