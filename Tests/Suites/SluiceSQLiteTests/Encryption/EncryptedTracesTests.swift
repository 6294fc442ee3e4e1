import Foundation
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

/// Nothing of what an encrypted store holds is in any of its files, and nothing of its key in memory once it is closed.
@Suite("Traces of an encrypted store", .serialized)
struct EncryptedTracesTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    /// A text that is told from any other by chance.
    private static let canary = "CaNaRy-5e2b91"

    /// One row of each table that the engine or an application has, with the canary in every place for text.
    private func plant(_ store: SQLiteStore) async throws {
        let canary = Self.canary
        let table = TableSchema(
            "t\(canary.filter(\.isLetter))",
            columns: TableSchema.ColumnType.allCases.map { .init("\($0.rawValue) \(canary)", $0) })
        try await store.define(
            SyncTables.all + [table, TableSchema("sluice_plugin_values", columns: [.init("value", .json)])])
        try await store.write { writer in
            for schema in try writer.tables() where schema.name != LeaseRecord.schema.name {
                for number in 0..<300 {
                    var record: JSON = ["id": JSON("\(canary) \(number)"), "extra \(canary)": JSON("\(canary) extra")]
                    for column in schema.columns {
                        record[column.name] = column.type == .json ? [canary: JSON(canary)] : JSON(canary)
                    }
                    try writer.put(record, in: schema.name)
                }
            }
        }
    }

    /// Where the canary is in the folder and in what the process has open, files without a name among them.
    private func finds() throws -> [String] {
        let needle = Data(Self.canary.utf8)
        var found: [String] = []
        let manager = FileManager.default
        for name in try manager.subpathsOfDirectory(atPath: folder.path) {
            let content = manager.contents(atPath: folder.file(name)) ?? Data()
            if content.range(of: needle) != nil || name.contains(Self.canary) { found.append(name) }
        }
        for number in try manager.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let target = try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"),
                target.hasPrefix(folder.path) || target.hasSuffix("(deleted)"), !target.hasPrefix("/memfd:"),
                let content = manager.contents(atPath: "/proc/self/fd/\(number)")
            else { continue }
            if content.range(of: needle) != nil { found.append(target) }
        }
        return found
    }

    @Test("of what is in records, queue, cursors, audit and plugins there is nothing in any file")
    func canaries() async throws {
        let key = StoreEncryption.key(try StoreKey.random())
        let store = try SQLiteStore(path: path, encryption: key)
        try await plant(store)
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        #expect(try finds() == [], "open, with all of it in the log")
        // In the midst of a transaction whose pages do not fit into memory, and of a sort.
        try await store.write { writer in
            for number in 0..<20_000 {
                try writer.put(
                    ["id": JSON("\(Self.canary) b\(number)"), "text": JSON(Self.canary + Self.canary)], in: "big")
            }
            let sorted = TableQuery("big", order: [.init("text", descending: true), .init("id")], top: 10)
            _ = try writer.records(matching: sorted)
            #expect(try self.finds() == [], "in a large transaction")
        }
        try await store.write { _ = try $0.delete(matching: TableQuery("big")) }
        try await store.vacuum()
        #expect(try finds() == [], "after a vacuum")
        try await store.close()
        #expect(try finds() == [], "closed")
        let other = StoreEncryption.key(try StoreKey.random())
        try await SQLiteStore.convert(path: path, from: key, to: other)
        #expect(try finds() == [], "with another key")
        // The search does find what is there.
        try await SQLiteStore.convert(path: path, from: other, to: nil)
        #expect(try finds() == ["store.db"])
    }

    @Test("with a rollback journal there is nothing in that either")
    func journal() async throws {
        let key = StoreEncryption.key(try StoreKey.random())
        let store = try SQLiteStore(path: path, encryption: key)
        try await plant(store)
        try await store.close()
        let cipher = try StoreCipher(
            key, salt: Array((FileManager.default.contents(atPath: path) ?? Data()).prefix(16)))
        let connection = try SQLiteConnection(path: path, cipher: cipher)
        try connection.execute("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE")
        try connection.execute("DELETE FROM sluice_operations")
        #expect(FileManager.default.fileExists(atPath: path + "-journal"))
        #expect(try finds() == [])
        try connection.execute("ROLLBACK")
    }

    /// Looks for bytes in the memory of this process that can be written, and so is in a core dump. The bytes
    /// themselves are in a mapping of its own, where it does not look.
    private final class MemorySearch {
        private static let size = 1 << 16
        private let own: UnsafeMutableRawPointer
        private var needles: [UnsafeRawBufferPointer] = []

        init() { own = mmap(nil, 2 * Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) }

        deinit {
            memset(own, 0, 2 * Self.size)
            munmap(own, 2 * Self.size)
        }

        /// Adds bytes to look for, which `fill` writes straight to their place.
        func add(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
            let start = needles.map(\.count).reduce(0, +)
            let place = UnsafeMutableRawBufferPointer(start: own + start, count: count)
            fill(place)
            needles.append(UnsafeRawBufferPointer(place))
        }

        private static func holds(
            _ page: UnsafeMutableRawPointer, _ count: Int, _ needle: UnsafeRawBufferPointer
        ) -> Bool {
            guard let wanted = needle.baseAddress, count >= needle.count else { return false }
            var start = page
            let end = page + count - needle.count + 1
            while start < end, let found = memchr(start, Int32(needle[0]), end - start) {
                if memcmp(found, wanted, needle.count) == 0 { return true }
                start = found + 1
            }
            return false
        }

        func finds() -> Bool {
            let memory = open("/proc/self/mem", O_RDONLY)
            defer { close(memory) }
            let page = own + Self.size
            let mine = UInt64(UInt(bitPattern: own))
            for line in ProcessMaps.text().split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 1, words[1].hasPrefix("rw"), !line.contains("[v") else { continue }
                let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                guard bounds.count == 2 else { continue }
                // All of the mapping but what is this search's own.
                let parts = [
                    (bounds[0], min(bounds[1], mine)), (max(bounds[0], mine + UInt64(2 * Self.size)), bounds[1]),
                ]
                for (from, to) in parts where from < to {
                    var start = from
                    while start < to {
                        let count = pread(memory, page, min(Self.size, Int(to - start)), off_t(start))
                        for needle in needles where Self.holds(page, count, needle) { return true }
                        // Other tests unmap memory meanwhile: a read that stops at a hole goes on after its first page.
                        start =
                            count == Self.size
                            ? start + UInt64(Self.size - 64) : ((start + UInt64(max(0, count))) / 4096 + 1) * 4096
                    }
                }
            }
            return false
        }
    }

    @Test("of the key there is nothing in memory when the store is closed")
    func memory() async throws {
        let file = folder.file("key")
        try StoreKey.random().write(toFile: file)
        let search = MemorySearch()
        let descriptor = open(file, O_RDONLY)
        search.add(64) { _ = read(descriptor, $0.baseAddress, 64) }
        search.add(32) { place in
            lseek(descriptor, 0, SEEK_SET)
            var pair: [UInt8] = [0, 0]
            for index in 0..<32 {
                _ = read(descriptor, &pair, 2)
                place[index] = pair.reduce(0) { $0 << 4 | ($1 <= 0x39 ? $1 - 0x30 : $1 - 0x61 + 10) }
            }
        }
        search.add(64) { place in
            lseek(descriptor, 0, SEEK_SET)
            _ = read(descriptor, place.baseAddress, 64)
            for index in 0..<64 where place[index] >= 0x61 { place[index] -= 0x20 }
        }
        close(descriptor)

        func use() async throws -> Bool {
            let key = try StoreKey(file: file)
            let store = try SQLiteStore(path: path, encryption: .key(key))
            try await store.write { try $0.put(["id": "1"], in: "t") }
            _ = try await store.read { try $0.record("1", in: "t") }
            // The list of mappings is not read in one moment, and other tests map and unmap meanwhile.
            let isThere = (1...3).contains { _ in search.finds() }
            try await store.close()
            return isThere
        }
        #expect(try await use(), "the search does find it while the store is open")
        #expect(!search.finds())
    }
}
