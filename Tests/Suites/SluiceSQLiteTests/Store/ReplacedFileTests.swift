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
}
