import Foundation
import Sluice

/// A running `sluice daemon`.
final class DaemonProcess: Sendable {
    let config: String
    let pid: Int32
    private let process: Process
    private let logPath: String

    /// Starts the daemon and waits until it answers on its socket.
    init(
        _ scratch: Scratch, config: String, _ arguments: [String] = [], environment: [String: String] = [:],
        waits: Bool = true
    ) async throws {
        self.config = config
        logPath = try scratch.write("daemon-\(UUID().uuidString).log", "")
        process = try Program.sluice.process(["daemon", "--config", config] + arguments, environment: environment)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: logPath))
        try process.run()
        pid = process.processIdentifier
        guard waits else { return }
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let status = try await Program.sluice.run(["ctl", "status", "--config", config, "--json"])
            if status.status == 0, try status.json["state"] != "starting" { break }
            guard process.isRunning, ContinuousClock.now < end else {
                kill(pid, SIGKILL)
                throw DidNotStart(log: log)
            }
        }
    }

    struct DidNotStart: Error { var log: String }

    /// What it has logged so far.
    var log: String {
        String(decoding: FileManager.default.contents(atPath: logPath) ?? Data(), as: UTF8.self)
    }

    var isRunning: Bool { process.isRunning }

    /// Asks it over its socket.
    func ctl(_ arguments: String...) async throws -> Program.Result {
        try await Program.sluice.run(["ctl"] + arguments + ["--config", config, "--json"])
    }

    func status() async throws -> JSON { try await ctl("status").json }

    /// Ends it as an operator would, and gives its exit code.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        kill(pid, signal)
        let end = ContinuousClock.now + .seconds(30)
        while process.isRunning {
            if ContinuousClock.now > end { kill(pid, SIGKILL) }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return process.terminationStatus
    }
}

/// Waits until the condition is met; throws after a minute.
func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NeverCame(what: what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}

struct NeverCame: Error { var what: String }

/// Runs `body` with a daemon over a server with the table `notes`, and ends both in any case.
func withDaemon<Result>(
    _ settings: String = "", files: [String: String] = [:], arguments: [String] = [],
    environment: [String: String] = [:],
    _ body: (DaemonProcess, ServeProcess, Scratch) async throws -> Result
) async throws -> Result {
    try await withServer { server, scratch in
        for (name, text) in files {
            try FileManager.default.createDirectory(
                atPath: (scratch.file(name) as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try scratch.write(name, text)
        }
        let config = try scratch.write(
            "daemon.yaml",
            """
            endpoint: \(server.endpoint)
            store: local.db
            tables: { notes: { columns: { text: string } } }
            \(settings)
            """)
        let daemon = try await DaemonProcess(scratch, config: config, arguments, environment: environment)
        do {
            let result = try await body(daemon, server, scratch)
            try await daemon.stop()
            return result
        } catch {
            try await daemon.stop(SIGKILL)
            throw error
        }
    }
}
