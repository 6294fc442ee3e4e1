import Foundation
import Sluice
import Testing

/// Every wire against the same server, as a person uses it.
@Suite struct DialectTests {
    @Test(
        "two stores meet through the server on every wire",
        arguments: ["azure-v1", "azure-v2", "azure-v3", "datasync"])
    func meet(dialect: String) async throws {
        try await withServer(tables: "{ notes: { softDelete: true, pageSize: 2 } }") { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint, "--dialect", dialect, "--json"]
            for id in ["a", "b", "c"] {
                let record = #"{"id":"\#(id)","text":"it's \#(id) & 100%","n":1.10}"#
                #expect(
                    try await Program.sluice("insert", "notes", record, "--store", one, "--dialect", dialect).status
                        == 0)
            }
            let push = try await Program.sluice.run(["push", "--store", one] + to)
            #expect(push.status == 0 && push.errors == "", "\(push)")
            let pull = try await Program.sluice.run(["pull", "notes", "--query", "all", "--store", two] + to)
            #expect(try pull.json["stored"] == 3, "\(pull)")
            let got = try await Program.sluice("get", "notes", "b", "--store", two, "--json")
            #expect(got.output.contains(#""n":1.10"#))
            #expect(try got.json["text"] == "it's b & 100%")

            _ = try await Program.sluice("delete", "notes", "a", "--store", two)
            _ = try await Program.sluice("update", "notes", "b", #"{"text":"theirs"}"#, "--store", two)
            #expect(try await Program.sluice.run(["sync", "notes", "--store", two] + to).status == 0)

            // A stale change is held, and an operator lets the server win.
            _ = try await Program.sluice("update", "notes", "b", #"{"text":"mine"}"#, "--store", one)
            let held = try await Program.sluice.run(["push", "--store", one] + to)
            #expect(held.status == 5, "\(held)")
            let queue = try await Program.sluice.run(["queue", "list", "--store", one, "--json"]).json
            let operation = try #require(queue["operations"]?[0]?["id"]?.string)
            #expect(try await Program.sluice.run(["queue", "retry", operation, "--store", one]).status == 0)
            let sync = try await Program.sluice.run(
                ["sync", "notes", "--conflicts", "server-wins", "--store", one] + to)
            #expect(sync.status == 0, "\(sync)")
            let all = try await Program.sluice(
                "query", "notes", "--select", "id,text", "--filter", "contains(text,'their')", "--store", one, "--json")
            #expect(try all.json["items"] == [["id": "b", "text": "theirs"]])

            _ = try await Program.sluice("undelete", "notes", "a", "--store", one)
            let back = try await Program.sluice.run(["sync", "notes", "--store", one] + to)
            #expect(back.status == 0, "\(back)")
            #expect(try await Program.sluice("get", "notes", "a", "--store", one).status == 0)
        }
    }

    @Test("the application's key comes from the environment or a file, and a bad one is a usage error")
    func key() async throws {
        try await withServer { server, scratch in
            let to = ["--endpoint", server.endpoint, "--dialect", "azure-v1", "--store", scratch.file("a.db")]
            let byVariable = try await Program.sluice.run(
                ["pull", "notes"] + to, environment: ["SLUICE_APPLICATION_KEY": "k"])
            #expect(byVariable.status == 0, "\(byVariable)")
            let file = try scratch.write("key.txt", "k\n")
            let byFile = try await Program.sluice.run(["pull", "notes", "--application-key-file", file] + to)
            #expect(byFile.status == 0, "\(byFile)")
            let missing = try await Program.sluice.run(["pull", "notes", "--application-key-file", "none"] + to)
            #expect(missing.status == 2, "\(missing)")
        }
    }

    @Test("a wire that is not known is a usage error that names those that are")
    func unknown() async throws {
        let result = try await Program.sluice("push", "--store", "x.db", "--dialect", "azure-v9")
        #expect(result.status == 2)
        #expect(result.errors.contains("azure-v1, azure-v2, azure-v3, datasync"), "\(result.errors)")
    }
}
