import Foundation
import Sluice
import Testing

@Suite struct QueueCommandTests {
    @Test("changes go from one store to another by export and import, once however often they are imported")
    func transfer() async throws {
        try await withScratch { scratch in
            let (here, there) = (scratch.file("here.db"), scratch.file("there.db"))
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"x"}"#, "--store", here)
            _ = try await Program.sluice("insert", "lists", #"{"id":"l1"}"#, "--store", here)
            let text = try await Program.sluice("queue", "export", "--store", here).output
            #expect(text.split(separator: "\n").count == 2)
            let file = try scratch.write("queue.jsonl", text)
            for (imported, skipped) in [(2, 0), (0, 2)] {
                let result = try await Program.sluice("queue", "import", file, "--store", there, "--json").json
                #expect(result["imported"]?.int == Int64(imported) && result["skipped"]?.int == Int64(skipped))
            }
            #expect(try await Program.sluice("get", "notes", "n1", "--store", there, "--json").json["text"] == "x")
            let one = try await Program.sluice("queue", "list", "--table", "lists", "--store", there, "--json").json
            #expect(one["operations"]?.count == 1)
            let bad = try scratch.write("bad.jsonl", text + "{\"id\":1}\n")
            #expect(try await Program.sluice("queue", "import", bad, "--store", scratch.file("x.db")).status == 2)
        }
    }

    @Test("a change is edited if nobody was faster, taken back, and the audit tells of both")
    func repair() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"x"}"#, "--store", store)
            let list = try await Program.sluice("queue", "list", "--store", store, "--json").json
            let id = try #require(list["operations"]?[0]?["id"]?.string)
            let edit = ["queue", "edit", id, #"{"id":"n1","text":"y"}"#, "--store", store, "--revision", "1"]
            #expect(try await Program.sluice.run(edit).status == 0)
            #expect(try await Program.sluice.run(edit).status == 2, "the revision has moved")
            #expect(
                try await Program.sluice.run(["queue", "edit", id, #"{"id":"n1","n":1}"#, "--store", store]).status == 2
            )
            let without = ["queue", "edit", id, #"{"id":"n1","text":null,"n":1}"#, "--store", store]
            #expect(try await Program.sluice.run(without).status == 0)
            #expect(try await Program.sluice("queue", "edit", id, #"{"text":"y"}"#, "--store", store).status == 2)
            let back = ["queue", "edit", id, #"{"id":"n1","text":"y","n":null}"#, "--store", store]
            #expect(try await Program.sluice.run(back).status == 0)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", store, "--json").json["text"] == "y")
            #expect(
                try await Program.sluice("queue", "change-kind", id, "undelete", "--store", store).status == 2)
            #expect(try await Program.sluice("queue", "resolve", id, "server", "--store", store).status == 2)
            #expect(try await Program.sluice("queue", "resolve", id, "merge", "--store", store).status == 2)
            #expect(try await Program.sluice("queue", "retry", "--store", store).status == 2)
            #expect(try await Program.sluice("queue", "retry", "--all", "--store", store).status == 0)
            #expect(try await Program.sluice("queue", "undo", "notes", "n1", "--store", store).status == 0)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", store).status == 2)
            let audit = try await Program.sluice("queue", "audit", "--store", store, "--json").json
            #expect(audit["entries"]?.elements?.map { $0["what"] } == ["edit", "edit", "edit", "undo"])
            #expect(try await Program.sluice("queue", "audit", "--store", store).output.contains("undo"))
        }
    }

    @Test("a long queue is listed page by page, with what each table holds and waits for")
    func pages() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let lines = (0..<25).map { #"{"id":"n\#($0)"}"# }.joined(separator: "\n")
            let file = try scratch.write("notes.jsonl", lines)
            #expect(try await Program.sluice("import", "notes", file, "--store", store).status == 0)
            let list = ["queue", "list", "--store", store, "--top", "10"]
            let first = try await Program.sluice.run(list + ["--json"]).json
            #expect(first["operations"]?.count == 10 && first["count"] == 25 && first["next"] == 10)
            #expect(first["tables"]?[0]?["waiting"] == 25 && first["tables"]?[0]?["rows"] == 25)
            #expect(first["tables"]?[0]?["next"]?.string?.contains("sends 25 changes") == true)
            let last = try await Program.sluice.run(list + ["--skip", "20", "--json"]).json
            #expect(last["operations"]?.elements?.last?["record"] == "n24" && last["next"] == JSON.null)
            #expect(try await Program.sluice.run(list).output.contains("10 of 25 changes: go on with --skip 10"))
            #expect(try await Program.sluice.run(list + ["--skip", "-1"]).status == 2)
        }
    }
}
