import CSQLite
import Foundation
import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("A SQLite store")
struct SQLiteStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }
    private let schema = TableSchema(
        "t", columns: [.init("text", .string), .init("n", .integer)], indexes: [["n", "text"]])

    init() throws { folder = try TemporaryFolder() }

    @Test("what was written is there after it is opened again, without declaring")
    func reopen() async throws {
        let record: JSON = ["id": "1", "text": "a", "n": 5, "other": [1.5]]
        let first = try SQLiteStore(path: path)
        try await first.define([schema])
        try await first.write { try $0.put(record, in: "t") }
        try await first.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal") || size(path + "-wal") == 0)
        let second = try SQLiteStore(path: path)
        #expect(try await second.read { try $0.record("1", in: "t") } == record)
        await #expect(throws: SluiceError.self) {
            try await second.define([TableSchema("t", columns: [.init("n", .string)])])
        }
        try await second.close()
    }

    @Test("a file that is no database is refused and left as it is")
    func notADatabase() throws {
        let content = Data(String(repeating: "this is no database\n", count: 500).utf8)
        try content.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
        #expect(error?.code == .storeNotADatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    }

    @Test("another program's database, and one of a newer format, are refused and left as they are")
    func foreign() throws {
        for sql in ["CREATE TABLE mine (a)", "PRAGMA application_id = 1397506885; PRAGMA user_version = 2"] {
            let path = folder.file("\(sql.count).db")
            try SQLiteConnection(path: path).execute(sql)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let error = #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
            #expect(error?.code == .storeSchema)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    @Test("a directory that is not there is named")
    func directory() throws {
        let error = #expect(throws: SluiceError.self) { try SQLiteStore(path: folder.file("no/such/where.db")) }
        #expect(error?.code == .storeInputOutput)
        #expect(error?.message.contains("no/such/where.db") == true)
    }

    @Test("a store that another connection has locked is busy, within the timeout")
    func locked() async throws {
        let store = try SQLiteStore(path: path, options: .init(busyTimeout: .milliseconds(100)))
        try await store.write { try $0.put(["id": "1"], in: "t") }
        let patient = try SQLiteStore(path: path, options: .init(busyTimeout: .seconds(600)))
        let other = try SQLiteConnection(path: path)
        try other.execute("BEGIN IMMEDIATE")
        let waiting = Task { try await patient.write { try $0.put(["id": "3"], in: "t") } }
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "2"], in: "t") }
        }
        #expect(error?.code == .storeBusy)
        #expect(try await store.read { try $0.count(matching: TableQuery("t")) } == 1)
        try other.execute("ROLLBACK")
        // The other store's time was not over.
        try await waiting.value
        try await patient.close()
        try await store.write { try $0.put(["id": "2"], in: "t") }
        try StoreLock(path: path, timeout: .zero).hold {
            let error = #expect(throws: SluiceError.self) { try StoreLock(path: path, timeout: .zero).hold {} }
            #expect(error?.code == .storeBusy)
        }
        try await store.close()
    }

    @Test("a full store says so, keeps what it has, and takes what fits")
    func full() async throws {
        let store = try SQLiteStore(path: path, options: .init(maximumSize: 100_000))
        try await store.write { try $0.put(["id": "1"], in: "t") }
        let large = JSON(String(repeating: "x", count: 200_000))
        let error = await #expect(throws: SluiceError.self) {
            try await store.write { try $0.put(["id": "2", "text": large], in: "t") }
        }
        #expect(error?.code == .storeFull)
        try await store.write { try $0.put(["id": "3"], in: "t") }
        let ids = try await store.read { try $0.records(matching: TableQuery("t")).map { $0["id"] } }
        #expect(ids == ["1", "3"])
        try await store.close()
    }

    @Test("the log does not grow without end")
    func log() async throws {
        let store = try SQLiteStore(path: path, options: .init(durability: .normal))
        let text = JSON(String(repeating: "x", count: 100_000))
        for number in 0..<200 {
            try await store.write { try $0.put(["id": JSON("\(number % 5)"), "text": text], in: "t") }
        }
        #expect(size(path + "-wal") < 8_000_000)
        try await store.close()
        #expect(size(path + "-wal") == 0)
    }

    @Test("durability is what was asked for", arguments: [SQLiteStore.Options.Durability.full, .normal])
    func durability(durability: SQLiteStore.Options.Durability) throws {
        let options = SQLiteStore.Options(durability: durability)
        let connection = try SQLiteStoreFile(path: path, options: options).openWriter()
        #expect(try connection.integer("PRAGMA synchronous") == (durability == .full ? 2 : 1))
        #expect(try connection.integer("PRAGMA wal_autocheckpoint") == 0)
        #expect(try connection.run("PRAGMA journal_mode").first == [.text("wal")])
    }

    @Test("plain SQL reads the columns, and an index serves them")
    func plain() async throws {
        let store = try SQLiteStore(path: path)
        try await store.define([schema])
        try await store.write { try $0.put(["id": "1", "text": "a", "n": 5, "other": 1], in: "t") }
        try await store.close()
        let connection = try SQLiteConnection(path: path)
        let row = try connection.run("SELECT id, text, n, _extra, _absent FROM t").first
        #expect(row == [.text("1"), .text("a"), .integer(5), .text(#"{"other":1}"#), .null])
        let plan = try connection.run("EXPLAIN QUERY PLAN SELECT * FROM t WHERE n = 5").first
        #expect(plan.map { "\($0)".contains("USING INDEX t(n,text)") } == true)
    }

    @Test("two stores on one file see each other's records, tables and columns")
    func two() async throws {
        let one = try SQLiteStore(path: path, options: .init(durability: .normal))
        let two = try SQLiteStore(path: path, options: .init(durability: .normal))
        try await one.define([schema])
        try await two.write { try $0.put(["id": "1", "n": 1, "later": 2], in: "t") }
        try await one.define([TableSchema("t", columns: [.init("later", .real)])])
        let expected: JSON = ["id": "1", "n": 1, "later": 2]
        #expect(try await two.read { try $0.record("1", in: "t") } == expected)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in [one, two] {
                for _ in 0..<30 {
                    group.addTask {
                        try await store.write { writer in
                            var record = try writer.record("1", in: "t") ?? .object
                            record["n"] = JSON((record["n"]?.int ?? 0) + 1)
                            try writer.put(record, in: "t")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await one.read { try $0.record("1", in: "t") }?["n"] == 61)
        try await one.close()
        #expect(try await two.read { try $0.record("1", in: "t") }?["n"] == 61)
        try await two.close()
    }

    private func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }

    @Test("a link to a file that is not there yet is the way to that file, and to its one lock")
    func danglingLink() async throws {
        let folder = try TemporaryFolder()
        let (link, file) = (folder.file("link.db"), folder.file("real.db"))
        #expect(symlink("other.db", link) == 0 && symlink(file, folder.file("other.db")) == 0)
        let first = try SQLiteStore(path: link)
        try await first.write { try $0.put(["id": "1"], in: "t") }
        let second = try SQLiteStore(path: file)
        try await second.write { try $0.put(["id": "2"], in: "t") }
        #expect(try await first.read { try $0.count(matching: TableQuery("t")) } == 2)
        try await first.close()
        try await second.close()
        let locks = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix("-lock") }
        #expect(locks == ["real.db-lock"])
    }

    @Test("a file that could not be opened is not taken for an open one")
    func registration() async throws {
        try SQLiteConnection(path: path).execute("CREATE TABLE mine (a)")
        #expect(throws: SluiceError.self) { try SQLiteStore(path: path) }
        #expect(!OpenStores.contains(path))
        let other = folder.file("other.db")
        let store = try SQLiteStore(path: other)
        #expect(OpenStores.contains(other))
        try await store.close()
        #expect(!OpenStores.contains(other))
    }
}
