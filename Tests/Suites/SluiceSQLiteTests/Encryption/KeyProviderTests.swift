import Foundation
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A key that is asked for as the store is opened")
struct KeyProviderTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: StoreKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
        key = try StoreKey.random()
    }

    private struct Sealed: Error {}

    /// What is in the folder: names and contents.
    private func content() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: folder.file($0)) ?? Data()) })
    }

    private func fill() async throws {
        let store = try SQLiteStore(path: path, encryption: .key(key))
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try await store.close()
    }

    @Test("is asked for before there is any file, and opens the store then and again")
    func opens() async throws {
        let (path, key) = (self.path, self.key)
        let store = try await SQLiteStore.open(
            path: path,
            key: {
                await Task.yield()
                #expect(!FileManager.default.fileExists(atPath: path))
                #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
                return key
            })
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try await store.close()
        let again = try await SQLiteStore.open(path: path, options: .init(readers: 1), key: { key })
        #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 1)
        try await again.close()
        #expect(throws: SluiceError.self, "it is encrypted") { try SQLiteStore(path: path) }
    }

    @Test("may be a passphrase")
    func passphrase() async throws {
        let store = try await SQLiteStore.open(
            path: path, encryption: { .passphrase(try StorePassphrase("horse")) })
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try await store.close()
        let again = try SQLiteStore(path: path, encryption: .passphrase(StorePassphrase("horse")))
        #expect(try await again.read { try $0.count(matching: TableQuery("t")) } == 1)
        try await again.close()
    }

    @Test("where it is not to be had, its own error is thrown, and every file is as it was", arguments: [false, true])
    func refused(isThere: Bool) async throws {
        if isThere { try await fill() }
        let before = try content()
        #expect(before.isEmpty != isThere)
        await #expect(throws: Sealed.self) {
            _ = try await SQLiteStore.open(path: path, key: { throw Sealed() })
        }
        await #expect(throws: Sealed.self) {
            _ = try await SQLiteStore.open(path: path, encryption: { throw Sealed() })
        }
        #expect(try content() == before)
    }

    @Test("where it is a wrong one, the store refuses it and stays as it is")
    func wrong() async throws {
        try await fill()
        let before = FileManager.default.contents(atPath: path)
        let error = await #expect(throws: SluiceError.self) {
            _ = try await SQLiteStore.open(path: path, key: { try StoreKey.random() })
        }
        #expect(error?.code == .storeKeyRefused)
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    private struct Seen: Sendable {
        weak var bytes: SecretBytes?
    }

    @Test("is kept by nobody when the store is open")
    func letGo() async throws {
        let seen = Mutex<Seen?>(nil)
        let store = try await SQLiteStore.open(
            path: path,
            key: {
                let key = try StoreKey.random()
                seen.withLock { $0 = Seen(bytes: key.bytes) }
                return key
            })
        let (wasAsked, isGone) = seen.withLock { ($0 != nil, $0?.bytes == nil) }
        #expect(wasAsked && isGone)
        try await store.write { try $0.put(["id": "1"], in: "t") }
        try await store.close()
    }
}
