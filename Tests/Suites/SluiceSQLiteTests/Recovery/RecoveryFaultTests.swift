import Foundation
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A recovery on storage that fails")
struct RecoveryFaultTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    private func operation(_ sequence: Int64) -> TableOperation {
        TableOperation(
            id: "o\(sequence)", sequence: sequence, table: "t", recordID: "\(sequence)", kind: .insert,
            createdAt: Timestamp(ticks: 0))
    }

    /// A store with a queue of three, one of whose pages is damaged.
    private func damaged() async throws {
        let store = try SQLiteStore(path: path)
        try await store.define(SyncTables.all + [TableSchema("t", columns: [.init("text", .string)])])
        try await store.write { writer in
            for number in 1...3 as ClosedRange<Int64> {
                try writer.put(["id": JSON("\(number)")], in: "t")
                try writer.put(operation(number).record, in: TableOperation.schema.name)
            }
            for number in 0..<200 {
                try writer.put(
                    ["id": JSON("p\(number)"), "text": JSON(String(repeating: "x", count: 100))], in: "other")
            }
        }
        try await store.close()
        let page = try SQLiteConnection(path: path, access: .readOnly).integer(
            "SELECT max(pageno) FROM dbstat WHERE name = 'other'")
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
    }

    private func rescued(_ options: SQLiteStore.Options = .init()) async throws -> Int {
        let (store, _) = try await SQLiteStore.openOrRecover(path: path, options: options)
        defer { Task { try? await store.close() } }
        let count = try await store.read { try $0.count(matching: TableQuery(TableOperation.schema.name)) }
        try await store.close()
        return count
    }

    @Test(
        "keeps the queue, whichever call fails", arguments: [StorageFaults.Fault.call, .shortWrite, .fullDisk, .sync],
        [true, false])
    func anywhere(fault: StorageFaults.Fault, repeats: Bool) async throws {
        try await damaged()
        let files = FileManager.default
        let kept = folder.file("kept.db")
        try files.copyItem(atPath: path, toPath: kept)
        var call = 1
        while true {
            for name in try files.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("store.db") {
                try files.removeItem(atPath: folder.file(name))
            }
            try files.copyItem(atPath: kept, toPath: path)
            let faults = try StorageFaults()
            faults.arm(fault, at: call, repeats: repeats)
            if let count = try? await rescued(faults.options()) { #expect(count == 3, "\(fault) \(call)") }
            let isMet = faults.fired > 0
            faults.heal()
            // A failed one loses nothing, either.
            #expect(try await rescued() == 3, "\(fault) \(call), once more")
            if !isMet { break }
            call += 1
        }
        #expect(call > 3)
    }

    @Test("an ordinary open ends a replacement that was cut in two, and keeps the damaged store's log")
    func interrupted() async throws {
        try await damaged()
        _ = try await rescued()
        let aside = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first {
                $0.contains(".damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
            })
        try? FileManager.default.removeItem(atPath: folder.file(aside) + "-wal")
        // As it stands between the renames: the damaged file has its new name, its log and the new store have not.
        #expect(rename(path, path + "-rescued") == 0)
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try Data("the log".utf8).write(to: URL(filePath: path + "-wal"))
        let store = try SQLiteStore(path: path)
        #expect(try await store.read { try $0.count(matching: TableQuery(TableOperation.schema.name)) } == 3)
        try await store.close()
        #expect(FileManager.default.contents(atPath: folder.file(aside) + "-wal") == Data("the log".utf8))
    }
}
