import Dispatch
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("Writes of several tasks at the same time are committed together")
struct SharedCommitTests {
    private struct Refused: Error {}

    /// Another executor, which a task may prefer: it leaves the store's thread wherever it may.
    private final class Elsewhere: TaskExecutor {
        private let queue = DispatchQueue(label: "elsewhere")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
    private static let elsewhere = Elsewhere()

    @Test(
        "each one is there when it returns, and one that throws takes nothing but itself back",
        .timeLimit(.minutes(5)), arguments: [false, true])
    func isolation(prefersElsewhere: Bool) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("store.db"), options: .init(durability: .normal))
        let outcomes = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
            for number in 0..<200 {
                group.addTask(executorPreference: prefersElsewhere ? Self.elsewhere : nil) {
                    do {
                        try await store.write { writer in
                            try writer.put(["id": JSON("r\(number)"), "n": JSON(number)], in: "things")
                            // A table that is made by a part which is taken back is not there for the others.
                            if number % 7 == 3 {
                                try writer.put(["id": "x"], in: "lost\(number)")
                                throw Refused()
                            }
                        }
                        let stored = try await store.read { try $0.record(RecordID("r\(number)"), in: "things") }
                        return (number, stored?["n"]?.int == Int64(number))
                    } catch is Refused {
                        return (number, false)
                    }
                }
            }
            var outcomes: [Int: Bool] = [:]
            for try await (number, isThere) in group { outcomes[number] = isThere }
            return outcomes
        }
        #expect(outcomes.allSatisfy { $0.value == ($0.key % 7 != 3) })
        let count = try await store.read { try $0.count(matching: TableQuery("things")) }
        #expect(count == outcomes.values.filter { $0 }.count)
        #expect(try await store.read { try $0.tables().map(\.name) } == ["things"])
        try await store.close()
    }

    @Test("where the whole cannot be committed, each runs again alone")
    func full() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(
            path: folder.file("store.db"), options: .init(durability: .normal, maximumSize: 300_000))
        try await store.define([TableSchema("things")])
        let text = String(repeating: "x", count: 600_000)
        let failed = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    do {
                        try await store.write { writer in
                            let record: JSON = ["id": JSON("r\(number)"), "text": JSON(number == 9 ? text : "small")]
                            try writer.put(record, in: "things")
                        }
                        return false
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failed == 1, "only the one that is too large")
        #expect(try await store.read { try $0.count(matching: TableQuery("things")) } == 19)
        try await store.close()
    }
}
