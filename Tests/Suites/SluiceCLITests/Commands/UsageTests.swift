import Foundation
import Sluice
import Testing

@Suite struct UsageTests {
    @Test(
        "what cannot be done as it is written ends with 2 and says why",
        arguments: [
            ["frobnicate"], ["pull", "movies", "--frobnicate"], ["pull"], ["query", "t", "--top", "many"],
            ["query", "t", "--filter", "year ge"], ["query", "t", "--orderby", "1"], ["query", "t", "--select", ","],
            ["query", "t", "--top=-1"], ["query", "t", "--filter", "title eq 5 and nofunction(x)"],
            ["sql"], ["sql", "SELECT 1"], ["sql", "DELETE FROM t"],
            ["insert", "t", "{"], ["insert", "t", "[]"], ["insert", "t", #"{"id":5}"#], ["insert", "t", #"{"id":""}"#],
            ["insert", "t", #"{"a":1,"a":2}"#], ["update", "t", "x", "{}"], ["update", "t", "x", #"{"id":"y"}"#],
            ["import", "t"], ["import", "t", "-"], ["import", "t", "/nonexistent.csv"],
            ["import", "no table", "x.csv"],
            ["delete", "t", "x"], ["get", "no table", "x"], ["insert", "sluice_queue", "{}"], ["query", "a;b"],
            ["push"], ["pull", "t"], ["sync"], ["push", "--endpoint", "ftp://x"], ["push", "--endpoint", "nonsense"],
            ["push", "--endpoint", "http://user:secret@127.0.0.1:1"], ["status", "--dialect", "azure-v9"],
            ["push", "--conflicts", "perhaps", "--endpoint", "http://127.0.0.1:1"],
            ["status", "--config", "/nonexistent.yaml"], ["queue", "frob"], ["serve"],
            ["serve", "--config", "/nonexistent.yaml"], ["serve", "--config", "/nonexistent.yaml", "--port", "99999"],
            ["push", "--endpoint", "http://127.0.0.1:1", "--token-file", "/nonexistent"],
        ])
    func usage(_ arguments: [String]) async throws {
        try await withScratch { scratch in
            var arguments = arguments
            if !["serve", "frobnicate"].contains(arguments[0]), arguments != ["queue", "frob"] {
                arguments += ["--store", scratch.file("local.db")]
            }
            let result = try await Program.sluice.run(arguments, in: scratch.path)
            #expect(result.status == 2, "\(arguments): \(result)")
            #expect(result.output == "")
            #expect(result.errors.hasPrefix("sluice: "))
            #expect(result.errors.filter { $0 == "\n" }.count == 1)
            #expect(!result.errors.contains("secret"))
            guard arguments[0] != "serve" else { return }
            let json = try await Program.sluice.run(arguments + ["--json"], in: scratch.path)
            #expect(json.status == 2)
            let error = try #require(try json.json["error"])
            #expect(error.names == ["code", "message", "table", "record", "status"])
        }
    }

    @Test("an argument that is not UTF-8 is refused, not repaired")
    func notText() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let result = try await Program(path: "/bin/bash")(
                "-c", #"exec "$0" insert notes $'{"text":"\xff"}' --store "$1""#, Program.sluice.path, store)
            #expect(result.status == 2)
            #expect(result.errors.contains("not UTF-8"))
            #expect(!FileManager.default.fileExists(atPath: store))
        }
    }

    @Test("help is not an error", arguments: [["--help"], ["help"], ["pull", "--help"], ["help", "queue"], []])
    func help(_ arguments: [String]) async throws {
        let result = try await Program.sluice.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE"))
        #expect(result.errors == "")
    }

    @Test("without a store or a server the message names the ways to give one")
    func missing() async throws {
        let store = try await Program.sluice("status")
        #expect(store.status == 2)
        #expect(store.errors.contains("--store") && store.errors.contains("SLUICE_STORE"))
        let server = try await withScratch { try await Program.sluice("push", "--store", $0.file("x.db")) }
        #expect(server.errors.contains("--endpoint") && server.errors.contains("SLUICE_ENDPOINT"))
    }
}
