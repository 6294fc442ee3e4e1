import Foundation
import SluiceCore
import SluiceHTTP
import SluiceSQLite
import SluiceTesting
import Testing

@Suite("A hostile server") struct HostileServerTests {
    /// Runs the cases at the same time, a few at once, and gives what does not hold.
    private static func violations(
        _ cases: [HostileCase], store: @escaping @Sendable () async throws -> any LocalStore = { MemoryStore() }
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: HostileReport.self) { group in
            var waiting = cases[...]
            var violations: [String] = []
            for hostile in waiting.prefix(16) {
                group.addTask { try await HostileTrial(hostile, transport: AsyncHTTPTransport(), store: store).run() }
            }
            waiting = waiting.dropFirst(16)
            for try await report in group {
                if !report.holds { violations.append(report.description) }
                guard let hostile = waiting.popFirst() else { continue }
                group.addTask { try await HostileTrial(hostile, transport: AsyncHTTPTransport(), store: store).run() }
            }
            return violations.sorted()
        }
    }

    private static func cases(_ group: HostileCase.Group) -> [HostileCase] {
        HostileCase.all.filter { $0.group == group && $0.limits.memory == nil }
    }

    @Test(
        "what is stored is stored as well in a file", .serialized,
        arguments: [HostileCase.Group.rows, .ids, .numbers, .times, .json])
    func inFile(group: HostileCase.Group) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let violations = try await Self.violations(Self.cases(group)) {
            try SQLiteStore(
                path: folder.appending(path: "\(UUID().uuidString).db").path, options: .init(durability: .normal))
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test("every case ends as it should, and none makes the process grow by 64 MB")
    func cases() async throws {
        // One after the other in a process of their own: what others hold is not to count.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var violations: [String] = []
            for var hostile in HostileCase.all {
                hostile.limits.memory = hostile.limits.memory ?? 64 << 20
                let report = try await HostileTrial(hostile, transport: AsyncHTTPTransport()).run()
                if !report.holds { violations.append(report.description) }
            }
            FileHandle.standardError.write(Data(violations.joined(separator: "\n").utf8))
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.isEmpty, "\(said)")
    }

    @Test("there are enough cases, and no two have one name")
    func names() {
        let all = HostileCase.all
        #expect(all.count >= 120)
        #expect(Set(all.map(\.id)).count == all.count)
        #expect(Set(all.map(\.group)) == Set(HostileCase.Group.allCases))
    }
}
