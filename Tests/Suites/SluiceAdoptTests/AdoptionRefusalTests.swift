import Foundation
import SluiceAdopt
import SluiceCore
import SluiceOData
import SluiceSQLite
import Testing

@Suite("Old stores that are not adopted")
struct AdoptionRefusalTests {
    private let folder: Folder
    private var path: String { folder.file("old.db") }

    init() throws { folder = try Folder() }

    /// A change of a sample, and what the refusal names.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let format: OldStoreFormat
        var find = ""
        var replacement = ""
        var sql = ""
        let names: [String]

        var testDescription: String { "\(format.rawValue): \(names.joined(separator: ", "))" }
    }

    static let refusals = [
        Refusal(format: .net, sql: "ALTER TABLE __operations ADD COLUMN mood TEXT", names: ["__operations", "mood"]),
        Refusal(
            format: .net, sql: "ALTER TABLE __config RENAME COLUMN value TO worth",
            names: ["__config", "value", "worth"]),
        Refusal(format: .net, sql: "CREATE TABLE __later (id TEXT)", names: ["__later"]),
        Refusal(format: .net, sql: "CREATE TABLE notes (name TEXT)", names: ["notes", "id"]),
        Refusal(format: .net, sql: "CREATE TABLE \"no way\" (id TEXT)", names: ["no way"]),
        Refusal(format: .net, sql: "ALTER TABLE todos ADD COLUMN mood MOOD", names: ["todos.mood", "MOOD"]),
        Refusal(
            format: .net, sql: "UPDATE __operations SET kind = 3 WHERE sequence = 4", names: ["__operations.kind", "3"]),
        Refusal(
            format: .net, sql: "UPDATE __operations SET state = 3 WHERE sequence = 4",
            names: ["__operations.state", "3"]),
        Refusal(format: .net, sql: "UPDATE __operations SET tableName = 'gone'", names: ["gone"]),
        Refusal(
            format: .net, sql: "UPDATE __operations SET item = '{' WHERE kind = 2", names: ["__operations", "item"]),
        Refusal(format: .net, sql: "INSERT INTO __config VALUES ('mood', '1')", names: ["__config.id", "mood"]),
        Refusal(format: .net, sql: "UPDATE todos SET done = 2 WHERE id = 't1'", names: ["todos.done", "2"]),
        Refusal(format: .net, sql: "UPDATE todos SET due = 'soon' WHERE id = 't1'", names: ["todos.due", "soon"]),
        Refusal(format: .net, sql: "UPDATE todos SET extra = '{' WHERE id = 't1'", names: ["todos.extra"]),
        Refusal(format: .net, sql: "DROP TABLE __errors", names: ["__errors"]),
        // 0 is no kind of Datasync's: there an insert is 2.
        Refusal(format: .datasync, sql: "UPDATE __operations SET kind = 0", names: ["__operations.kind", "0"]),
        Refusal(format: .datasync, sql: "UPDATE __operations SET state = 2", names: ["__operations.state", "2"]),
        Refusal(format: .datasync, sql: "ALTER TABLE __errors RENAME COLUMN status TO result", names: ["__operations"]),
        Refusal(format: .toolkit, sql: "UPDATE DatasyncOperationsQueue SET Kind = 3", names: ["Kind", "3"]),
        Refusal(format: .toolkit, sql: "UPDATE DatasyncOperationsQueue SET State = 7", names: ["State", "7"]),
        Refusal(format: .toolkit, find: #""text":"new""#, replacement: #""words":"new""#, names: ["words", "Todos"]),
        Refusal(format: .toolkit, sql: "UPDATE Todos SET Cost = 1.5 WHERE Id = 't5'", names: ["Todos.Cost", "local"]),
        Refusal(format: .toolkit, sql: "CREATE TABLE Drafts (Id TEXT PRIMARY KEY)", names: ["Drafts"]),
        Refusal(
            format: .toolkit, sql: "UPDATE DatasyncDeltaTokens SET Id = 'q-x' WHERE Id LIKE 'q-%'",
            names: ["DatasyncDeltaTokens.Id", "q-x"]),
        Refusal(format: .javascript, sql: "UPDATE __operations SET action = 'upsert'", names: ["action", "upsert"]),
        Refusal(
            format: .javascript, sql: "ALTER TABLE todos ADD COLUMN seen INTEGER; UPDATE todos SET seen = 1",
            names: ["todos.seen"]),
        Refusal(
            format: .android, sql: "ALTER TABLE __operations RENAME COLUMN createdat TO __createdat",
            names: ["__operations", "__createdat"]),
        Refusal(format: .android, sql: "UPDATE __operations SET kind = 5", names: ["__operations.kind", "5"]),
        Refusal(format: .android, sql: "ALTER TABLE todos ADD COLUMN dueby TEXT", names: ["todos.dueby", "spelling"]),
        Refusal(format: .ios, sql: "CREATE TABLE ZDRAFTS (Z_PK INTEGER PRIMARY KEY, ZID VARCHAR)", names: ["ZDRAFTS"]),
        Refusal(
            format: .ios, sql: "UPDATE ZMS_TABLEOPERATIONS SET ZPROPERTIES = '{\"type\":9}'", names: ["ZPROPERTIES"]),
        Refusal(
            format: .ios, sql: "ALTER TABLE ZMS_TABLECONFIG ADD COLUMN ZMOOD INTEGER",
            names: ["ZMS_TABLECONFIG", "ZMOOD"]),
    ]

    @Test("what is not known is refused by its name, and nothing is stored", arguments: refusals)
    func unknown(_ refusal: Refusal) async throws {
        let sample = Sample(format: refusal.format)
        try sample.make(at: path) { sql in
            (refusal.find.isEmpty ? sql : sql.replacingOccurrences(of: refusal.find, with: refusal.replacement))
                + refusal.sql
        }
        let store = MemoryStore()
        let context = try await SyncContext(store: store, options: SyncOptions(dialect: sample.dialect))
        let error = await #expect(throws: SluiceError.self) {
            try await context.adopt(OldStore(path: path), options: sample.options)
        }
        #expect(error?.code == .unsupported, "\(String(describing: error))")
        for name in refusal.names { #expect(error?.message.contains(name) == true, "\(name): \(error?.message ?? "")") }
        #expect(try await context.queue.operations().isEmpty)
        #expect(try await store.read { try $0.count(matching: TableQuery("todos")) } == 0)
    }

    @Test(
        "what only the application knows has to be told",
        arguments: [OldStoreFormat.toolkit, .javascript, .android, .ios])
    func untold(_ format: OldStoreFormat) async throws {
        let sample = Sample(format: format)
        try sample.make(at: path)
        let error = #expect(throws: SluiceError.self) {
            try OldStore(path: path).report(AdoptionOptions(), dialect: sample.dialect)
        }
        let expected: [OldStoreFormat: [String]] = [
            .toolkit: ["Todos.Rank", "Todos.Big", "Todos.Due", "time zone"],
            .javascript: ["todos.done", "todos.due", "todos.extra"],
            .android: ["todos.due", "todos.big", "todos.rank"], .ios: ["ZSETTINGS", "ZTODOS.ZRANK"],
        ]
        for name in expected[format] ?? [] {
            #expect(error?.message.contains(name) == true, "\(name): \(error?.message ?? "")")
        }
    }

    @Test("a file of another format than told, no store, and no database")
    func otherFiles() throws {
        try Sample(format: .datasync).make(at: path)
        #expect(throws: SluiceError.self) { try OldStore(path: path, format: .net) }
        let other = folder.file("other.db")
        try SQLiteConnection(path: other).execute("CREATE TABLE films (id TEXT)")
        var error = #expect(throws: SluiceError.self) { try OldStore(path: other) }
        #expect(error?.code == .unsupported && error?.message.contains("films") == true)
        try Data(repeating: 0x5A, count: 4096).write(to: URL(fileURLWithPath: folder.file("noise.db")))
        error = #expect(throws: SluiceError.self) { try OldStore(path: folder.file("noise.db")) }
        #expect(error?.code == .storeNotADatabase)
        error = #expect(throws: SluiceError.self) { try OldStore(path: folder.file("missing.db")) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a wire that no old SDK has spoken, a table in use and one that stays here")
    func otherStores() async throws {
        let sample = Sample(format: .net)
        try sample.make(at: path)
        let old = try OldStore(path: path)
        func code(_ options: SyncOptions, _ prepare: (SyncContext) async throws -> Void = { _ in }) async throws
            -> SluiceError.Code?
        {
            let context = try await SyncContext(store: MemoryStore(), options: options)
            try await prepare(context)
            return await #expect(throws: SluiceError.self) { try await context.adopt(old) }?.code
        }
        #expect(try await code(SyncOptions(localOnly: LocalOnly(tables: ["todos"]))) == .operationRefused)
        #expect(
            try await code(SyncOptions()) { try await $0.table("todos").insert(["id": "t1"]) } == .recordExists)
        #expect(throws: SluiceError.self) { try old.report(dialect: .odataV4) }
    }

    @Test("changes without content are left out with their reason, and stay in the old store")
    func leftOut() async throws {
        for (format, expected) in [
            (OldStoreFormat.net, ["update t3 its record is gone from the old store"]),
            (
                .javascript,
                ["update t3 its record is gone from the old store", "update t9 its record is gone from the old store"]
            ),
            (.toolkit, ["update t2 a conflict was decided for the server's record, so there is nothing to send"]),
        ] {
            let sample = Sample(format: format)
            let path = folder.file("\(format).db")
            try sample.make(at: path) { $0 + (format == .toolkit ? "" : "DELETE FROM todos WHERE id = 't3';") }
            let report = try OldStore(path: path).report(sample.options, dialect: sample.dialect)
            #expect(report.leftOut.map { "\($0.kind) \($0.recordID) \($0.reason)" } == expected)
        }
    }
}
