import Foundation
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A damaged encrypted store, and a damaged plain one")
struct DamagedEncryptedStoreTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: StoreKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
        key = try StoreKey.random()
    }

    private static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    /// A store with a queue of three, and after it a table of text in base 64 that takes most of the file.
    ///
    /// - Returns: what is in the file.
    private func fill(_ encryption: StoreEncryption?) async throws -> [UInt8] {
        let store = try SQLiteStore(path: path, encryption: encryption, options: .init(durability: .normal))
        let context = try await SyncContext(store: store)
        for number in 1...3 { try await context.table("todos").insert(["id": JSON("\(number)"), "text": "waits"]) }
        try await store.write { writer in
            for number in 0..<1000 {
                let text = Data(Self.random(300)).base64EncodedString()
                try writer.put(["id": JSON("\(number)"), "text": JSON(text)], in: "other")
            }
        }
        try await store.close()
        let content = try bytes(path)
        try #require(content.count > 100 * 4096)
        return content
    }

    private func isSetAside() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.contains(".damaged-") }
    }

    enum Damage: CaseIterable {
        case cutByOneByte, cutInThePages, cutToOnePage, cutInTheFirstPage, longer
        case firstZeroed, middleZeroed, lastZeroed, mostZeroed, thirdOverwritten

        func applied(to content: [UInt8]) -> [UInt8] {
            let (page, count) = (4096, content.count)
            func with(_ byte: UInt8, at range: Range<Int>) -> [UInt8] {
                var content = content
                content.replaceSubrange(range, with: [UInt8](repeating: byte, count: range.count))
                return content
            }
            let middle = count / page / 2 * page
            return switch self {
            case .cutByOneByte: Array(content.dropLast())
            case .cutInThePages: Array(content.prefix(middle + 1000))
            case .cutToOnePage: Array(content.prefix(page))
            case .cutInTheFirstPage: Array(content.prefix(2000))
            case .longer: content + [UInt8](repeating: 0, count: 5 * page + 7)
            case .firstZeroed: with(0, at: 0..<page)
            case .middleZeroed: with(0, at: middle..<middle + page)
            case .lastZeroed: with(0, at: count - page..<count)
            case .mostZeroed: with(0, at: 0..<count / page * 3 / 4 * page)
            case .thirdOverwritten: with(0x41, at: 0..<count / page / 3 * page)
            }
        }
    }

    @Test("is never taken for a plain one that is to be set aside", arguments: Damage.allCases)
    func unmistaken(damage: Damage) async throws {
        let content = damage.applied(to: try await fill(.key(key)))
        try write(content)
        #expect(FileBytes.looksEncrypted(path))
        let opened = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
        #expect(opened?.code == .storeEncrypted)
        let recovered = await #expect(throws: SluiceError.self) { _ = try await SQLiteStore.openOrRecover(path: path) }
        #expect(recovered?.code == .storeEncrypted)
        #expect(try bytes(path) == content && !isSetAside())
    }

    enum PlainDamage: CaseIterable {
        case randomMagic, randomHeader, randomFirstPage, repeatedFirstPage, cut

        func applied(to content: [UInt8]) -> [UInt8] {
            var content = content
            switch self {
            case .randomMagic: content.replaceSubrange(0..<16, with: DamagedEncryptedStoreTests.random(16))
            case .randomHeader: content.replaceSubrange(0..<100, with: DamagedEncryptedStoreTests.random(100))
            case .randomFirstPage: content.replaceSubrange(0..<4096, with: DamagedEncryptedStoreTests.random(4096))
            case .repeatedFirstPage: content.replaceSubrange(0..<4096, with: [UInt8](repeating: 0xA5, count: 4096))
            case .cut:
                content.removeLast(1500)
                content.replaceSubrange(0..<16, with: [UInt8](repeating: 0xA5, count: 16))
            }
            return content
        }

        /// Whether the pages that lead to the queue are there.
        var sparesQueue: Bool { self == .randomMagic || self == .randomHeader }
    }

    @Test("a plain one is still taken for plain, full of text in base 64 as it may be", arguments: PlainDamage.allCases)
    func plain(damage: PlainDamage) async throws {
        let content = damage.applied(to: try await fill(nil))
        try write(content)
        #expect(!FileBytes.looksEncrypted(path))
        let (store, recovery) = try await SQLiteStore.openOrRecover(path: path)
        try await store.close()
        let found = try #require(recovery)
        #expect(try bytes(found.setAside) == content)
        if damage.sparesQueue { #expect(found.operations.map(\.recordID) == ["1", "2", "3"]) }
    }

    @Test("what looks random is told from what does not")
    func looks() throws {
        let text = Data(Self.random(300_000)).base64EncodedString()
        let digits = Self.random(100_000).map { String($0, radix: 16) }.joined()
        // Zeros among the pages say nothing.
        let sparse = (0..<40).flatMap { $0 % 10 == 3 ? Self.random(4096) : [UInt8](repeating: 0, count: 4096) }
        let cases: [(String, [UInt8], Bool)] = [
            ("random", Self.random(300 * 4096), true), ("one page", Self.random(4096), true),
            ("a part of one", Self.random(1500), true), ("sparse", sparse, true),
            ("half of it", Self.random(8 * 4096) + [UInt8](repeating: 0x20, count: 8 * 4096), true),
            ("a third of it", Self.random(8 * 4096) + [UInt8](repeating: 0x20, count: 16 * 4096), false),
            ("too short to tell", Self.random(500), false), ("zeros", [UInt8](repeating: 0, count: 9 * 4096), false),
            ("nothing", [], false), ("base 64", Array(text.utf8), false), ("digits", Array(digits.utf8), false),
        ]
        for (name, content, isRandom) in cases {
            try write(content)
            #expect(FileBytes.looksEncrypted(path) == isRandom, "\(name)")
        }
        #expect(!FileBytes.looksEncrypted(folder.file("nowhere")))
    }

    @Test(
        "gives up its whole queue to its key, where a byte of another table was changed: content or its hash",
        arguments: [0, 100, 4095])
    func rescued(byte: Int) async throws {
        var content = try await fill(.key(key))
        content[content.count / 4096 * 3 / 4 * 4096 + byte] ^= 1
        try write(content)
        let (store, recovery) = try await SQLiteStore.openOrRecover(path: path, encryption: .key(key))
        let found = try #require(recovery)
        #expect(found.operations.map(\.recordID) == ["1", "2", "3"] && found.isQueueWhole)
        #expect(found.operations.allSatisfy { $0.state == .pending })
        #expect(try bytes(found.setAside) == content)
        let queue = try await SyncContext(store: store).queue.operations()
        #expect(queue.map(\.id) == found.operations.map(\.id))
        #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 3)
        #expect(try await store.read { try $0.count(matching: TableQuery("other")) } == 0)
        #expect(try await store.check() == [])
        try await store.close()
        // What takes its place is encrypted with the same key.
        let plain = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
        #expect(plain?.code == .storeEncrypted)
    }
}
