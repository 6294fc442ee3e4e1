import CSQLite
import Foundation
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("An encrypted store")
struct EncryptedStoreTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: StoreKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
        key = try StoreKey.random()
    }

    private func bytes(_ suffix: String = "") -> [UInt8] {
        (FileManager.default.contents(atPath: path + suffix)).map { [UInt8]($0) } ?? []
    }

    private func fill(_ encryption: StoreEncryption?, _ count: Int = 100) async throws {
        let store = try SQLiteStore(path: path, encryption: encryption, options: .init(durability: .normal))
        try await store.write { writer in
            for number in 0..<count { try writer.put(["id": JSON("\(number)"), "n": JSON(number)], in: "t") }
        }
        try await store.close()
    }

    private func count(_ encryption: StoreEncryption?) async throws -> Int {
        let store = try SQLiteStore(path: path, encryption: encryption)
        let count = try await store.read { try $0.count(matching: TableQuery("t")) }
        try await store.close()
        return count
    }

    /// The code of the error that opening throws.
    private func refusal(_ encryption: StoreEncryption?) -> SluiceError.Code? {
        do {
            _ = try SQLiteStore(path: path, encryption: encryption)
            return nil
        } catch {
            return (error as? SluiceError)?.code
        }
    }

    @Test("conforms", arguments: LocalStoreConformance.checks)
    func conforms(check: LocalStoreConformance.Check) async throws {
        try await check.run {
            try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal))
        }
    }

    @Test("conforms when it is opened anew", arguments: LocalStoreConformance.reopenChecks)
    func reopens(check: LocalStoreConformance.ReopenCheck) async throws {
        try await check.run { [path, key] in
            try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal))
        }
    }

    @Test("is the work of SQLCipher 4, and its file begins with no name")
    func library() async throws {
        let library = try SQLiteLibrary.cipher()
        let connection = try SQLiteConnection(path: ":memory:", library: library)
        #expect(connection.cipherVersion.hasPrefix("4."))
        #expect(library.functions != csqlite_system())
        try await fill(.key(key))
        #expect(bytes().count >= 8192 && !bytes().starts(with: "SQLite".utf8))
        #expect(FileBytes.looksEncrypted(path))
        #expect(try await count(.key(key)) == 100)
    }

    @Test("opens with the passphrase that it was made with, as any other program would open it")
    func passphrase() async throws {
        let passphrase = try StorePassphrase("a horse, a battery and a staple")
        try await fill(.passphrase(passphrase))
        #expect(try await count(.passphrase(passphrase)) == 100)
        #expect(refusal(.passphrase(try StorePassphrase("a horse"))) == .storeKeyRefused)
        // SQLCipher derives the same key by itself; how pages are encrypted it has to be told, as the page says.
        let other = try SQLiteConnection(path: path, library: .cipher())
        try other.execute(
            "PRAGMA key = 'a horse, a battery and a staple'; PRAGMA cipher_page_size = 16384;"
                + "PRAGMA cipher_hmac_algorithm = HMAC_SHA256")
        #expect(try other.integer("SELECT count(*) FROM t") == 100)
    }

    @Test("stands beside a plain one in one process, and queries mean the same in both")
    func besidePlain() async throws {
        let plain = try SQLiteStore(path: folder.file("plain.db"), options: .init(durability: .normal))
        let locked = try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal))
        let filter = QueryExpression.call(.startswith, [.column("name"), .literal(.string("É"))])
        for store in [plain, locked] {
            try await store.write { writer in
                for name in ["Élan", "élan", "elan"] {
                    try writer.put(["id": JSON(name), "name": JSON(name)], in: "t")
                }
            }
        }
        async let one = plain.read { try $0.records(matching: TableQuery("t", filter: filter)) }
        async let other = locked.read { try $0.records(matching: TableQuery("t", filter: filter)) }
        let (found, foundToo) = try await (one, other)
        #expect(found == foundToo && found.count == 1)
        try await plain.close()
        try await locked.close()
    }

    @Test("a wrong key, no key, and a key to a plain file: each is its own error, and no file is touched")
    func refusals() async throws {
        try await fill(.key(key))
        let before = bytes()
        #expect(refusal(.key(try .random())) == .storeKeyRefused)
        #expect(refusal(.passphrase(try StorePassphrase("wrong"))) == .storeKeyRefused)
        #expect(refusal(nil) == .storeEncrypted)
        await #expect { try await SQLiteStore.openOrRecover(path: path) } throws: {
            ($0 as? SluiceError)?.code == .storeEncrypted
        }
        await #expect { try await SQLiteStore.openOrRecover(path: path, encryption: .key(try .random())) } throws: {
            ($0 as? SluiceError)?.code == .storeKeyRefused
        }
        #expect(bytes() == before && bytes("-wal").isEmpty)
        #expect(try await count(.key(key)) == 100)
        try FileManager.default.removeItem(atPath: path)
        try await fill(nil)
        let plain = bytes()
        #expect(refusal(.key(key)) == .storeNotEncrypted)
        #expect(bytes() == plain)
    }

    @Test("one that is open can be opened again, with the same key only")
    func twice() async throws {
        let one = try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal))
        try await one.write { try $0.put(["id": "1"], in: "t") }
        #expect(refusal(nil) == .storeEncrypted)
        #expect(refusal(.key(try .random())) == .storeKeyRefused)
        let two = try SQLiteStore(path: path, encryption: .key(key), options: .init(durability: .normal))
        try await two.write { try $0.put(["id": "2"], in: "t") }
        #expect(try await one.read { try $0.count(matching: TableQuery("t")) } == 2)
        try await one.close()
        try await two.close()
    }

    @Test("what is made is for its owner only, and so is the folder that is made for it")
    func modes() async throws {
        let inside = folder.file("new/store.db")
        let store = try SQLiteStore(path: inside, encryption: .key(key))
        try await store.write { try $0.put(["id": "1"], in: "t") }
        let lease = try await store.takeLease()
        for name in ["", "-wal", "-shm", "-lock", "-lease"] {
            let mode = try FileManager.default.attributesOfItem(atPath: inside + name)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600, "\(name)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("new"))[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o700)
        lease?.release()
        try await store.close()
    }

    @Test("no description and no dump shows a key or a passphrase")
    func hidden() throws {
        let key = try StoreKey(Array(repeating: 0x41, count: 32))
        let passphrase = try StorePassphrase("AAAA")
        for value: Any in [key, passphrase, StoreEncryption.key(key), StoreEncryption.passphrase(passphrase)] {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("AAAA") && !text.contains("4141") && !text.contains("65"), "\(text)")
        }
    }

    @Test("a key is read from 32 bytes or 64 digits in a file that not everyone may read")
    func keyFiles() throws {
        let file = folder.file("key")
        try key.write(toFile: file)
        #expect(throws: SluiceError.self) { try key.write(toFile: file) }
        let digits = try #require(FileManager.default.contents(atPath: file))
        #expect(digits.count == 64)
        let raw = key.bytes.withBytes { Data($0) }
        for content in [digits, digits + Data("\n".utf8), raw] {
            try content.write(to: URL(filePath: file))
            #expect(try StoreKey(file: file).bytes.withBytes { Data($0) } == raw)
        }
        for content in ["", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 66)] {
            try Data(content.utf8).write(to: URL(filePath: file))
            #expect(throws: SluiceError.self) { try StoreKey(file: file) }
        }
        try digits.write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: file)
        #expect(throws: SluiceError.self) { try StoreKey(file: file) }
        #expect(throws: SluiceError.self) { try StoreKey([1, 2, 3]) }
        #expect(throws: SluiceError.self) { try StoreKey(hexadecimal: "zz") }
    }

    @Test("outgrows its largest size as little as a plain one", arguments: [true, false])
    func maximumSize(isEncrypted: Bool) async throws {
        let store = try SQLiteStore(
            path: path, encryption: isEncrypted ? .key(key) : nil, options: .init(maximumSize: 100_000))
        let text = JSON(String(repeating: "x", count: 200_000))
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "1", "text": text], in: "t") }
        }
        #expect(error?.code == .storeFull)
        try await store.close()
    }
}
