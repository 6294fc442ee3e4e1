import Foundation
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A store is encrypted, decrypted and given another key")
struct StoreConversionTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private func fill(_ encryption: StoreEncryption?) async throws {
        let store = try SQLiteStore(path: path, encryption: encryption, options: .init(durability: .normal))
        try await store.define([
            TableSchema("t", columns: [.init("text", .string), .init("n", .real)], indexes: [["text"]])
        ])
        try await store.write { writer in
            for number in 0..<500 {
                try writer.put(
                    ["id": JSON("\(number)"), "text": JSON("canary-\(number)"), "n": 1.5, "extra": [1, .null]], in: "t")
            }
        }
        try await store.close()
    }

    private func records(_ encryption: StoreEncryption?) async throws -> [JSON] {
        let store = try SQLiteStore(path: path, encryption: encryption)
        let records = try await store.read { try $0.records(matching: TableQuery("t")) }
        try await store.close()
        return records
    }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func holds(_ text: String) throws -> Bool {
        try files.contains { name in
            let content = try Data(contentsOf: URL(filePath: folder.file(name)))
            return content.range(of: Data(text.utf8)) != nil
        }
    }

    @Test("and holds the same afterwards, with nothing left beside it")
    func roundTrip() async throws {
        let (first, second) = (StoreEncryption.key(try .random()), StoreEncryption.key(try .random()))
        let passphrase = StoreEncryption.passphrase(try StorePassphrase("horse"))
        try await fill(nil)
        let records = try await records(nil)
        #expect(try records.count == 500 && holds("canary-7"))
        for (from, to) in [(nil, first), (first, second), (second, passphrase), (passphrase, nil)] {
            try await SQLiteStore.convert(path: path, from: from, to: to)
            #expect(try await self.records(to) == records)
            #expect(try holds("canary-7") == (to == nil))
            #expect(
                files.filter { !$0.hasSuffix("-lock") && !$0.hasSuffix("-lease") && !$0.hasSuffix("-shm") }
                    .allSatisfy { $0 == "store.db" || $0 == "store.db-wal" }, "\(files)")
        }
        let store = try SQLiteStore(path: path)
        #expect(try await store.check().isEmpty)
        try await store.define([TableSchema("t", columns: [.init("text", .string)], indexes: [["text"]])])
        try await store.close()
    }

    @Test("not with a wrong key, not while it is open, and not where neither side has a key")
    func refusals() async throws {
        let key = StoreEncryption.key(try .random())
        let other = StoreEncryption.key(try .random())
        try await fill(key)
        func code(_ from: StoreEncryption?, _ to: StoreEncryption?) async -> SluiceError.Code? {
            do {
                try await SQLiteStore.convert(path: path, from: from, to: to)
                return nil
            } catch {
                return (error as? SluiceError)?.code
            }
        }
        #expect(await code(other, key) == .storeKeyRefused)
        #expect(await code(nil, key) == .storeEncrypted)
        let store = try SQLiteStore(path: path, encryption: key)
        #expect(await code(key, other) == .storeBusy)
        try await store.close()
        #expect(await code(key, other) == nil)
        #expect(await code(other, nil) == nil)
        #expect(await code(nil, nil) == .invalidArgument)
        #expect(await code(key, nil) == .storeNotEncrypted)
        path.withCString { _ = unlink($0) }
        #expect(await code(nil, key) == .recordMissing)
        #expect(files.allSatisfy { !$0.contains("conversion") })
    }

    @Test("what a process has left that ended in between is removed when the store is opened")
    func leftovers() async throws {
        try await fill(nil)
        let draft = path + StoreConversion.draftSuffix
        for suffix in ["", "-journal"] {
            try Data(repeating: 1, count: 5000).write(to: URL(filePath: draft + suffix))
        }
        #expect(try await records(nil).count == 500)
        #expect(files.allSatisfy { !$0.contains("conversion") }, "\(files)")
    }

    @Test("a leftover that cannot be removed is in no opening's way, but in that of the next conversion")
    func stuck() async throws {
        try await fill(nil)
        try FileManager.default.createDirectory(
            atPath: path + StoreConversion.draftSuffix, withIntermediateDirectories: false)
        #expect(try await records(nil).count == 500)
        let error = await #expect(throws: SluiceError.self) {
            try await SQLiteStore.convert(path: path, from: nil, to: .key(.random()))
        }
        #expect(error?.code == .storeInputOutput)
        #expect(try await records(nil).count == 500)
    }

    @Test("files of others stay as they are: other names, other links, and no store beside them")
    func others() async throws {
        try await fill(nil)
        let mine = Data("mine".utf8)
        for suffix in ["-converted", "-previous"] { try mine.write(to: URL(filePath: path + suffix)) }
        // A snapshot by hard links, of the store and of a conversion's draft.
        let (snapshot, draft) = (folder.file("snapshot.db"), path + StoreConversion.draftSuffix)
        #expect(link(path, snapshot) == 0)
        let content = try Data(contentsOf: URL(filePath: path)).dropFirst(100)
        let other = folder.file("other")
        try mine.write(to: URL(filePath: other))
        #expect(link(other, draft) == 0)
        let key = StoreEncryption.key(try .random())
        try await SQLiteStore.convert(path: path, from: nil, to: key)
        #expect(try await records(key).count == 500)
        // But for its header, which says that it has no log any more.
        #expect(try Data(contentsOf: URL(filePath: snapshot)).dropFirst(100) == content)
        #expect(try Data(contentsOf: URL(filePath: other)) == mine)
        for suffix in ["-converted", "-previous"] {
            #expect(try Data(contentsOf: URL(filePath: path + suffix)) == mine)
        }
        // The store was moved away: what is there is not beside a store.
        try mine.write(to: URL(filePath: draft))
        #expect(rename(path, folder.file("away.db")) == 0)
        StoreConversion.removeLeftovers(of: path)
        #expect(try Data(contentsOf: URL(filePath: draft)) == mine)
    }

    @Test("the old content is overwritten, that of a log too")
    func overwritten() async throws {
        let store = try SQLiteStore(path: path)
        try await store.write { try $0.put(["id": "1", "text": "canary-log"], in: "t") }
        // As a killed process leaves it: the log has not come into the file.
        let killed = folder.file("killed.db")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: killed + suffix)
        }
        try await store.close()
        for name in files where name.hasPrefix("store.db") { unlink(folder.file(name)) }
        // Descriptors keep what has no name any more.
        let handles = try ["", "-wal"].map { try #require(FileHandle(forReadingAtPath: killed + $0)) }
        #expect(try handles[1].readToEnd()?.range(of: Data("canary-log".utf8)) != nil)
        let key = StoreEncryption.key(try .random())
        try await SQLiteStore.convert(path: killed, from: nil, to: key)
        for handle in handles {
            try handle.seek(toOffset: 0)
            #expect(try handle.readToEnd()?.allSatisfy { $0 == 0 } == true)
        }
        #expect(try !holds("canary-log"))
        let again = try SQLiteStore(path: killed, encryption: key)
        #expect(try await again.read { try $0.record("1", in: "t") }?["text"] == "canary-log")
        try await again.close()
    }

    @Test("the store keeps its mode, its owner and its group")
    func owner() async throws {
        try await fill(nil)
        #expect(chmod(path, 0o640) == 0)
        // Only root may give a file away.
        if geteuid() == 0 { #expect(chown(path, 1234, 4321) == 0) }
        var (before, after) = (stat(), stat())
        #expect(stat(path, &before) == 0)
        try await SQLiteStore.convert(path: path, from: nil, to: .key(.random()))
        #expect(stat(path, &after) == 0)
        #expect(before.st_mode == after.st_mode && before.st_uid == after.st_uid && before.st_gid == after.st_gid)
        #expect(before.st_ino != after.st_ino)
    }
}
