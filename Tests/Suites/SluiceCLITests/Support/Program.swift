import Foundation
import Sluice
import Testing

/// Runs the built programs as a user would: real processes, real files, and never longer than a time limit.
struct Program: Sendable {
    static let sluice = Program("sluice")
    static let lab = Program("sluice-lab")
    static let todo = Program("todo")
    static let mixedMode = Program("mixed-mode")
    static let customDaemon = Program("custom-daemon")
    static let sqlite = Program(path: "/usr/bin/sqlite3")

    /// What a process left behind.
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String

        /// The one JSON document that the program printed.
        var json: JSON { get throws { try JSON(parsing: output) } }
    }

    let path: String

    /// A program that lies beside the test's own.
    init(_ name: String) {
        let here = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        path = URL(fileURLWithPath: here).deletingLastPathComponent().appendingPathComponent(name).path
    }

    init(path: String) { self.path = path }

    /// Runs the program to its end.
    func callAsFunction(
        _ arguments: String..., input: String = "", environment: [String: String] = [:], in folder: String? = nil,
        limit: Duration = .seconds(60)
    ) async throws -> Result {
        try await run(arguments, input: input, environment: environment, in: folder, limit: limit)
    }

    func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], in folder: String? = nil,
        limit: Duration = .seconds(60)
    ) async throws -> Result {
        // Files and not pipes: nothing has to be read while the process runs.
        let scratch = try Scratch()
        defer { scratch.remove() }
        let process = try process(arguments, environment: environment, in: folder)
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.write("input", input)))
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.write("output", "")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.write("errors", "")))
        // Nobody else closes them in time, and a process with very many open files cannot start another.
        defer { for handle in [input, output, errors] { try? handle.close() } }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let end = ContinuousClock.now + limit
        while process.isRunning {
            if ContinuousClock.now > end || Task.isCancelled {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                throw TimedOut(arguments: arguments)
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return Result(
            status: process.terminationStatus,
            output: String(
                decoding: FileManager.default.contents(atPath: scratch.file("output")) ?? Data(), as: UTF8.self),
            errors: String(
                decoding: FileManager.default.contents(atPath: scratch.file("errors")) ?? Data(), as: UTF8.self))
    }

    /// The process, not started yet. Nothing of this test's own settings reaches it.
    func process(_ arguments: [String], environment: [String: String] = [:], in folder: String? = nil) throws -> Process
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("SLUICE_") && !$0.key.hasPrefix("TODO_") && $0.key != "NO_COLOR"
                && !$0.key.lowercased().hasSuffix("_proxy")
        }
        variables["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = variables.merging(environment) { _, new in new }
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        return process
    }

    struct TimedOut: Error { var arguments: [String] }
}

extension Trait where Self == ConditionTrait {
    /// Runs a test of an example's program where `make examples` has built it, as `make test` does.
    static func example(_ program: Program) -> Self {
        .enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "make examples builds it")
    }
}

extension Process {
    /// Ends it at once. A request to end may never arrive: a child begins with the signals blocked that the thread that
    /// starts it has blocked, which are most of them on a thread of the pool.
    func end() {
        if isRunning { kill(processIdentifier, SIGKILL) }
        waitUntilExit()
    }
}
