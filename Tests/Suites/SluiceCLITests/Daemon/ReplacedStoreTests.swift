import Foundation
import Sluice
import Testing

@Suite("A store that is replaced under a daemon", .timeLimit(.minutes(5)))
struct ReplacedStoreTests {
    private static let quick =
        "schedule: { spread: 0s, interval: 1h, change-delay: 10ms, on-event: false }\ngateway: { socket: g.sock }"

    /// Moves the store's files away, as a backup might.
    private func moveAway(_ scratch: Scratch) throws {
        try FileManager.default.createDirectory(atPath: scratch.file("away"), withIntermediateDirectories: true)
        for suffix in ["", "-wal", "-shm"]
        where FileManager.default.fileExists(atPath: scratch.file("local.db\(suffix)")) {
            try FileManager.default.moveItem(
                atPath: scratch.file("local.db\(suffix)"), toPath: scratch.file("away/local.db\(suffix)"))
        }
    }

    private func isOnServer(_ id: String, _ server: ServeProcess, _ scratch: Scratch) async throws -> Bool {
        let other = ["--store", scratch.file("\(UUID().uuidString).db"), "--endpoint", server.endpoint]
        _ = try await Program.sluice.run(["pull", "notes"] + other)
        return try await Program.sluice.run(["get", "notes", id] + other).status == 0
    }

    @Test("a change that a command writes into the new file is sent by the daemon that is running")
    func reopened() async throws {
        try await withDaemon(Self.quick) { daemon, server, scratch in
            let here = ["--config", daemon.config]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"one"}"#] + here).status == 0)
            try await until("the first is sent") { try await isOnServer("one", server, scratch) }
            try moveAway(scratch)
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"two"}"#] + here).status == 0)
            try await until("the second is sent") { try await isOnServer("two", server, scratch) }
            #expect(daemon.log.contains("another file was put in the place of the store"))
            // The daemon and others see one store again.
            #expect(try await Program.sluice.run(["sync"] + here).status == 0)
            #expect(try await Program.sluice.run(["get", "notes", "one"] + here).status == 0)
        }
    }

    @Test("a store that is moved over the other one keeps its waiting change, although the other's log is still there")
    func movedOver() async throws {
        try await withDaemon(Self.quick) { daemon, server, scratch in
            let here = ["--config", daemon.config]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"one"}"#] + here).status == 0)
            try await until("the first is sent") { try await isOnServer("one", server, scratch) }
            let new = ["--store", scratch.file("new.db"), "--endpoint", server.endpoint]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"two"}"#] + new).status == 0)
            #expect(rename(scratch.file("new.db"), scratch.file("local.db")) == 0)
            try await until("the second is sent") { try await isOnServer("two", server, scratch) }
            #expect(try await Program.sluice.run(["store", "check"] + here).status == 0)
            let doctor = try await Program.sluice.run(["doctor", "--json"] + here)
            let log = try doctor.json["findings"]?.elements?.first { $0["subject"] == "log" }
            #expect(log?["text"]?.string?.contains("local.db-wal.replaced-") == true, "\(doctor)")
        }
    }

    @Test("while there is no file the daemon says so: it reads nothing, takes nothing, and nothing is said to wait")
    func gone() async throws {
        try await withDaemon(Self.quick) { daemon, _, scratch in
            #expect(try await daemon.ctl("sync").status == 0)
            try moveAway(scratch)
            let status = try await daemon.status()
            #expect(status["endpoints"]?[0]?["error"]?.string?.contains("replaced or removed") == true, "\(status)")
            #expect(status["endpoints"]?[0]?["queue"] == nil)
            #expect(try await daemon.ctl("sync").status == 6)
            let curl = Program(path: "/usr/bin/curl")
            let socket = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", scratch.file("g.sock")]
            let read = try await curl.run(socket + ["http://localhost/tables/notes"])
            #expect(read.output.hasPrefix("5"), "\(read)")
            let body = ["-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"id":"x"}"#]
            let write = try await curl.run(socket + body + ["http://localhost/tables/notes"])
            #expect(write.output.hasPrefix("5"), "\(write)")
            // Moved back, it is the same store.
            for suffix in ["", "-wal", "-shm"]
            where FileManager.default.fileExists(
                atPath: scratch.file("away/local.db\(suffix)"))
            {
                try? FileManager.default.removeItem(atPath: scratch.file("local.db\(suffix)"))
                try FileManager.default.moveItem(
                    atPath: scratch.file("away/local.db\(suffix)"), toPath: scratch.file("local.db\(suffix)"))
            }
            try await until("the daemon works again") { try await daemon.ctl("sync").status == 0 }
        }
    }
}
