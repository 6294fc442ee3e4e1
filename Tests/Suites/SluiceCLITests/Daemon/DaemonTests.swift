import Foundation
import Sluice
import Testing

@Suite(.timeLimit(.minutes(5))) struct DaemonTests {
    private static let quick = "schedule: { spread: 0s, interval: 1s, change-delay: 10ms }"

    @Test("a change of another process goes out, rows come in, and the daemon ends in order")
    func syncs() async throws {
        try await withDaemon(Self.quick) { daemon, server, scratch in
            let local = ["--store", scratch.file("local.db")]
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"a","text":"x"}"#] + local).status == 0)
            let other = ["--store", scratch.file("other.db"), "--endpoint", server.endpoint]
            try await until("the change is on the server") {
                _ = try await Program.sluice.run(["pull", "notes"] + other)
                return try await Program.sluice.run(["get", "notes", "a"] + other).status == 0
            }
            #expect(try await Program.sluice.run(["update", "notes", "a", #"{"text":"y"}"#] + other).status == 0)
            #expect(try await Program.sluice.run(["push"] + other).status == 0)
            try await until("the server's change is here") {
                try await Program.sluice.run(["get", "notes", "a", "--json"] + local).json["text"]?.string == "y"
            }
            #expect(try await daemon.stop() == 0)
            #expect(daemon.log.contains("the daemon ends"))
            #expect(!FileManager.default.fileExists(atPath: scratch.file("local.db.sock")))
        }
    }

    @Test("a second daemon on the store is told who holds it, and commands go through the first")
    func holds() async throws {
        try await withDaemon("schedule: { on-change: false, interval: 1h, spread: 1h }") { daemon, server, scratch in
            let second = try await Program.sluice("daemon", "--config", daemon.config)
            #expect(second.status == 6)
            #expect(second.errors.contains("held by the daemon with process id \(daemon.pid)"), "\(second)")
            // A symbolic link is no other store.
            let link = scratch.file("link.db")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "local.db")
            let linked = try scratch.write(
                "linked.yaml",
                try String(contentsOfFile: daemon.config, encoding: .utf8)
                    .replacingOccurrences(of: "local.db", with: "link.db"))
            #expect(try await Program.sluice("daemon", "--config", linked).status == 6)
            #expect(
                try await Program.sluice("insert", "notes", #"{"id":"a"}"#, "--config", daemon.config).status == 0)
            let sync = try await Program.sluice("sync", "--config", daemon.config, "--json")
            #expect(sync.status == 0)
            #expect(try sync.json["daemon"]?.int == Int64(daemon.pid))
            #expect(try sync.json["runs"]?[0]?["sent"] == 1)
            // It ends, and the next one may have the store, also after a kill.
            try await daemon.stop(SIGKILL)
            let third = try await DaemonProcess(scratch, config: daemon.config)
            #expect(try await third.stop() == 0)
        }
    }

    @Test("pause holds, resume lets go on, drain sends what waits and holds")
    func control() async throws {
        try await withDaemon(Self.quick) { daemon, server, scratch in
            #expect(try await daemon.ctl("pause").status == 0)
            #expect(try await daemon.status()["state"] == "paused")
            #expect(
                try await Program.sluice("insert", "notes", #"{"id":"a"}"#, "--config", daemon.config).status == 0)
            try await Task.sleep(for: .seconds(2))
            func pending() async throws -> Int64? {
                try await daemon.status()["endpoints"]?[0]?["queue"]?["pending"]?.int
            }
            #expect(try await pending() == 1)
            #expect(try await daemon.ctl("sync").status != 0)
            #expect(try await daemon.ctl("resume").status == 0)
            try await until("the change was sent") { try await pending() == 0 }
            let drained = try await daemon.ctl("drain")
            #expect(drained.status == 0)
            #expect(try await daemon.status()["state"] == "paused")
            #expect(try await server.stop() == 0)
            #expect(
                try await Program.sluice("insert", "notes", #"{"id":"b"}"#, "--config", daemon.config).status == 0)
            // What cannot be sent is told by the exit code.
            let failed = try await daemon.ctl("drain")
            #expect(failed.status == 5)
            #expect(try failed.json["drained"]?[0]?["remaining"] == 1)
        }
    }

    @Test("a configuration with a mistake changes nothing and is told; a good one is loaded by itself")
    func reloads() async throws {
        try await withDaemon(Self.quick) { daemon, _, _ in
            let good = try String(contentsOfFile: daemon.config, encoding: .utf8)
            try (good + "\nqueries: { q: { table: notes, filter: 'text eq' } }\n").write(
                toFile: daemon.config, atomically: true, encoding: .utf8)
            try await until("the mistake is told") {
                try await daemon.status()["configuration"]?["refused"]?["message"]?.string?
                    .contains("filter of query q") ?? false
            }
            let metrics = try await daemon.ctl("metrics").output
            #expect(metrics.contains("sluice_daemon_configuration_refused 1"))
            #expect(daemon.log.contains("the configuration was not loaded"))
            let reload = try await Program.sluice("ctl", "reload", "--config", daemon.config)
            #expect(reload.status == 2 && reload.errors.contains("daemon.yaml:5:"), "\(reload)")
            try (good + "\nqueries: { q: { table: notes, filter: \"text eq 'a'\" } }\n").write(
                toFile: daemon.config, atomically: true, encoding: .utf8)
            try await until("the new one serves") {
                try await daemon.status()["configuration"]?["refused"] == JSON.null
            }
            // What needs a restart is refused, and not ignored.
            try (good + "\nlog: { level: debug }\n").write(toFile: daemon.config, atomically: true, encoding: .utf8)
            kill(daemon.pid, SIGHUP)
            try await until("the restart is asked for") {
                try await daemon.status()["configuration"]?["refused"]?["message"]?.string?.contains("restart") ?? false
            }
        }
    }

    @Test(
        "a sync that a reload cuts short is run again with the new configuration, and its answer is that of the whole")
    func reloadedMeanwhile() async throws {
        let server = try RawServer(RawServer.answer("200 OK", "[]"), after: 0.3)
        defer { server.stop() }
        try await withScratch { scratch in
            let tables = (1...4).map { "t\($0): { columns: { text: string } }" }.joined(separator: ", ")
            let config = try scratch.write(
                "daemon.yaml",
                "endpoint: \(server.endpoint)\nstore: local.db\ntables: { \(tables) }\n"
                    + "schedule: { spread: 0s, interval: 1h }\n")
            let daemon = try await DaemonProcess(scratch, config: config)
            async let sync = daemon.ctl("sync")
            try await until("it pulls") { try await daemon.status()["endpoints"]?[0]?["phase"] == "pulling" }
            #expect(try await daemon.ctl("reload").status == 0)
            let run = try await sync
            #expect(try run.status == 0 && run.json["runs"]?[0]?["error"] == .null, "\(run)")
            try await daemon.stop()
        }
    }

    @Test("the service manager is told: ready, watchdog, reloading, stopping")
    func notifies() async throws {
        let path = "/tmp/sluice-notify-\(UUID().uuidString)"
        let socket = try NotifySocket(path)
        defer { socket.close() }
        let variables = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"]
        try await withDaemon(Self.quick, environment: variables) { daemon, _, _ in
            try await until("ready") { socket.messages.contains { $0.hasPrefix("READY=1") } }
            try await until("watchdog") { socket.messages.filter { $0 == "WATCHDOG=1" }.count > 2 }
            async let reload = daemon.ctl("reload")
            try await until("reloading") {
                socket.messages.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }
            }
            #expect(try await reload.status == 0)
            // A manager that does not read stops nothing.
            try await Task.sleep(for: .seconds(2))
            #expect(try await daemon.ctl("status").status == 0)
            async let end = daemon.stop()
            try await until("stopping") { socket.messages.contains("STOPPING=1") }
            #expect(try await end == 0)
        }
    }

    @Test("config explain shows each value with where it comes from, and secrets by that alone")
    func explains() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "d.yaml", "endpoint: http://127.0.0.1:1\nstore: a.db\nschedule: { interval: 10s }\n")
            let variables = ["SLUICE_RETRY_ATTEMPTS": "7", "SLUICE_TOKEN": "canary-of-a-token"]
            let result = try await Program.sluice.run(
                ["config", "explain", "--config", config, "--json", "--set", "batch=5"], environment: variables)
            #expect(!result.output.contains("canary"))
            let values = try result.json["values"]?.elements ?? []
            func line(_ key: String) -> [String?] {
                let line = values.first { $0["key"]?.string == key }
                return [line?["value"]?.string, line?["origin"]?.string]
            }
            #expect(line("schedule.interval") == ["10s", "\(config):3:23"])
            #expect(line("retry.attempts") == ["7", "the environment's SLUICE_RETRY_ATTEMPTS"])
            #expect(line("batch") == ["5", "--batch"])
            #expect(line("conflicts") == ["hold", "built in"])
            #expect(line("token") == [nil, "the environment's SLUICE_TOKEN"])
            let wrong = try await Program.sluice.run(
                ["config", "check", "--config", config], environment: ["SLUICE_BATCH": "canary"])
            #expect(wrong.status == 2 && wrong.errors.contains("SLUICE_BATCH"), "\(wrong)")
            let schema = try await Program.sluice("config", "schema").json
            #expect(schema["properties"]?["schedule"]?["properties"]?["interval"]?["default"] == "5m")
        }
    }

    @Test(
        "changes that the server does not take: status and metric say so, and the exit code is that of a push",
        arguments: ["507 Insufficient Storage", "503 Service Unavailable", "500 Internal Server Error"])
    func refusedChanges(_ answer: String) async throws {
        let server = try RawServer(RawServer.answer(answer, "{}"))
        defer { server.stop() }
        try await withScratch { scratch in
            let insert = ["insert", "notes", #"{"id":"n1"}"#]
            let alone = ["--store", scratch.file("alone.db"), "--endpoint", server.endpoint]
            _ = try await Program.sluice.run(insert + alone)
            let push = try await Program.sluice.run(["push"] + alone)
            let config = try scratch.write(
                "daemon.yaml",
                """
                endpoint: \(server.endpoint)
                store: local.db
                schedule: { spread: 0s, interval: 1h, on-change: false, on-event: false }
                """)
            let daemon = try await DaemonProcess(scratch, config: config)
            _ = try await Program.sluice.run(insert + ["--config", config])
            #expect(try await daemon.ctl("sync").status == push.status && push.status != 0)
            let run = try await daemon.status()["endpoints"]?[0]?["lastRun"]
            #expect(run?["failed"] == 1 && run?["error"]?.string?.contains(answer.prefix(3)) == true, "\(run as Any)")
            let metrics = try await Program.sluice.run(["ctl", "metrics", "--config", config]).output
            #expect(metrics.contains(#"sluice_sync_runs_total{result="serverFailure"}"#), "\(metrics)")
            #expect(daemon.log.contains("changes did not go through"))
            try await daemon.stop()
        }
    }
}

/// The service manager's end of `sd_notify`.
final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw NeverCame(what: "a socket") }
    }

    private let seen = Kept()

    /// All messages so far.
    var messages: [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return seen.texts }
            seen.add(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }

    func close() {
        Foundation.close(descriptor)
        unlink(path)
    }

    private final class Kept: @unchecked Sendable {
        private(set) var texts: [String] = []
        func add(_ text: String) { texts.append(text) }
    }
}
