import Foundation
import Sluice
import Testing

@Suite struct BadInputTests {
    @Test("standard input that cannot be read is told", arguments: ["insert notes -", "queue import -"])
    func noInput(command: String) async throws {
        try await withScratch { scratch in
            for input in ["< /", "<&-"] {
                let result = try await Program(path: "/bin/sh").run([
                    "-c", "exec $0 \(command) --store $1 \(input)", Program.sluice.path, scratch.file("s.db"),
                ])
                #expect(result.status == 2 && result.errors.contains("cannot be read"), "\(result)")
            }
        }
    }

    @Test(
        "an answer that is not of the protocol ends with 7 and stores nothing",
        arguments: [
            RawServer.answer("200 OK", "<html>Welcome to the hotel</html>", type: "text/html"),
            RawServer.answer("200 OK", "not json"), RawServer.answer("200 OK", #"[{"id":"1","text":"a""#),
            RawServer.answer("200 OK", #"[{"text":"a row without an id"}]"#), RawServer.answer("200 OK", ""),
            RawServer.answer("200 OK", #"{"items":[{"id":"1"}],"a":1,"a":2}"#),
            RawServer.answer("500 Internal Server Error", "{}"),
        ])
    func pull(_ answer: String) async throws {
        let server = try RawServer(answer)
        defer { server.stop() }
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let result = try await Program.sluice(
                "pull", "notes", "--query", "all", "--store", store, "--endpoint", server.endpoint, "--json")
            #expect(result.status == 7, "\(result)")
            #expect(try result.json["error"]?["table"] == "notes")
            #expect(result.errors.hasPrefix("sluice: ") && result.errors.contains("table notes"))
            let rows = try await Program.sluice("query", "notes", "--store", store, "--json")
            #expect(try rows.json["count"] == 0)
        }
    }

    @Test("a body that is cut short is a failure of the network or of the protocol, and stores nothing")
    func truncated() async throws {
        let server = try RawServer(RawServer.answer("200 OK", #"[{"id":"1"},{"id":"#, length: 4000))
        defer { server.stop() }
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let result = try await Program.sluice("pull", "notes", "--store", store, "--endpoint", server.endpoint)
            #expect([3, 7].contains(result.status), "\(result)")
            #expect(result.errors.contains("table notes"))
            #expect(try await Program.sluice("query", "notes", "--store", store, "--json").json["count"] == 0)
        }
    }

    @Test(
        "a push that is answered with nonsense names the record and keeps the change",
        arguments: [
            RawServer.answer("200 OK", "<html>Welcome</html>", type: "text/html"),
            RawServer.answer("412 Precondition Failed", "<html>no record</html>", type: "text/html"),
            RawServer.answer("201 Created", #"{"id":"another"}"#), RawServer.answer("400 Bad Request", "{}"),
        ])
    func push(_ answer: String) async throws {
        let server = try RawServer(answer)
        defer { server.stop() }
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"kept"}"#, "--store", store)
            let result = try await Program.sluice("push", "--store", store, "--endpoint", server.endpoint, "--json")
            #expect([5, 7].contains(result.status), "\(result)")
            #expect(try result.json["error"]?["record"] == "n1")
            #expect(result.errors.contains("table notes, record n1"))
            let status = try await Program.sluice("status", "--store", store, "--json").json
            let left = ["pending", "inFlight", "parked", "dead"].reduce(0) { $0 + (status[$1]?.int ?? 0) }
            #expect(left == 1)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", store, "--json").json["text"] == "kept")
        }
    }

    @Test("a file that is no store ends with 6 and stays as it is")
    func notAStore() async throws {
        try await withScratch { scratch in
            let text = String(repeating: "this is a letter and not a database\n", count: 100)
            let file = try scratch.write("letter.txt", text)
            for arguments in [["status"], ["insert", "notes", "{}"], ["query", "notes"]] {
                let result = try await Program.sluice.run(arguments + ["--store", file, "--json"])
                #expect(result.status == 6)
                #expect(try result.json["error"]?["code"] == "storeNotADatabase")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            let nowhere = scratch.file("no/such/folder/x.db")
            #expect(try await Program.sluice("insert", "notes", "{}", "--store", nowhere).status == 6)
            #expect(try await Program.sluice("status", "--store", nowhere).status == 2)
        }
    }

    @Test("a store that another program holds ends with 6")
    func locked() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", store)
            let holder = try Program.sqlite.process([store])
            let (input, output) = (Pipe(), Pipe())
            holder.standardInput = input
            holder.standardOutput = output
            try holder.run()
            defer { holder.end() }
            input.fileHandleForWriting.write(Data("BEGIN EXCLUSIVE;\nSELECT 'held';\n".utf8))
            #expect(!output.fileHandleForReading.availableData.isEmpty)
            let result = try await Program.sluice("insert", "notes", #"{"id":"n2"}"#, "--store", store, "--json")
            #expect(result.status == 6)
            #expect(try result.json["error"]?["code"] == "storeBusy")
            input.fileHandleForWriting.write(Data("ROLLBACK;\n.quit\n".utf8))
            holder.waitUntilExit()
            #expect(try await Program.sluice("query", "notes", "--store", store, "--json").json["count"] == 1)
        }
    }

    @Test("a disk without room ends with 6 and loses nothing that was stored")
    func full() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", store)
            let record = try scratch.write(
                "record.json", #"{"id":"n2","text":"\#(String(repeating: "x", count: 2_000_000))"}"#)
            // The shell's limit on the size of files stands for the full disk.
            let result = try await Program(path: "/bin/bash")(
                "-c", "trap '' XFSZ; ulimit -f 500; exec \"$0\" insert notes - --store \"$1\" < \"$2\"",
                Program.sluice.path, store, record)
            #expect(result.status == 6, "\(result)")
            #expect(result.errors.hasPrefix("sluice: "))
            #expect(try await Program.sluice("query", "notes", "--store", store, "--json").json["count"] == 1)
            #expect(try await Program.sluice("status", "--store", store, "--json").json["pending"] == 1)
        }
    }
}
