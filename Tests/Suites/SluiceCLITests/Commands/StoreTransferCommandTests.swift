import Foundation
import Sluice
import Testing

@Suite struct StoreTransferCommandTests {
    private func run(_ arguments: String..., store: String) async throws -> Program.Result {
        try await Program.sluice.run(arguments + ["--store", store, "--json"])
    }

    private func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    private func isThere(_ file: String) -> Bool { FileManager.default.fileExists(atPath: file) }

    /// What the store's tables are and hold, except for the lease, which is of one store alone.
    private func tables(_ store: String) async throws -> [JSON] {
        let info = try await run("store", "info", store: store).json
        return (info["tables"]?.elements ?? []).filter { $0["name"] != "sluice_lease" }
    }

    /// A store that has pulled, with a change and a new record that wait, and a change that was given up.
    private func used(_ server: ServeProcess, _ scratch: Scratch) async throws -> String {
        let store = scratch.file("local.db")
        let config = try scratch.write(
            "tables.yaml",
            """
            tables:
              notes:
                columns: { text: string }
                indexes: [text]
            """)
        for n in 1...3 {
            let record = #"{"id":"n\#(n)","text":"canary pulled \#(n)"}"#
            #expect(try await run("insert", "notes", record, "--config", config, store: store).status == 0)
        }
        #expect(try await run("sync", "notes", "--endpoint", server.endpoint, store: store).status == 0)
        #expect(try await run("update", "notes", "n2", #"{"text":"canary given up"}"#, store: store).status == 0)
        let list = try await run("queue", "list", store: store).json
        let id = try #require(list["operations"]?[0]?["id"]?.string)
        #expect(try await run("queue", "discard", id, store: store).status == 0)
        #expect(try await run("update", "notes", "n1", #"{"text":"canary changed"}"#, store: store).status == 0)
        #expect(try await run("insert", "notes", #"{"id":"n4","text":"canary new"}"#, store: store).status == 0)
        return store
    }

    @Test("a store goes on from a file where it stood: its rows, its queue and its cursors")
    func goesOn() async throws {
        try await withServer { server, scratch in
            let store = try await used(server, scratch)
            let (file, copy) = (scratch.file("store.jsonl"), scratch.file("copy.db"))
            let exported = try await run("store", "export", file, store: store)
            #expect(exported.status == 0, "\(exported)")
            #expect(try exported.json["records"] == ["notes": 4] && exported.json["operations"] == 2)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600, "its owner's only")

            let imported = try await run("store", "import", file, store: copy)
            #expect(imported.status == 0, "\(imported)")
            #expect(try imported.json == exported.json)
            let held = try await tables(copy)
            #expect(try await tables(store) == held)
            for (name, records) in [("notes", 4), ("sluice_operations", 2), ("sluice_cursors", 1), ("sluice_audit", 1)]
            {
                #expect(held.first { $0["name"] == JSON(name) }?["records"]?.int == Int64(records), "\(name)")
            }
            let notes = held.first { $0["name"] == "notes" }
            #expect(notes?["columns"] == 1 && notes?["indexes"] == 1)
            let again = scratch.file("again.jsonl")
            #expect(try await run("store", "export", again, store: copy).status == 0)
            #expect(try text(again) == text(file))

            for command in [["queue", "list"], ["status"], ["query", "notes"]] {
                let there = try await Program.sluice.run(command + ["--store", copy, "--json"])
                let here = try await Program.sluice.run(command + ["--store", store, "--json"])
                #expect(there.status == 0 && there.output == here.output, "\(command): \(there)")
            }
            let push = try await run("push", "--endpoint", server.endpoint, store: copy)
            #expect(try push.status == 0 && push.json["applied"] == 2, "\(push)")
            #expect(try await run("store", "check", store: copy).status == 0)
        }
    }

