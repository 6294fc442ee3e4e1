import Foundation

/// A running `sluice serve`.
final class ServeProcess: Sendable {
    let port: Int
    var endpoint: String { "http://127.0.0.1:\(port)" }
    private let pid: Int32
    private let process: Process
    private let outputPath: String

    /// Starts the server and waits for its line.
    init(_ scratch: Scratch, config: String, port: Int = 0) async throws {
        let name = "serve-\(UUID().uuidString)"
        outputPath = try scratch.write(name, "")
        process = try Program.sluice.process(["serve", "--config", config, "--port", "\(port)"])
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
        process.standardError = FileHandle.nullDevice
        try process.run()
        pid = process.processIdentifier
        var found: Int?
        let end = ContinuousClock.now + .seconds(60)
        while found == nil {
            guard process.isRunning, ContinuousClock.now < end else {
                kill(pid, SIGKILL)
                throw DidNotListen()
            }
            let text = Self.text(outputPath)
            if text.hasSuffix("\n"), let last = text.split(separator: ":").last {
                found = Int(last.trimmingCharacters(in: .whitespacesAndNewlines))
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        self.port = found ?? 0
    }

    /// What it printed so far.
    var output: String { Self.text(outputPath) }

    /// Ends it as an operator would, and gives its exit code.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        kill(pid, signal)
        let end = ContinuousClock.now + .seconds(10)
        while process.isRunning {
            if ContinuousClock.now > end { kill(pid, SIGKILL) }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    struct DidNotListen: Error {}
}

/// Runs `body` with a server that serves `tables` from memory, and ends the server in any case.
func withServer<Result>(
    tables: String = "{ notes: { softDelete: true } }",
    _ body: (ServeProcess, Scratch) async throws -> Result
) async throws -> Result {
    try await withScratch { scratch in
        let config = try scratch.write("backend.yaml", "database: \"sqlite::memory:\"\ntables: \(tables)\n")
        let server = try await ServeProcess(scratch, config: config)
        do {
            let result = try await body(server, scratch)
            try await server.stop()
            return result
        } catch {
            try await server.stop(SIGKILL)
            throw error
        }
    }
}

/// Runs `body` with a folder of its own.
func withScratch<Result>(_ body: (Scratch) async throws -> Result) async throws -> Result {
    let scratch = try Scratch()
    defer { scratch.remove() }
    return try await body(scratch)
}
