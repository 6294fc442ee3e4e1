import Foundation
import RepositoryFiles
import Sluice
import Testing

@Suite struct StoreAdoptCommandTests {
    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.sluice.run(arguments + ["--json"])
    }

    /// Makes the sample of a format with the sqlite3 program.
    private func make(_ format: String, _ scratch: Scratch) async throws -> String {
        let path = scratch.file("\(format).db")
        let sql = try String(contentsOfFile: Repository.fixture("old-stores/\(format).sql"), encoding: .utf8)
        let made = try await Program.sqlite.run([path], input: sql)
        #expect(made.status == 0, "\(made)")
        return path
    }

    @Test("a dry run says what would move, and changes nothing; the second run changes nothing either")
    func adopts() async throws {
        try await withServer(tables: "{ todos: { softDelete: true } }") { server, scratch in
            let (old, store) = (try await make("net", scratch), scratch.file("new.db"))
            let config = try scratch.write("sync.yaml", "queries:\n  all: { table: todos }\n")
            let dry = try await run("store", "adopt", old, "--dry-run", "--config", config, "--store", store)
            #expect(dry.status == 0, "\(dry)")
            let planned = try dry.json
            #expect(planned["dryRun"] == true && planned["format"] == "net")
            #expect(
                planned["operations"]?.elements?.map { $0["state"]?.string } == [
                    "pending", "uncertain", "uncertain", "held",
                ])
            #expect(planned["operations"]?[3]?["version"] == "older" && planned["operations"]?[3]?["status"] == 412)
            #expect(!FileManager.default.fileExists(atPath: store))
            let text = try await Program.sluice("store", "adopt", old, "--dry-run", "--store", store)
            for part in [
                "would move", "5 records of 1 table", "4 changes", "insert", "t5", "held", "412", "the beginning",
            ] {
                #expect(text.output.contains(part), "\(part) in \(text.output)")
            }

            let moved = try await run("store", "adopt", old, "--config", config, "--store", store)
            #expect(moved.status == 0, "\(moved)")
            #expect(try moved.json["operations"] == planned["operations"] && moved.json["dryRun"] == false)
            let status = try await run("status", "--store", store).json
            #expect(status["pending"] == 3 && status["parked"] == 1 && status["cursors"]?[0]?["query"] == "all")
            let again = try await run("store", "adopt", old, "--config", config, "--store", store)
            #expect(try again.status == 0 && again.json["adoptedBefore"]?.string != nil, "\(again)")
            #expect(try await run("status", "--store", store).json == status)
            #expect(try await run("store", "check", "--store", store).status == 0)

            // The server knows none of the records: the insert arrives, the delete is done, the rest are conflicts.
            let push = try await run("push", "--endpoint", server.endpoint, "--store", store)
            #expect(push.status == 5, "\(push)")
            let list = try await run("query", "todos", "--store", store).json
            #expect(list["items"]?.elements?.first { $0["id"] == "t5" }?["version"]?.string != nil)
        }
    }

    @Test("what the file does not tell comes from the options, and is asked for by name")
    func told() async throws {
        try await withScratch { scratch in
            let (old, store) = (try await make("toolkit", scratch), scratch.file("new.db"))
            let config = try scratch.write(
                "sync.yaml",
                """
                dialect: datasync
                tables:
                  todos:
                    columns: { done: boolean, rank: integer, big: integer }
                """)
            let without = try await run(
                "store", "adopt", old, "--config", config, "--store", store, "--table", "Todos=todos")
            #expect(try without.status == 2 && without.json["error"]?["code"] == "unsupported", "\(without)")
            #expect(without.errors.contains("Todos.Due"))
            let moved = try await run(
                "store", "adopt", old, "--config", config, "--store", store, "--table", "Todos=todos", "--zone",
                "Europe/Paris", "--format", "toolkit")
            // One change was given up by the old client, and says so.
            #expect(try moved.status == 5 && moved.json["leftOut"]?[0]?["record"] == "t2", "\(moved)")
            let record = try await run("get", "todos", "t1", "--store", store).json
            #expect(record["due"] == "2019-01-02T03:04:05.678Z" && record["big"] == 9_007_199_254_740_993)
        }
    }

    @Test(
        "mistakes in the options end with 2",
        arguments: [
            ["--format", "nett"], ["--format", "android"], ["--table", "todos"], ["--zone", "Mars/Base"],
            ["--leave", "nothing"],
            ["--dialect", "odata-v4"],
        ])
    func mistakes(_ options: [String]) async throws {
        try await withScratch { scratch in
            let (old, store) = (try await make("net", scratch), scratch.file("new.db"))
            let result = try await Program.sluice.run(["store", "adopt", old, "--store", store, "--json"] + options)
            #expect(result.status == 2, "\(result)")
        }
    }
}