    @Test("what is left out is nowhere in the file, which is no store any more", arguments: ["notes.text", "notes"])
    func redacted(_ redaction: String) async throws {
        try await withServer { server, scratch in
            let store = try await used(server, scratch)
            let (whole, file, copy) = (scratch.file("whole"), scratch.file("redacted"), scratch.file("copy.db"))
            #expect(try await run("store", "export", whole, store: store).status == 0)
            let all = try text(whole)
            for canary in ["canary pulled 1", "canary pulled 3", "canary given up", "canary changed", "canary new"] {
                #expect(all.contains(canary), "\(canary) is where it could be seen")
            }
            let exported = try await run("store", "export", file, "--redact", redaction, store: store)
            #expect(exported.status == 0, "\(exported)")
            let shown = try text(file)
            #expect(!shown.contains("canary"))
            #expect(
                shown.contains(#""record":"n4""#) && shown.contains(#""kind":"insert""#), "what waits is to be seen")
            let imported = try await run("store", "import", file, store: copy)
            #expect(try imported.status == 2 && imported.json["error"]?["code"] == "invalidRecord", "\(imported)")
            #expect(!isThere(copy))
        }
    }

    @Test("what is misspelt is not left out unsaid", arguments: ["note.text", "notes.", ".text"])
    func misspelt(_ redaction: String) async throws {
        try await withScratch { scratch in
            let (store, file) = (scratch.file("local.db"), scratch.file("store.jsonl"))
            #expect(try await run("insert", "notes", #"{"id":"n1","text":"canary"}"#, store: store).status == 0)
            let result = try await run("store", "export", file, "--redact", redaction, store: store)
            #expect(try result.status == 2 && result.json["error"]?["code"] == "invalidArgument", "\(result)")
            #expect(!isThere(file))
        }
    }

    @Test("a store for others waits for nothing, and has nothing of what happened here")
    func prefilled() async throws {
        try await withServer { server, scratch in
            let store = try await used(server, scratch)
            let (whole, file, copy) = (scratch.file("whole"), scratch.file("prefilled"), scratch.file("copy.db"))
            let early = try await run("store", "export", file, "--prefilled", store: store)
            #expect(try early.status == 5 && early.json["error"]?["code"] == "operationsPending", "\(early)")
            #expect(!isThere(file))

            #expect(try await run("sync", "notes", "--endpoint", server.endpoint, store: store).status == 0)
            #expect(try await run("store", "export", whole, store: store).status == 0)
            let exported = try await run("store", "export", file, "--prefilled", store: store)
            #expect(try exported.status == 0 && exported.json["records"] == ["notes": 4], "\(exported)")
            let (all, shown) = (try text(whole), try text(file))
            for trace in ["127.0.0.1:\(server.port)", "sluice_audit", "canary given up"] {
                #expect(all.contains(trace) && !shown.contains(trace), "\(trace)")
            }

            #expect(try await run("store", "import", file, store: copy).status == 0)
            #expect(try await run("get", "notes", "n4", store: copy).json["text"] == "canary new")
            let status = try await run("status", store: copy).json
            #expect(status["pending"] == 0 && status["cursors"]?[0]?["query"] == "sync")
            // It follows the server from there on.
            #expect(try await run("update", "notes", "n3", #"{"text":"later"}"#, store: store).status == 0)
            #expect(try await run("push", "--endpoint", server.endpoint, store: store).status == 0)
            #expect(try await run("sync", "notes", "--endpoint", server.endpoint, store: copy).status == 0)
            #expect(try await run("get", "notes", "n3", store: copy).json["text"] == "later")
            #expect(try await run("query", "notes", store: copy).json["count"] == 4)
        }
    }

    @Test("a file that is damaged, wherever it is, ends with 2 and leaves nothing behind")
    func damaged() async throws {
        try await withScratch { scratch in
            let (store, file) = (scratch.file("local.db"), scratch.file("store.jsonl"))
            for n in 1...3 {
                #expect(try await run("insert", "notes", #"{"id":"n\#(n)"}"#, store: store).status == 0)
            }
            #expect(try await run("store", "export", file, store: store).status == 0)
            let lines = try text(file).split(separator: "\n").map(String.init)
            let middle = lines.count / 2
            var (garbled, missing, doubled) = (lines, lines, lines)
            garbled[middle] = String(lines[middle].dropLast(9))
            missing.remove(at: middle)
            doubled.insert(lines[middle], at: middle)
            let cut: [[String]] = [
                [], Array(lines.dropFirst()), Array(lines.dropLast()), garbled, missing, doubled,
            ]
            var damaged = cut.map { Data(($0.joined(separator: "\n") + "\n").utf8) }
            damaged.append(Data())
            var noText = Data(try text(file).utf8)
            noText.append(0xFF)
            damaged.append(noText)
            for (number, data) in damaged.enumerated() {
                let bad = scratch.file("bad-\(number).jsonl")
                try data.write(to: URL(fileURLWithPath: bad))
                let folder = scratch.file("folder-\(number)")
                let result = try await run("store", "import", bad, store: "\(folder)/copy.db")
                #expect(result.status == 2, "\(number): \(result)")
                let code = try result.json["error"]?["code"]
                #expect(code == "invalidRecord" || code == "invalidJSON", "\(number): \(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "\(number)")
            }
        }
    }

    @Test("a file without a line's end is not read into memory as a whole")
    func endless() async throws {
        try await withScratch { scratch in
            let (file, copy) = (scratch.file("endless"), scratch.file("copy.db"))
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.write("endless", "")))
            // Nothing but a length, which takes no room on the disk.
            try handle.truncate(atOffset: (64 << 20) + 1)
            try handle.close()
            let result = try await run("store", "import", file, store: copy)
            #expect(result.status == 2)
            #expect(try result.json["error"]?["message"] == "line 1 is longer than 67108864 bytes")
            #expect(!isThere(copy))
        }
    }

    @Test("an import that is killed leaves no store under the name, and the next one makes it")
    func killed() async throws {
        try await withScratch { scratch in
            let (store, file, pipe) = (scratch.file("local.db"), scratch.file("store.jsonl"), scratch.file("pipe"))
            let copy = scratch.file("copy.db")
            #expect(try await run("insert", "notes", #"{"id":"n1"}"#, store: store).status == 0)
            #expect(try await run("store", "export", file, store: store).status == 0)
            #expect(mkfifo(pipe, 0o600) == 0)
            let importing = try Program.sluice.process(["store", "import", pipe, "--store", copy])
            try importing.run()
            // The head alone: the import waits for the rest.
            let writer = try #require(FileHandle(forWritingAtPath: pipe))
            let head = try #require(try text(file).split(separator: "\n").first)
            try writer.write(contentsOf: Data("\(head)\n".utf8))
            func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.path) }
            try await until("the import is under way") {
                (try? files().contains { $0.hasPrefix("copy.db") && $0.hasSuffix("-wal") }) == true
            }
            importing.end()
            try writer.close()
            #expect(!isThere(copy))
            #expect(try await run("store", "check", store: copy).status == 2, "no store")
            #expect(try await run("store", "import", file, store: copy).status == 0)
            #expect(try await run("query", "notes", store: copy).json["count"] == 1)
            let left = try files().filter { $0.contains("draft") }
            #expect(left == [])
        }
    }

    @Test("- is standard output and standard input, and no file's name")
    func dash() async throws {
        try await withScratch { scratch in
            let (store, copy) = (scratch.file("local.db"), scratch.file("copy.db"))
            #expect(try await run("insert", "notes", #"{"id":"n1"}"#, store: store).status == 0)
            for flags in [[], ["--json"]] {
                let exported = try await Program.sluice.run(
                    ["store", "export", "-", "--store", store] + flags, in: scratch.path)
                #expect(exported.status == 0 && exported.errors.contains("1 record"), "\(exported)")
                let imported = try await Program.sluice.run(
                    ["store", "import", "-", "--store", copy + "\(flags.count)"], input: exported.output)
                #expect(imported.status == 0, "\(imported)")
            }
            #expect(try await Program.sluice("store", "make-key", "-", in: scratch.path).status == 2)
            #expect(!isThere(scratch.file("-")))
        }
    }

    @Test("nothing that is there is written over")
    func isThereAlready() async throws {
        try await withScratch { scratch in
            let (store, file, copy) = (scratch.file("local.db"), scratch.file("store.jsonl"), scratch.file("copy.db"))
            #expect(try await run("insert", "notes", #"{"id":"n1"}"#, store: store).status == 0)
            #expect(try await run("store", "export", file, store: store).status == 0)
            let exported = try text(file)
            let again = try await run("store", "export", file, store: store)
            #expect(again.status == 2 && again.errors.contains("store.jsonl"), "\(again)")
            #expect(try text(file) == exported)

            #expect(try await run("insert", "notes", #"{"id":"n2"}"#, store: copy).status == 0)
            let imported = try await run("store", "import", file, store: copy)
            #expect(imported.status == 2 && imported.errors.contains("is there already"), "\(imported)")
            let held = try await run("query", "notes", "--select", "id", store: copy)
            #expect(held.output == #"{"items":[{"id":"n2"}],"count":1}"# + "\n")
            // One that is no store at all is nobody's to take either.
            let other = try scratch.write("other", "a letter")
            #expect(try await run("store", "import", file, store: other).status == 2)
            #expect(try text(other) == "a letter")
            #expect(try await run("store", "import", scratch.file("nothing"), store: scratch.file("x.db")).status == 2)
            #expect(!isThere(scratch.file("x.db")))
        }
    }

    @Test("Sluice's own stores conform on this machine, and where no store can be made, none does")
    func conforms() async throws {
        try await withScratch { scratch in
            let good = try await Program.lab("conform", "--folder", scratch.file("stores"))
            #expect(good.status == 0 && good.output.hasSuffix(" checks, 0 failed\n"), "\(good)")
            let bad = try await Program.lab("conform", "--folder", try scratch.write("file", "no folder"))
            #expect(bad.status == 1 && !bad.output.contains(" 0 failed"), "\(bad)")
        }
    }
}
