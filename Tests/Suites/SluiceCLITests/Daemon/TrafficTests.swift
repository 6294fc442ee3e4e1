import Foundation
import Sluice
import Testing

/// Lines that cost, as a running daemon spares them.
@Suite(.timeLimit(.minutes(5))) struct TrafficTests {
    private func isHere(_ id: String, _ daemon: DaemonProcess) async throws -> Bool {
        try await Program.sluice("get", "notes", id, "--config", daemon.config).status == 0
    }

    /// Another device writes a row and sends it.
    private func writeElsewhere(_ id: String, _ server: ServeProcess, _ scratch: Scratch) async throws {
        let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
        #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"\#(id)"}"#] + other).status == 0)
        #expect(try await Program.sluice.run(["push"] + other).status == 0)
    }

    private func isOnServer(_ id: String, _ server: ServeProcess, _ scratch: Scratch) async throws -> Bool {
        let other = ["--store", scratch.file("\(UUID().uuidString).db"), "--endpoint", server.endpoint]
        _ = try await Program.sluice.run(["pull", "notes"] + other)
        return try await Program.sluice.run(["get", "notes", id] + other).status == 0
    }

    @Test("on a metered line changes are sent and pulls wait, until it is metered no longer or somebody asks")
    func metered() async throws {
        let settings = """
            schedule: { spread: 0s, interval: 1s, on-event: false, change-delay: 0s }
            traffic: { metered: false, metered-file: metered, metered-interval: 1h }
            """
        try await withDaemon(settings, files: ["metered": "1\n"]) { daemon, server, scratch in
            try await until("the first pull is over") {
                try await daemon.status()["endpoints"]?[0]?["lastRun"] != JSON.null
            }
            try await writeElsewhere("far", server, scratch)
            let here = try await Program.sluice("insert", "notes", #"{"id":"near"}"#, "--config", daemon.config)
            #expect(here.status == 0)
            try await until("the change is sent") { try await isOnServer("near", server, scratch) }
            try await Task.sleep(for: .seconds(2))
            #expect(try await !isHere("far", daemon))
            #expect(try await daemon.status()["endpoints"]?[0]?["traffic"]?["metered"] == true)
            #expect(try await daemon.ctl("sync").status == 0)
            #expect(try await isHere("far", daemon), "somebody asked")
            try await writeElsewhere("farther", server, scratch)
            try scratch.write("metered", "0\n")
            _ = try await daemon.ctl("reload")
            try await until("it comes with the interval") { try await isHere("farther", daemon) }
        }
    }

    @Test("once the bytes of a day are spent, scheduled runs wait, and a restart forgets nothing")
    func budget() async throws {
        let settings = """
            schedule: { spread: 0s, interval: 1s, on-event: false }
            traffic: { daily-bytes: 200 }
            """
        try await withDaemon(settings) { daemon, server, scratch in
            let text = String(repeating: "x", count: 300)
            let here = try await Program.sluice(
                "insert", "notes", #"{"id":"near","text":"\#(text)"}"#, "--config", daemon.config)
            #expect(here.status == 0)
            try await until("the change is sent") { try await isOnServer("near", server, scratch) }
            try await until("the bytes are spent, and the run is over") {
                let endpoint = try await daemon.status()["endpoints"]?[0]
                let until = endpoint?["waitsUntil"]?.string.flatMap { Timestamp($0) } ?? SystemClock.now()
                return endpoint?["traffic"]?["bytesToday"]?.int ?? 0 >= 300
                    && until > SystemClock.now().advanced(by: .seconds(30))
            }
            try await writeElsewhere("far", server, scratch)
            try await Task.sleep(for: .seconds(3))
            #expect(try await !isHere("far", daemon))
            #expect(try await daemon.ctl("reload").status == 0)
            try await Task.sleep(for: .seconds(2))
            #expect(try await !isHere("far", daemon))
            #expect(try await daemon.ctl("sync").status == 0)
            #expect(try await isHere("far", daemon))
        }
    }
}
