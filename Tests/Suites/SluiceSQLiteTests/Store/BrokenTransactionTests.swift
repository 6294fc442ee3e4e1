import Foundation
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("A transaction that SQLite has ended by itself")
struct BrokenTransactionTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    private func ids(_ path: String) async throws -> [String] {
        let store = try SQLiteStore(path: path)
        let ids = try await store.read { try $0.records(matching: TableQuery("t")).compactMap { $0["id"]?.string } }
        try await store.close()
        return ids
    }

    @Test("throws the first failure, and leaves nothing, though the body caught it", arguments: [true, false])
    func caught(goesOn: Bool) async throws {
        let store = try SQLiteStore(path: path, options: .init(maximumSize: 100_000))
        try await store.write { try $0.put(["id": "0"], in: "t") }
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { writer in
                try writer.put(["id": "first"], in: "t")
                try? writer.put(["id": "large", "text": JSON(String(repeating: "x", count: 300_000))], in: "t")
                if goesOn {
                    try? writer.put(["id": "later"], in: "t")
                    _ = try? writer.delete(["0"], from: "t")
                    let seen = try? writer.count(matching: TableQuery("t"))
                    #expect(seen == nil)
                }
            }
        }
        #expect(error?.code == .storeFull)
        try await store.write { try $0.put(["id": "next"], in: "t") }
        try await store.close()
        #expect(try await ids(path) == ["0", "next"])
    }

    @Test("a commit that was refused is not there after a kill, either", arguments: [true, false])
    func refusedCommit(repeats: Bool) async throws {
        let faults = try StorageFaults()
        let store = try SQLiteStore(path: path, options: faults.options())
        try await store.write { try $0.put(["id": "1"], in: "t") }
        faults.arm(.sync, at: 1, repeats: repeats)
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { writer in
                for number in 2..<50 { try writer.put(["id": JSON("\(number)")], in: "t") }
            }
        }
        #expect(error?.code == .storeInputOutput && faults.fired > 0)
        // What a killed process leaves is what the files hold now.
        let found = folder.file("found.db")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: found + suffix)
        }
        #expect(try await ids(found) == ["1"])
        faults.heal()
        try await store.write { try $0.put(["id": "next"], in: "t") }
        try await store.close()
        #expect(try await ids(path) == ["1", "next"])
    }
}
