import Foundation
import RepositoryFiles
import Sluice
import Testing

@Suite struct PluginCommandTests {
    @Test("from new to a tested plugin, without store or server")
    func author() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            let made = try await Program.sluice("plugin", "new", folder)
            #expect(made.status == 0, "\(made)")
            #expect(try await Program.sluice("plugin", "check", folder).status == 0)
            let tested = try await Program.sluice("plugin", "test", folder)
            #expect(tested.status == 0 && tested.output.hasSuffix("2 passed, 0 failed\n"), "\(tested)")
            #expect(try await Program.sluice("plugin", "test", folder, "--json").json["passed"] == 2)
            #expect(try await Program.sluice("plugin", "converge", folder, "--stories", "5").status == 0)
            #expect(try await Program.sluice("plugin", "new", folder).status == 2)
        }
    }

    @Test("the tables of the page about tools are what an editor gets to know")
    func tables() async throws {
        try await withScratch { scratch in
            let page = try String(contentsOfFile: Repository.path("docs/plugin-tools.md"), encoding: .utf8)
            let block = try #require(page.components(separatedBy: "```yaml\n").dropFirst().first)
            let (folder, tables) = (scratch.file("movie-merge"), scratch.file("tables.yaml"))
            try block.components(separatedBy: "```")[0].write(toFile: tables, atomically: true, encoding: .utf8)
            _ = try await Program.sluice("plugin", "new", folder)
            #expect(try await Program.sluice("plugin", "stubs", folder, "--tables", tables).status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/.luals")
            let stubs = try files.map { try String(contentsOfFile: "\(folder)/.luals/\($0)", encoding: .utf8) }
            #expect(["movies", "duration"].allSatisfy { name in stubs.contains { $0.contains(name) } })
        }
    }

    @Test("what fails ends with 1 and says what differs; what is no plugin with 2")
    func failures() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            _ = try await Program.sluice("plugin", "new", folder)
            try "return { on_conflict = function(c) return decide.server() end }"
                .write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            let tested = try await Program.sluice("plugin", "test", folder)
            #expect(tested.status == 1 && tested.output.contains("# decision"), "\(tested)")
            try "return {".write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            #expect(try await Program.sluice("plugin", "check", folder).status == 1)
            #expect(try await Program.sluice("plugin", "pack", folder, "--into", scratch.file("out")).status == 1)
            #expect(try await Program.sluice("plugin", "test", scratch.file("nowhere")).status == 2)
        }
    }

    @Test("converge takes a field that may lose with its reason, and not without one; bench fails with a fixture")
    func exemptions() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            _ = try await Program.sluice("plugin", "new", folder)
            let tables = try scratch.write("tables.yaml", "tables: { movies: { columns: { score: integer } } }\n")
            try
                "return { on_conflict = function(c) return c:merge { always = { score = 'max' }, default = 'server' } end }"
                .write(toFile: "\(folder)/main.lua", atomically: true, encoding: .utf8)
            let converge = ["plugin", "converge", folder, "--tables", tables, "--table", "movies", "--stories", "5"]
            #expect(try await Program.sluice.run(converge).status == 1)
            let exempt = try await Program.sluice.run(converge + ["--exempt", "score=the best one counts"])
            #expect(
                exempt.status == 0 && exempt.output.contains("score may be lost (the best one counts)"), "\(exempt)")
            for option in ["score", "score=", "other=why"] {
                #expect(try await Program.sluice.run(converge + ["--exempt", option]).status == 2)
            }
            try scratch.write("movie-merge/tests/broken.json", "{")
            let bench = try await Program.sluice("plugin", "bench", folder, "--rounds", "1")
            #expect(bench.status == 1 && bench.output.contains("tests/broken.json does not pass"), "\(bench)")
        }
    }

    @Test("explain tells all decisions about a record, each with its line, and one by its line")
    func explain() async throws {
        try await withScratch { scratch in
            func line(_ number: Int, _ hook: String, _ decision: String, _ record: String, table: String = "movies")
                -> String
            {
                #"{"sequence":\#(number),"at":"2026-01-01T00:00:00Z","plugin":"p","version":"1.0.0","hook":"\#(hook)","#
                    + #""table":"\#(table)","record":"\#(record)","decision":"\#(decision)"}"#
            }
            // Two processes wrote to it; the second one's numbers begin at 1 again.
            let lines = [
                line(1, "before_push", "none", "1"), line(2, "on_conflict", "merge", "1"),
                line(1, "on_conflict", "server", "2"), line(2, "before_push", "none", "1", table: "notes"),
            ]
            let file = try scratch.write("d.jsonl", lines.joined(separator: "\n") + "\n" + lines[0].prefix(70))
            let note = "sluice: \(file):5: the last line is only a part of one, and is skipped\n"
            func explain(_ arguments: String...) async throws -> Program.Result {
                try await Program.sluice.run(["plugin", "explain", file] + arguments)
            }
            func found(_ arguments: String...) async throws -> [Int] {
                let result = try await Program.sluice.run(["plugin", "explain", file, "--json"] + arguments)
                #expect(result.status == 0 && result.errors == note, "\(result)")
                return try result.json["decisions"]?.elements?.compactMap { $0["line"]?.int.map { Int($0) } } ?? []
            }
            #expect(try await found("movies/1") == [1, 2])
            #expect(try await found("1") == [1, 2, 4])
            #expect(try await found("notes/1") == [4])
            for number in 1...4 { #expect(try await found("--line", "\(number)") == [number]) }
            let text = try await explain("movies/1")
            #expect(text.output.contains("line 1, #1 ") && text.output.contains("\n\nline 2, #2 "), "\(text)")
            let none = try await explain("3")
            #expect(none.status == 2 && none.errors.contains("a line is given as --line 3"), "\(none)")
            let torn = try await explain("--line", "5")
            #expect(torn.status == 2 && torn.errors.hasSuffix("has no decision on line 5\n"), "\(torn)")
            #expect(try await explain().status == 2)
            #expect(try await explain("1", "--line", "1").status == 2)
            let broken = try scratch.write("b.jsonl", lines[0].dropLast() + "\n" + lines[1] + "\n")
            let refused = try await Program.sluice("plugin", "explain", broken, "1")
            #expect(
                refused.status == 2 && refused.errors == "sluice: \(broken):1: the line is not JSON\n", "\(refused)")
        }
    }

    @Test("a file that cannot be read is refused in plain words")
    func unreadable() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            _ = try await Program.sluice("plugin", "new", folder)
            for (arguments, words) in [
                (["plugin", "order", folder], "it is a folder"),
                (["plugin", "test", folder, "--tables", scratch.file("none.yaml")], "there is none"),
                (["plugin", "explain", scratch.file("none.jsonl"), "1"], "there is none"),
                (["plugin", "check", scratch.file("none.yaml")], "there is none"),
            ] {
                let result = try await Program.sluice.run(arguments)
                #expect(result.status == 2 && result.errors.contains(words), "\(result)")
                #expect(!result.errors.contains("NSCocoa") && !result.errors.contains("Error Domain"), "\(result)")
            }
        }
    }

    @Test("the tools for a policy take its configuration and its limits")
    func policy() async throws {
        try await withScratch { scratch in
            let folder = scratch.file("movie-merge")
            _ = try await Program.sluice("plugin", "new", folder)
            let policy = scratch.file("policy.yaml")
            let text =
                "plugins:\n  films:\n    path: movie-merge\n    hooks: { on_conflict: { limits: { fuel: 10 } } }\n"
            try text.write(toFile: policy, atomically: true, encoding: .utf8)
            for tool in ["test", "bench", "converge"] {
                let result = try await Program.sluice("plugin", tool, policy)
                #expect(result.status == 1 && result.output.contains("films"), "\(tool): \(result)")
            }
        }
    }
}
