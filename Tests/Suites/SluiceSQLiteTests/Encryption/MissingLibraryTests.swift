import CSQLite
import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

/// What happens where SQLCipher 4 is not installed. In processes of their own, as in this one it is open.
@Suite("Without SQLCipher 4")
struct MissingLibraryTests {
    @Test("what needs it says so and touches no file, plain stores are as ever, and it is looked for again")
    func missing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let wrong = try await LibraryScenario.missing()
            FileHandle.standardError.write(Data("wrong: \(wrong)\n".utf8))
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("wrong: []"), "\(said)")
    }

    @Test("SQLCipher 3 and a library that does not encrypt are refused, and the reason is said")
    func other() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let wrong = try await LibraryScenario.other()
            FileHandle.standardError.write(Data("wrong: \(wrong)\n".utf8))
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("wrong: []"), "\(said)")
    }
}

/// What the processes do. Each gives what was not as it should be.
enum LibraryScenario {
    private static let variable = "SLUICE_SQLCIPHER"
    /// What the variable says where these tests run; nothing is said where it is empty.
    private static let own = ProcessInfo.processInfo.environment[variable] ?? ""

    /// An encrypted store: without the library none can be made.
    private static let encryptedFixture = Repository.fixture("stores/format-1-encrypted.db")

    private static func fixtureKey() throws -> StoreEncryption { .key(try StoreKey((0..<32).map { UInt8($0) })) }

    private static func setLibrary(_ name: String) { setenv(variable, name, 1) }

    /// What is wrong where `body` does not throw an error of that code; nil is for none.
    private static func unless(
        _ code: SluiceError.Code?, _ name: String, _ body: () async throws -> Void
    ) async -> [String] {
        do {
            try await body()
            return code == nil ? [] : ["\(name): done"]
        } catch {
            let isExpected = code != nil && (error as? SluiceError)?.code == code
            return isExpected ? [] : ["\(name): \(error)"]
        }
    }

    private static func openAndClose(_ path: String, _ encryption: StoreEncryption?) async throws {
        try await SQLiteStore(path: path, encryption: encryption).close()
    }

    static func missing() async throws -> [String] {
        _ = own
        setLibrary("/nowhere/libsqlcipher.so.1")
        let folder = try TemporaryFolder()
        let (plain, encrypted) = (folder.file("plain.db"), folder.file("encrypted.db"))
        let (new, key) = (folder.file("new.db"), try fixtureKey())
        try await openAndClose(plain, nil)
        try FileManager.default.copyItem(atPath: encryptedFixture, toPath: encrypted)
        func contents() -> [Data?] { [plain, encrypted].map { FileManager.default.contents(atPath: $0) } }
        let before = contents()
        var wrong = await unless(.storeLibraryMissing, "opening") { try await openAndClose(encrypted, key) }
        wrong += await unless(.storeLibraryMissing, "with a passphrase") {
            try await openAndClose(encrypted, .passphrase(StorePassphrase("horse")))
        }
        wrong += await unless(.storeLibraryMissing, "recovering") {
            _ = try await SQLiteStore.openOrRecover(path: encrypted, encryption: key)
        }
        wrong += await unless(.storeLibraryMissing, "encrypting") {
            try await SQLiteStore.convert(path: plain, from: nil, to: key)
        }
        wrong += await unless(.storeLibraryMissing, "decrypting") {
            try await SQLiteStore.convert(path: encrypted, from: key, to: nil)
        }
        wrong += await unless(.storeLibraryMissing, "making") { try await openAndClose(new, key) }
        wrong += await unless(.storeLibraryMissing, "users") { _ = try UserStores(folder: folder.file("users")) }
        wrong += await unless(.storeEncrypted, "without a key") { try await openAndClose(encrypted, nil) }
        wrong += await unless(.storeNotEncrypted, "a plain one with a key") { try await openAndClose(plain, key) }
        if contents() != before { wrong.append("a file was touched") }
        if StoreFolder.size(of: new) > 0 { wrong.append("a store was made") }
        wrong += await unless(nil, "a plain one") { try await openAndClose(plain, nil) }
        setLibrary(own)
        wrong += await unless(nil, "with the library") { try await openAndClose(encrypted, key) }
        return wrong
    }

    static func other() async throws -> [String] {
        _ = own
        let folder = try TemporaryFolder()
        let (encrypted, old) = (folder.file("encrypted.db"), folder.file("libsqlcipher-3.so"))
        try FileManager.default.copyItem(atPath: encryptedFixture, toPath: encrypted)
        let before = FileManager.default.contents(atPath: encrypted)
        let key = try fixtureKey()
        guard try makeOldLibrary(at: old) else { return ["the installed library does not say its version as expected"] }
        var wrong: [String] = []
        for (name, reason) in [(old, "is SQLCipher 3."), ("libsqlite3.so.0", "it has no sqlite3_key_v2")] {
            setLibrary(name)
            do {
                try await openAndClose(encrypted, key)
                wrong.append("\(name): done")
            } catch let error as SluiceError {
                if error.code != .storeLibraryMissing || !error.message.contains(reason) {
                    wrong.append("\(name): \(error)")
                }
            }
        }
        if FileManager.default.contents(atPath: encrypted) != before { wrong.append("the file was touched") }
        setLibrary(own)
        wrong += await unless(nil, "with the library") { try await openAndClose(encrypted, key) }
        return wrong
    }

    /// Copies the installed library, with 3 for the first number of its version, by which it is told from SQLCipher 3.
    ///
    /// - Returns: whether there is a version to be changed.
    private static func makeOldLibrary(at path: String) throws -> Bool {
        guard let file = try installedLibrary() else { return false }
        var library = try Data(contentsOf: URL(filePath: file))
        var (start, isChanged) = (0, false)
        // A text of its own, `4.6.1` for example.
        while let found = library.range(of: Data([0, 0x34, 0x2E]), in: start..<library.count) {
            let text = library[(found.lowerBound + 1)...].prefix(12).prefix { $0 != 0 && $0 != 0x20 }
            let numbers = text.split(separator: 0x2E, omittingEmptySubsequences: false)
            let isVersion = numbers.allSatisfy { number in
                !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) }
            }
            if numbers.count == 3, isVersion {
                library[found.lowerBound + 1] = 0x33
                isChanged = true
            }
            start = found.upperBound
        }
        try library.write(to: URL(filePath: path))
        return isChanged
    }

    /// Where the library is that would be opened.
    private static func installedLibrary() throws -> String? {
        if own.contains("/") { return own }
        var reason = [CChar](repeating: 0, count: 512)
        // As the store opens it, and closed again: a second opening would not change how the first has bound it.
        guard csqlite_load(own.isEmpty ? "libsqlcipher.so.1" : own, &reason, Int32(reason.count)) != nil else {
            return nil
        }
        defer { csqlite_unload() }
        let maps = ProcessMaps.text()
        let line = maps.split(separator: "\n").first { $0.contains("sqlcipher") && $0.contains("/") }
        return line.flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    }
}
