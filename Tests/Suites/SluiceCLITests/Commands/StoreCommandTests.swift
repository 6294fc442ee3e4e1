import Foundation
import Sluice
import Testing

@Suite struct StoreCommandTests {
    @Test(
        "a sound store is left as it is; a damaged one is set aside with its queue rescued, and filled by the next pull"
    )
    func recover() async throws {
        try await withServer { server, scratch in
            let store = scratch.file("local.db")
            let to = ["--store", store, "--endpoint", server.endpoint]
            for n in 1...3 {
                _ = try await Program.sluice("insert", "notes", #"{"id":"n\#(n)","text":"\#(n)"}"#, "--store", store)
            }
            #expect(try await Program.sluice.run(["sync", "notes"] + to).status == 0)
            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"kept"}"#, "--store", store)
            let sound = try await Program.sluice("store", "recover", "--store", store, "--json")
            #expect(try sound.status == 0 && sound.json["damage"] == .null)

            // The first 100 bytes, by which SQLite knows its own.
            let file = try #require(FileHandle(forWritingAtPath: store))
            try file.write(contentsOf: Data(repeating: 0x5A, count: 100))
            try file.close()
            #expect(try await Program.sluice("status", "--store", store).status == 6)
            let damaged = try await Program.sluice("store", "recover", "--store", store, "--json")
            #expect(damaged.status == 0, "\(damaged)")
            #expect(try damaged.json["rescued"]?.elements?.map { $0["record"] } == ["n1"])
            #expect(try damaged.json["isQueueWhole"] == true)
            let aside = try #require(try damaged.json["setAside"]?.string)
            #expect(FileManager.default.fileExists(atPath: aside))

            let sync = try await Program.sluice.run(["sync", "notes", "--json"] + to)
            #expect(try sync.status == 0 && sync.json["pulls"]?[0]?["stored"] == 3, "\(sync)")
            let kept = try await Program.sluice("get", "notes", "n1", "--store", store, "--json")
            #expect(try kept.json["text"] == "kept")
        }
    }

    @Test("a store is encrypted, given another key and decrypted, and works all the while")
    func encryption() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let (first, second) = (scratch.file("first.key"), scratch.file("second"))
            try Data("a horse, a battery\n".utf8).write(to: URL(fileURLWithPath: second))
            chmod(second, 0o600)
            func run(_ arguments: String..., key: [String] = []) async throws -> Program.Result {
                try await Program.sluice.run(arguments + ["--store", store] + key)
            }
            #expect(try await run("insert", "notes", #"{"id":"n1","text":"canary"}"#).status == 0)
            #expect(try await Program.sluice("store", "make-key", first).status == 0)
            #expect(try await Program.sluice("store", "make-key", first).status == 6, "it is there already")
            #expect(try await run("store", "encrypt").status == 2)
            #expect(try await run("store", "encrypt", "--new-key-file", first).status == 0)
            let content = try Data(contentsOf: URL(fileURLWithPath: store))
            #expect(content.range(of: Data("canary".utf8)) == nil)
            let refused = try await run("get", "notes", "n1")
            #expect(refused.status == 6 && refused.errors.contains("encrypted"), "\(refused)")
            #expect(try await run("get", "notes", "n1", key: ["--key-file", first]).output.contains("canary"))
            let rekey = try await run(
                "store", "rekey", "--new-passphrase-file", second, key: ["--key-file", first])
            #expect(rekey.status == 0, "\(rekey)")
            #expect(try await run("get", "notes", "n1", key: ["--key-file", first]).status == 6)
            let byPassphrase = try await Program.sluice(
                "store", "info", "--store", store, "--json",
                environment: ["SLUICE_STORE_PASSPHRASE": "a horse, a battery"])
            #expect(try byPassphrase.json["encrypted"] == true, "\(byPassphrase)")
            let both = ["--key-file", first, "--passphrase-file", second]
            #expect(try await run("get", "notes", "n1", key: both).status == 2)
            #expect(try await run("store", "decrypt", key: ["--passphrase-file", second]).status == 0)
            #expect(try await run("store", "check").status == 0)
            #expect(try await run("store", "vacuum").status == 0)
            let info = try await Program.sluice("store", "info", "--store", store, "--json").json
            #expect(info["encrypted"] == false && info["format"] == 1)
            #expect(try await run("get", "notes", "n1").output.contains("canary"))
            #expect(try await run("queue", "list", "--json").json["operations"]?.count == 1)
        }
    }

    @Test("a store whose lease another process holds is synchronised once the lease is broken")
    func breakLease() async throws {
        try await withServer { server, scratch in
            let store = scratch.file("local.db")
            let to = ["--store", store, "--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", store)
            let holder = try SQLiteStore(path: store)
            let lease = try #require(try await holder.takeLease())
            #expect(try await Program.sluice.run(["push"] + to).status == 6)
            #expect(try await Program.sluice("store", "break-lease", "--store", store).status == 0)
            #expect(try await Program.sluice.run(["push"] + to).status == 0)
            lease.release()
            try await holder.close()
        }
    }

    @Test("a row that cannot be stored is told, listed with its reason, and forgotten on demand")
    func quarantine() async throws {
        // A server that sends the same page whatever it is asked for: the pull ends there, what it has brought stays.
        let server = try RawServer(RawServer.answer("200 OK", #"[{"id":"good"},{"text":"no id"}]"#))
        defer { server.stop() }
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            let pull = try await Program.sluice(
                "pull", "notes", "--store", store, "--endpoint", server.endpoint, "--json")
            #expect(pull.status == 7)
            #expect(try pull.json["error"]?["table"] == "notes")
            #expect(try await Program.sluice("get", "notes", "good", "--store", store).status == 0)
            #expect(try await Program.sluice("status", "--store", store, "--json").json["quarantined"] == 1)
            let list = try await Program.sluice("quarantine", "list", "--store", store, "--json").json
            let id = try #require(list["rows"]?[0]?["id"]?.string).map { $0.isASCII && $0 >= " " ? $0 : " " }
            #expect(list["rows"]?[0]?["raw"]?.string?.contains("no id") == true)
            #expect(try await Program.sluice("quarantine", "--table", "other", "--store", store).output.contains("all"))
            #expect(try await Program.sluice("quarantine", "forget", "nothing", "--store", store).status == 2)
            #expect(try await Program.sluice("quarantine", "forget", "--store", store).status == 2)
            #expect(try await Program.sluice("quarantine", "forget", String(id), "--store", store).status == 0)
            #expect(try await Program.sluice("status", "--store", store, "--json").json["quarantined"] == 0)
        }
    }
}
