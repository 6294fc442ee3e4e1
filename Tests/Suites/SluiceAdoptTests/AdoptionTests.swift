import Foundation
import SluiceAdopt
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceSync

@Suite("Adopting an old SDK's store")
struct AdoptionTests {
    private let folder: Folder
    private var path: String { folder.file("old.db") }

    init() throws { folder = try Folder() }

    private func context(_ sample: Sample, _ store: any LocalStore = MemoryStore(), user: String = "") async throws
        -> SyncContext
    {
        try await SyncContext(store: store, options: SyncOptions(user: user, dialect: sample.dialect))
    }

    private static func plain(_ record: JSON?) -> JSON? {
        record.map { RecordRules.withoutSystemColumns($0, ["version", "createdAt", "updatedAt", "deleted"]) }
    }

    /// All that the store holds, except for the lease.
    private func dump(_ store: any LocalStore) async throws -> [String: [JSON]] {
        try await store.read { reader in
            var all: [String: [JSON]] = [:]
            for table in try reader.tables() where table.name != "sluice_lease" {
                let records = try reader.records(matching: TableQuery(table.name))
                if !records.isEmpty { all[table.name] = records }
            }
            return all
        }
    }

    @Test("records, changes and failures of every format arrive", arguments: Sample.all)
    func everyFormat(_ sample: Sample) async throws {
        try sample.make(at: path)
        let old = try OldStore(path: path)
        #expect(old.format == sample.format)
        let store = try SQLiteStore(path: ":memory:")
        let context = try await context(sample, store, user: "ann")
        let planned = try old.report(sample.options, dialect: sample.dialect)
        let report = try await context.adopt(old, options: sample.options)
        #expect(planned.tables == report.tables && planned.tokens == report.tokens)
        #expect(planned.operations == report.operations && planned.leftOut == report.leftOut)
        #expect(report.adoptedBefore == nil)

        let todos = try context.table("todos")
        #expect(try await todos.count() == 5)
        for (id, expected) in sample.records {
            let record = try await todos.lookup(id: id)
            #expect(Self.plain(record) == expected, "\(id)")
            let version: JSON? = id == "t5" ? nil : id == "t6" ? "older" : JSON("version of \(id)")
            #expect(record?["version"] == version, "\(id)")
        }
        #expect(try await todos.lookup(id: "t1")?["updatedAt"]?.string.flatMap { Timestamp($0) } != nil)
        #expect(try await todos.lookup(id: "t1")?["deleted"] == false)
        #expect(try await todos.lookup(id: "t5")?["deleted"] == (sample.format == .toolkit ? false : nil))

        let operations = try await context.queue.operations()
        let expected =
            sample.format == .android
            ? ["update t6", "insert t5", "update t3", "delete t4"]
            : ["insert t5", "update t3", "delete t4", "update t6"]
        #expect(operations.map { "\($0.kind.rawValue) \($0.recordID)" } == expected)
        #expect(operations.allSatisfy { $0.user == "ann" })
        let versions = report.operations.map { [$0.recordID.text, $0.baseVersion ?? "none"].joined(separator: " ") }
        #expect(
            Set(versions) == ["t5 none", "t3 version of t3", "t4 version of t4", "t6 older"])
        for operation in operations {
            let isCertain = operation.recordID == "t5" && [.net, .datasync].contains(sample.format)
            let isRefused = operation.recordID == "t6" && sample.format != .javascript
            #expect(operation.isUncertain == !(isCertain || isRefused && sample.keepsServerRecord), "\(operation)")
            #expect((operation.failure?.status == 412) == isRefused, "\(operation)")
            #expect(operation.isHeldConflict == (isRefused && sample.keepsServerRecord), "\(operation)")
        }
        #expect(try await store.checkConsistency() == [])
    }

    @Test("an adoption repeated changes nothing, also from another file with the same content", arguments: Sample.all)
    func again(_ sample: Sample) async throws {
        try sample.make(at: path)
        let context = try await context(sample)
        try await context.adopt(OldStore(path: path), options: sample.options)
        let before = try await dump(context.store)
        let other = folder.file("other.db")
        try sample.make(at: other) { "PRAGMA page_size = 8192; " + $0 }
        for path in [path, other] {
            let report = try await context.adopt(OldStore(path: path), options: sample.options)
            #expect(report.adoptedBefore != nil)
            #expect(try await dump(context.store) == before)
        }
        // Used again since, the old store is another one, and this one is in use.
        try sample.make(at: folder.file("later.db")) { $0 + "CREATE TABLE more (id TEXT PRIMARY KEY);" }
        var options = sample.options
        options.leftTables.insert("more")
        let (later, told) = (try OldStore(path: folder.file("later.db")), options)
        let error = await #expect(throws: SluiceError.self) { try await context.adopt(later, options: told) }
        #expect(error?.code == .recordExists && error?.table == "todos")
        #expect(try await dump(context.store) == before)
    }

    @Test("the old file stays as it is, and its log belongs to it", arguments: Sample.all, [false, true])
    func untouched(_ sample: Sample, _ hasLog: Bool) async throws {
        let made = try Folder()
        let connection = try SQLiteConnection(path: made.file("old.db"))
        if hasLog { try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
        try connection.execute(sample.sql())
        // As an application leaves it that was ended: with everything in the log.
        for (name, bytes) in made.contents where !name.hasSuffix("-shm") {
            try bytes.write(to: URL(fileURLWithPath: folder.file(name)))
        }
        let before = folder.contents
        #expect((before["old.db-wal"]?.count ?? 0 > 0) == hasLog)
        let context = try await context(sample)
        let report = try await context.adopt(OldStore(path: path), options: sample.options)
        #expect(report.operations.count == 4 && report.tables.first?.records == 5)
        #expect(folder.contents == before)
        withExtendedLifetime(connection) {}
    }

    @Test("a journal that a crash has left is rolled back in the copy alone")
    func journal() async throws {
        let made = try Folder()
        let sample = Sample(format: .net)
        try sample.make(at: made.file("old.db"))
        let connection = try SQLiteConnection(path: made.file("old.db"))
        // Spilled to the file before the commit.
        try connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
        try connection.execute("UPDATE todos SET text = hex(zeroblob(20000))")
        try connection.execute("INSERT INTO todos (id, text) SELECT 'more', hex(zeroblob(200000))")
        for (name, bytes) in made.contents { try bytes.write(to: URL(fileURLWithPath: folder.file(name))) }
        let before = folder.contents
        #expect(before["old.db-journal"] != nil && before["old.db"] != nil)
        let context = try await context(sample)
        try await context.adopt(OldStore(path: path), options: sample.options)
        #expect(try await context.table("todos").lookup(id: "t1")?["text"] == "007")
        #expect(try await context.table("todos").count() == 5)
        #expect(folder.contents == before)
        try connection.execute("ROLLBACK")
    }

    @Test("a token is taken over by the query of its name alone, earlier by what may have come late")
    func tokens() async throws {
        let starts: [OldStoreFormat: String] = [
            .net: "2019-12-31T23:59:30.000Z", .datasync: "2019-12-31T23:59:29.999Z",
            .toolkit: "2019-12-31T23:59:29.999Z", .javascript: "2019-12-31T23:59:29.999Z",
            .android: "2019-12-31T23:59:30.000Z", .ios: "2019-12-31T23:59:30.000Z",
        ]
        for sample in Sample.all {
            let path = folder.file("\(sample.format).db")
            try sample.make(at: path)
            let without = try OldStore(path: path).report(sample.options, dialect: sample.dialect)
            #expect(without.tokens.count >= 1 && without.tokens.allSatisfy { $0.startsAt == nil && !$0.reason.isEmpty })
            var options = sample.options
            // The toolkit's own token of a whole table has no name.
            let name = sample.format == .toolkit ? "mine" : "all"
            options.queries = [.init(TableQuery("todos"), named: name), .init(TableQuery("others"), named: "never")]
            let context = try await context(sample)
            let report = try await context.adopt(OldStore(path: path), options: options)
            let taken = report.tokens.filter { $0.startsAt != nil }
            #expect(taken.map { $0.startsAt?.text(fractionDigits: 3) } == [starts[sample.format]], "\(sample.format)")
            let cursors = try await context.store.read { try Cursor.all(of: "todos", in: $0) }
            #expect(cursors.map(\.owner.name) == [name] && cursors.first?.position?.updatedAt == starts[sample.format])
            #expect(cursors.first?.position?.grade == .timestamps)
            #expect(Set(cursors.first?.toRecheck ?? []) == ["t3", "t4", "t6"])
        }
    }

    @Test("a time of creation is left out on a wire without it, unless it is the application's own")
    func createdAt() async throws {
        let sample = Sample(format: .datasync)
        try sample.make(at: path) {
            $0 + "ALTER TABLE todos ADD COLUMN createdAt DATETIME; UPDATE todos SET createdAt = 1;"
        }
        let old = try OldStore(path: path)
        var options = sample.options
        for isDeclared in [false, true] {
            if isDeclared { options.tables = [TableSchema("todos", columns: [.init("createdAt", .date)])] }
            let context = try await context(sample)
            let report = try await context.adopt(old, options: options)
            let record = try await context.table("todos").lookup(id: "t3")
            #expect(record?["createdAt"] == (isDeclared ? "1970-01-01T00:00:00.001Z" : nil))
            #expect(report.notes.contains { $0.contains("todos.createdAt") } == !isDeclared)
        }
    }

    @Test("a store of Mobile Services keeps its names on its own wire, and takes the newer ones on the next")
    func underscores() async throws {
        let names = ["version", "createdAt", "updatedAt", "deleted"]
        try Sample(format: .net).make(at: path) { sql in
            names.reduce(
                sql.replacingOccurrences(
                    of: "[createdAt] DATETIME, [sequence]", with: "[__createdAt] DATETIME, [sequence]")
            ) {
                $0 + "ALTER TABLE todos RENAME COLUMN \($1) TO __\($1);"
            }
        }
        let old = try OldStore(path: path)
        let first = try await SyncContext(store: MemoryStore(), options: SyncOptions(dialect: .azureV1))
        try await first.adopt(old)
        let own = try await first.table("todos").lookup(id: "t1")
        #expect(own?["__version"] == "version of t1" && own?["__deleted"] == false && own?["version"] == nil)
        let second = try await SyncContext(store: MemoryStore(), options: SyncOptions(dialect: .azureV2))
        let report = try await second.adopt(old)
        let next = try await second.table("todos").lookup(id: "t1")
        #expect(next?["version"] == "version of t1" && next?["__version"] == nil)
        #expect(report.operations.map(\.baseVersion) == [nil, "version of t3", "version of t4", "older"])
    }

    @Test("a process that ends at a commit point leaves the old state or the new", arguments: Sample.all)
    func commitPoints(_ sample: Sample) async throws {
        struct Ended: Error {}
        try sample.make(at: path)
        for side in CommitPoint.Side.allCases {
            let store = try SQLiteStore(path: folder.file("\(side).db"))
            var options = SyncOptions(dialect: sample.dialect)
            options.environment.reached = { point, reached in
                if point == .schema, reached == side { throw Ended() }
            }
            let context = try await SyncContext(store: store, options: options)
            let empty = try await dump(store)
            await #expect(throws: Ended.self) { try await context.adopt(OldStore(path: path), options: sample.options) }
            let next = try await self.context(sample, store)
            if side == .before { #expect(try await dump(store) == empty) }
            let report = try await next.adopt(OldStore(path: path), options: sample.options)
            #expect((report.adoptedBefore != nil) == (side == .after))
            #expect(try await next.queue.operations().count == 4)
            #expect(try await next.table("todos").count() == 5)
            #expect(try await store.checkConsistency() == [])
        }
    }
}
