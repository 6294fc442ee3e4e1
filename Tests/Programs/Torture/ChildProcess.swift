import Foundation
import Synchronization

/// A process whose lines are read as they come.
final class ChildProcess: Sendable {
    let pid: Int32
    let lines: AsyncStream<Substring>
    private let process: Process

    init(_ program: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        variables["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = variables
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        pid = process.processIdentifier
        let (lines, continuation) = AsyncStream<Substring>.makeStream()
        self.lines = lines
        // A thread of its own: reading blocks until the process has ended and the pipe is empty.
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread {
            var rest: [UInt8] = []
            while case let data = reading.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(Substring(String(decoding: rest[..<end], as: UTF8.self)))
                    rest.removeSubrange(...end)
                }
            }
            continuation.finish()
        }
    }

    func signal(_ signal: Int32) { kill(pid, signal) }

    /// Ends it, if it has not ended, and waits until it is gone.
    func end() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Waits until it has ended by itself.
    func wait() { process.waitUntilExit() }

    var isRunning: Bool { process.isRunning }

    /// How it failed, if it ended by itself and not well.
    var failure: String? {
        guard !process.isRunning else { return nil }
        let isKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        return isKilled || process.terminationStatus == 0 ? nil : "it ended with \(process.terminationStatus)"
    }
}

/// A `sluice serve` with a database file, which can be ended and started again at the same address.
final class ServerProcess {
    let program: String
    let folder: String
    private(set) var port = 0
    private var child: ChildProcess?

    init(program: String, folder: String) throws {
        self.program = program
        self.folder = folder
        let configuration = "database: sqlite:backend.db\ntables:\n  todos: { softDelete: true, pageSize: 20 }\n"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/backend.yaml"))
    }

    var endpoint: String { "http://127.0.0.1:\(port)" }

    func start() async throws {
        let child = try ChildProcess(
            program, ["serve", "--config", folder + "/backend.yaml", "--port", "\(port)"])
        self.child = child
        for await line in child.lines {
            if let text = line.split(separator: ":").last, let port = Int(text.filter(\.isNumber)), port > 0 {
                self.port = port
                return
            }
        }
        throw TortureFailure(message: "the server ended before it listened")
    }

    func end() {
        child?.end()
        child = nil
    }
}

struct TortureFailure: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}
