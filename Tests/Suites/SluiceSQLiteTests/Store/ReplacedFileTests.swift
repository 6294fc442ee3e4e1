import Foundation
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("A store whose file was replaced or removed under it")
struct ReplacedFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    private func filled() async throws -> SQLiteStore {
        let store = try SQLiteStore(path: path)
        try await store.define([TableSchema("t", columns: [.init("n", .integer)])])
        try await store.write { writer in
            for number in 0..<300 { try writer.put(["id": JSON("\(number)"), "n": JSON(number)], in: "t") }
        }
        return store
    }

    /// Sees that nothing can be written through the store, and that it can be closed.
    private func refuses(_ store: SQLiteStore) async throws {
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "lost"], in: "t") }
        }
        #expect(error?.code == .storeClosed && error?.message.contains(path) == true, "\(error as Any)")
        await #expect(throws: SluiceError.self) { try await store.define([TableSchema("other")]) }
        // What is read would not be what others see.
        let read = await #expect(throws: SluiceError.self) { try await store.read { try $0.tables().count } }
        #expect(read?.code == .storeClosed)
        await #expect(throws: SluiceError.self) { try await store.sql("SELECT 1") }
        #expect(!store.isInPlace)
        await #expect(throws: SluiceError.self) { try await store.vacuum() }
        try await store.close()
    }

    @Test("takes nothing any more after it was recovered by another")
    func recovered() async throws {
        try await filled().close()
        let store = try SQLiteStore(path: path)
        let page = try SQLiteConnection(path: path, access: .readOnly).integer(
            "SELECT max(pageno) FROM dbstat WHERE name = 't'")
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        let (other, recovery) = try await SQLiteStore.openOrRecover(path: path)
        #expect(recovery != nil)
        try await refuses(store)
        try await other.write { try $0.put(["id": "here"], in: "t") }
        try await other.close()
        try file.close()
    }

    @Test("takes nothing any more after another file came in its place, or none", arguments: [true, false])
    func moved(isReplaced: Bool) async throws {
        let store = try await filled()
        #expect(rename(path, folder.file("old.db")) == 0)
        if isReplaced { try SQLiteConnection(path: path).execute("CREATE TABLE other (a)") }
        try await refuses(store)
    }

    @Test("and no reader that is opened later reads the other file")
    func readers() async throws {
        let store = try await filled()
        #expect(rename(path, folder.file("old.db")) == 0)
        try await SQLiteStore(path: path).write { try $0.put(["id": "other"], in: "t") }
        let error = await #expect(throws: SluiceError.self) { try await store.read { try $0.record("other", in: "t") } }
        #expect(error?.code == .storeClosed)
    }

    // MARK: The log of the former file

    /// Makes a store of 10 records that is whole without a log, at another path.
    private func other(_ encryption: StoreEncryption?) async throws -> String {
        let store = try SQLiteStore(path: folder.file("new.db"), encryption: encryption)
        try await store.write { writer in
            for number in 0..<10 { try writer.put(["id": JSON("new \(number)")], in: "t") }
        }
        try await store.close()
        return folder.file("new.db")
    }

    private func ids(_ path: String, _ encryption: StoreEncryption?) async throws -> [String] {
        let store = try SQLiteStore(path: path, encryption: encryption)
        #expect(try await store.check() == [])
        let ids = try await store.read { try $0.records(matching: TableQuery("t")).compactMap { $0["id"]?.string } }
        try await store.close()
        return ids.sorted()
    }

    private var logsSetAside: [String] { StoreFileNames.logsOfReplaced(path).map { folder.file($0) } }

    @Test("is not applied to the file that came in its place, and stays whole", arguments: [false, true])
    func foreignLog(isEncrypted: Bool) async throws {
        let encryption = isEncrypted ? StoreEncryption.key(try StoreKey.random()) : nil
        let former = try SQLiteStore(path: path, encryption: encryption)
        try await former.write { writer in
            for number in 0..<300 { try writer.put(["id": JSON("old \(number)")], in: "t") }
        }
        let new = try await other(encryption)
        #expect(rename(path, folder.file("old.db")) == 0 && rename(new, path) == 0)
        #expect(try await ids(path, encryption).count == 10)
        let log = try #require(logsSetAside.first)
        #expect(logsSetAside.count == 1)
        // What is written now is in this file's own log.
        let store = try SQLiteStore(path: path, encryption: encryption)
        try await store.write { try $0.put(["id": "new"], in: "t") }
        try await former.close()
        try await store.close()
        #expect(try await ids(path, encryption).count == 11)
        #expect(rename(log, folder.file("old.db-wal")) == 0)
        #expect(try await ids(folder.file("old.db"), encryption).count == 300)
    }

    @Test("is not applied to an older copy of the same store either, nor to an empty file", arguments: [true, false])
    func olderCopy(isCopy: Bool) async throws {
        let store = try await filled()
        if isCopy { try SQLiteConnection(path: path).execute("VACUUM INTO '\(folder.file("copy.db"))'") }
        try await store.write { writer in
            try writer.delete((0..<300).map { RecordID("\($0)") }, from: "t")
        }
        #expect(isCopy ? rename(folder.file("copy.db"), path) == 0 : unlink(path) == 0)
        #expect(try await ids(path, nil).count == (isCopy ? 300 : 0))
        #expect(logsSetAside.count == 1)
        try await store.close()
    }

    @Test("a log that is brought along with its file is applied")
    func broughtLog() async throws {
        let store = try await filled()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.file("backup\(suffix)"))
        }
        try await store.write { try $0.put(["id": "later"], in: "t") }
        for suffix in ["", "-wal"] { #expect(rename(folder.file("backup\(suffix)"), path + suffix) == 0) }
        #expect(unlink(path + "-shm") == 0)
        #expect(try await ids(path, nil).count == 300)
        #expect(logsSetAside.isEmpty)
        try await store.close()
    }

    @Test("a file that is moved back after another was used in its place takes no writes through the former opening")
    func movedBack() async throws {
        let store = try await filled()
        let new = try await other(nil)
        #expect(rename(path, folder.file("old.db")) == 0 && rename(new, path) == 0)
        #expect(try await ids(path, nil).count == 10)
        #expect(rename(folder.file("old.db"), path) == 0)
        #expect(!store.isInPlace)
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "lost"], in: "t") }
        }
        #expect(error?.code == .storeClosed)
        try await store.close()
    }

    @Test("an empty log is removed: nothing is set aside after a store was closed")
    func emptyLog() async throws {
        try await filled().close()
        #expect(rename(try await other(nil), path) == 0)
        #expect(try await ids(path, nil).count == 10)
        #expect(logsSetAside.isEmpty)
    }
}
