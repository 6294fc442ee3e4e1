import ArgumentParser
import Foundation
import HostileCases
import Sluice

/// Has clients meet each server of the table that lies, and prints what did not hold. In a process of its own, since
/// it measures memory and time.
struct HostileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hostile", abstract: "Has clients meet servers that lie.")

    @Flag(help: "Only the cases of what is stored, each with a store in a file, several at a time.") var files = false

    /// The memory that no case may make the process grow by, in bytes.
    private static let mostMemory = 96 << 20
    /// The times are those of a client that has a processor to itself, and a test may have a part of one.
    private static let patience = 3
    private static let stored: [HostileCase.Group] = [.rows, .ids, .numbers, .times, .json]

    func run() async throws {
        let violations = try await files ? inFiles() : inMemory()
        print(violations.joined(separator: "\n"))
        if !violations.isEmpty { throw ExitCode.failure }
    }

    /// One after the other, so that each is measured alone.
    private func inMemory() async throws -> [String] {
        var violations: [String] = []
        for var hostile in HostileCase.all {
            hostile.limits.duration *= Self.patience
            hostile.limits.memory = hostile.limits.memory ?? Self.mostMemory
            let report = try await HostileTrial(hostile, transport: AsyncHTTPTransport()).run()
            if !report.holds { violations.append(report.description) }
        }
        return violations
    }

    private func inFiles() async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var waiting = HostileCase.all.filter { Self.stored.contains($0.group) && $0.limits.memory == nil }[...]
        return try await withThrowingTaskGroup(of: HostileReport.self) { group in
            func begin() {
                guard var hostile = waiting.popFirst() else { return }
                hostile.limits.duration *= Self.patience
                group.addTask { [hostile] in
                    try await HostileTrial(hostile, transport: AsyncHTTPTransport()) {
                        try SQLiteStore(
                            path: folder.appending(path: "\(UUID().uuidString).db").path,
                            options: .init(durability: .normal))
                    }.run()
                }
            }
            for _ in 0..<8 { begin() }
            var violations: [String] = []
            for try await report in group {
                if !report.holds { violations.append(report.description) }
                begin()
            }
            return violations.sorted()
        }
    }
}
