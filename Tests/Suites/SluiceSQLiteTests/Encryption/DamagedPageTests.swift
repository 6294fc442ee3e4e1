import Foundation
import SluiceCore
import SluiceSQLite
import Testing

/// What is read from a file of which a page was changed.
@Suite("Changed pages of an encrypted store")
struct DamagedPageTests {
    private let folder: TemporaryFolder
    private let key: StoreKey
    private var path: String { folder.file("store.db") }

    init() throws {
        folder = try TemporaryFolder()
        key = try .random()
    }

    private func open(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal, readers: 1))
    }

    @Test("whichever page it is: what is read is right, or an error says that it cannot be")
    func everyPage() async throws {
        // Long values take pages of their own, the last of which is not needed to find the row.
        let record: JSON = [
            "id": "1", "text": JSON(String(repeating: "abcdefgh", count: 1500)),
            "more": JSON(String(repeating: "ijklmnop", count: 1500)),
        ]
        let store = try open(path)
        try await store.define([TableSchema("t", columns: [.init("text", .string)])])
        try await store.write { writer in
            try writer.put(record, in: "t")
            for number in 2..<40 { try writer.put(["id": JSON("\(number)"), "text": "short"], in: "t") }
        }
        try await store.close()
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var refused = 0
        for page in 0..<whole.count / 4096 {
            var bytes = whole
            bytes[page * 4096 + 2000] ^= 1
            let copy = folder.file("copy-\(page).db")
            try Data(bytes).write(to: URL(fileURLWithPath: copy))
            do {
                let damaged = try open(copy)
                do {
                    let found = try await damaged.read { try $0.record("1", in: "t") }
                    #expect(found == record, "page \(page)")
                    let all = try await damaged.read { try $0.records(matching: TableQuery("t")) }
                    #expect(all.count == 39 && all.contains(record), "page \(page)")
                } catch {
                    refused += 1
                    #expect((error as? SluiceError)?.code == .storeCorrupt, "page \(page): \(error)")
                }
                try await damaged.close()
            } catch {
                refused += 1
            }
        }
        #expect(refused > 6, "the pages of the long record among them")
    }

    @Test("a store that is refused keeps its log: with a wrong key, and of a newer format")
    func logStays() async throws {
        let store = try open(path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try keepsLog(path, .key(.random()))
        try await store.close()

        let newer = folder.file("newer.db")
        try await SQLiteStore(path: newer).close()
        let connection = try SQLiteConnection(path: newer)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA user_version = 99")
        try keepsLog(newer, nil)
    }

    /// Opens what a process that was killed now would leave of a store.
    private func keepsLog(_ path: String, _ encryption: StoreEncryption?) throws {
        let killed = path + "-killed"
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: killed + suffix) }
        func bytes(_ suffix: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: killed + suffix)) }
        let before = (try bytes(""), try bytes("-wal"))
        #expect(!before.1.isEmpty)
        #expect(throws: SluiceError.self) { _ = try SQLiteStore(path: killed, encryption: encryption) }
        #expect(try (bytes(""), bytes("-wal")) == before)
    }
}
