import Foundation
import Sluice
import Testing

@Suite struct LocalCommandTests {
    @Test("a value that is not what its column is declared as is refused, as an import refuses it")
    func declaredTypes() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "sync.yaml", "store: local.db\ntables: { notes: { columns: { n: integer, at: date } } }\n")
            let here = ["--config", config]
            let wrong = try await Program.sluice.run(["insert", "notes", #"{"id":"a","n":"7"}"#] + here)
            #expect(wrong.status == 2 && wrong.errors.contains("column n"), "\(wrong)")
            #expect(
                try await Program.sluice.run(["insert", "notes", #"{"id":"a","n":7,"at":null}"#] + here).status == 0)
            let update = try await Program.sluice.run(["update", "notes", "a", #"{"at":"soon"}"#] + here)
            #expect(update.status == 2 && update.errors.contains("column at"), "\(update)")
            try scratch.write(
                "sync.yaml", "store: local.db\ntables: { notes: { columns: { n: string, at: date } } }\n")
            let changed = try await Program.sluice.run(["get", "notes", "a"] + here)
            #expect(changed.status == 6 && changed.errors.contains("retype"), "\(changed)")
        }
    }

    @Test("a store that would be gone with the command is refused")
    func inMemory() async throws {
        try await withScratch { scratch in
            let result = try await Program.sluice.run(
                ["insert", "notes", "{}", "--store", ":memory:"], in: scratch.path)
            #expect(result.status == 2 && result.errors.contains("memory"), "\(result)")
            let folder = try await Program.sluice.run(["insert", "notes", "{}", "--store", scratch.path])
            #expect(folder.status == 6 && folder.errors.contains("is a folder"), "\(folder)")
            let named = try await Program.sluice.run(
                ["insert", "notes", "{}", "--store", "./:memory:"], in: scratch.path)
            #expect(named.status == 0, "\(named)")
            #expect(FileManager.default.fileExists(atPath: scratch.file(":memory:")))
        }
    }

    @Test("records are inserted, merged, read, deleted and brought back without any server")
    func records() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let inserted = try await Program.sluice(
                "insert", "notes", #"{"id":"n1","text":"hello","n":18446744073709551616}"#, "--store", store, "--json")
            #expect(inserted.status == 0)
            #expect(inserted.errors == "")
            #expect(inserted.output == #"{"id":"n1","text":"hello","n":18446744073709551616}"# + "\n")

            let updated = try await Program.sluice(
                "update", "notes", "n1", "-", "--store", store, "--json", input: #"{"done":true}"#)
            #expect(updated.status == 0)
            let got = try await Program.sluice("get", "notes", "n1", "--store", store, "--json")
            #expect(
                try got.json == JSON(parsing: #"{"id":"n1","text":"hello","n":18446744073709551616,"done":true}"#))
            let text = try await Program.sluice("get", "notes", "n1", "--store", store)
            #expect(text.output.contains("text  hello\n"))

            // An insert that nobody has seen and its delete leave nothing behind.
            #expect(try await Program.sluice("delete", "notes", "n1", "--store", store).status == 0)
            let gone = try await Program.sluice("get", "notes", "n1", "--store", store, "--json")
            #expect(gone.status == 2)
            #expect(try gone.json["error"]?["code"] == "recordMissing")
            #expect(try gone.json["error"]?["table"] == "notes")
            #expect(try gone.json["error"]?["record"] == "n1")
            #expect(gone.errors.hasPrefix("sluice: ") && gone.errors.contains("record n1"))
            let status = try await Program.sluice("status", "--store", store, "--json")
            #expect(try status.json["pending"] == 0)
        }
    }

    @Test("a query filters, sorts, pages, selects and counts")
    func query() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            for (id, year) in [("a", 1990), ("b", 2001), ("c", 1995), ("d", 2010)] {
                let record = #"{"id":"\#(id)","year":\#(year)}"#
                _ = try await Program.sluice("insert", "films", record, "--store", store)
            }
            let result = try await Program.sluice(
                "query", "films", "--filter", "year gt 1990", "--orderby", "year desc", "--skip", "1", "--top", "1",
                "--select", "id,year", "--store", store, "--json")
            #expect(result.status == 0)
            #expect(result.output == #"{"items":[{"id":"b","year":2001}],"count":3}"# + "\n")
            let text = try await Program.sluice("query", "films", "--orderby", "year", "--count", "--store", store)
            #expect(text.output == "id  year\na   1990\nc   1995\nb   2001\nd   2010\n4 records\n")
            let nothing = try await Program.sluice("query", "films", "--top", "0", "--store", store, "--json")
            #expect(nothing.output == #"{"items":[],"count":4}"# + "\n")
            let unknown = try await Program.sluice("query", "never", "--store", store, "--json")
            #expect(unknown.output == #"{"items":[],"count":0}"# + "\n")
        }
    }

    @Test("a purge refuses while changes wait, and gives them up only when forced")
    func purge() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", store)
            let refused = try await Program.sluice("purge", "notes", "--store", store, "--json")
            #expect(refused.status == 5)
            #expect(try refused.json["error"]?["code"] == "operationsPending")
            #expect(try await Program.sluice("get", "notes", "n1", "--store", store).status == 0)
            let forced = try await Program.sluice("purge", "notes", "--force", "--store", store, "--json")
            #expect(forced.status == 0)
            #expect(try forced.json["removed"] == 1)
            let unknown = try await Program.sluice("purge", "notes", "--query", "never", "--store", store)
            #expect(unknown.status == 2)
        }
    }

    @Test("the queue can be listed, shown, retried and discarded")
    func queue() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            #expect(try await Program.sluice("queue", "list", "--store", store).status == 2)
            #expect(!FileManager.default.fileExists(atPath: store), "whoever only looks makes no store")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"x"}"#, "--store", store)
            let list = try await Program.sluice("queue", "list", "--store", store, "--json").json
            let operation = try #require(list["operations"]?[0])
            #expect(operation["kind"] == "insert" && operation["record"] == "n1" && operation["state"] == "pending")
            let id = try #require(operation["id"]?.string)
            let shown = try await Program.sluice("queue", "show", id, "--store", store, "--json").json
            #expect(shown["local"]?["text"] == "x")
            #expect(try await Program.sluice("queue", "show", id, "--store", store).status == 0)
            #expect(try await Program.sluice("queue", "retry", id, "--store", store).status == 0)
            #expect(try await Program.sluice("queue", "discard", id, "--store", store).status == 0)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", store).status == 2)
            #expect(try await Program.sluice("queue", "list", "--store", store).output == "nothing waits\n")
            for command in ["show", "retry", "discard"] {
                let result = try await Program.sluice("queue", command, id, "--store", store, "--json")
                #expect(result.status == 2)
                #expect(try result.json["error"]?["message"]?.string?.isEmpty == false)
            }
        }
    }

    @Test("a store's name may come from the environment, and a flag wins over it")
    func environment() async throws {
        try await withScratch { scratch in
            let variables = ["SLUICE_STORE": scratch.file("one.db")]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, environment: variables)
            #expect(try await Program.sluice("get", "notes", "n1", environment: variables).status == 0)
            let other = try await Program.sluice(
                "get", "notes", "n1", "--store", scratch.file("two.db"), environment: variables)
            #expect(other.status == 2)
        }
    }
}
