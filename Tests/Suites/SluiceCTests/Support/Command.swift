import Foundation

/// Another program, run to its end and never longer than a time limit.
enum Command {
    /// What a process left behind.
    struct Result: Sendable {
        var status: Int32
        /// What it printed, errors among it.
        var output: String
    }

    struct TimedOut: Error { var command: [String] }

    /// Runs a program by its name or path.
    static func run(
        _ command: [String], in folder: Folder, environment: [String: String] = [:], limit: Duration = .seconds(120)
    ) async throws -> Result {
        let log = folder.file("output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        defer { try? output.close() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SLUICE_") }
        variables["LD_LIBRARY_PATH"] = folder.file("lib")
        variables["PKG_CONFIG_PATH"] = folder.file("lib")
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = variables.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let end = ContinuousClock.now + limit
        while process.isRunning {
            if ContinuousClock.now > end || Task.isCancelled {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                throw TimedOut(command: command)
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        return Result(
            status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: text)
    }
}
