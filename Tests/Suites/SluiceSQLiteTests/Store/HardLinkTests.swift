import Foundation
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("A store under two names")
struct HardLinkTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }
    private var other: String { folder.file("other.db") }

    init() throws { folder = try TemporaryFolder() }

    private func makeLink() throws { try FileManager.default.linkItem(atPath: path, toPath: other) }

    @Test("is opened under neither of them, and is as it was once one is gone")
    func closed() async throws {
        let store = try SQLiteStore(path: path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try await store.close()
        try makeLink()
        for path in [path, other] {
            let error = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
            #expect(error?.code == .storeInputOutput && error?.message.contains("hard link") == true)
        }
        try FileManager.default.removeItem(atPath: path)
        let again = try SQLiteStore(path: other)
        #expect(try await again.read { try $0.record("1", in: "t") } != nil)
        try await again.close()
    }

    @Test("made while it is open: nothing more is written until it is gone, and what was acknowledged is there")
    func open() async throws {
        let store = try SQLiteStore(path: path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try makeLink()
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "2"], in: "t") }
        }
        #expect(error?.code == .storeInputOutput)
        #expect(throws: SluiceError.self) { try SQLiteStore(path: other) }
        try FileManager.default.removeItem(atPath: other)
        try await store.write { try $0.put(["id": "3"], in: "t") }
        #expect(try await store.read { try $0.count(matching: TableQuery("t")) } == 2)
        try await store.close()
    }

    @Test("a symbolic link is no second name")
    func symbolic() async throws {
        let store = try SQLiteStore(path: path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: path)
        let second = try SQLiteStore(path: other)
        #expect(try await second.read { try $0.record("1", in: "t") } != nil)
        try await second.close()
        try await store.close()
    }

    @Test("a file that was renamed while it is open is not opened under its new name beside it")
    func renamed() async throws {
        let store = try SQLiteStore(path: path)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try FileManager.default.moveItem(atPath: path, toPath: other)
        #expect(throws: SluiceError.self) { try SQLiteStore(path: other) }
        try FileManager.default.moveItem(atPath: other, toPath: path)
        try await store.write { try $0.put(["id": "2"], in: "t") }
        try await store.close()
        let again = try SQLiteStore(path: path)
        #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 2)
        try await again.close()
    }
}
