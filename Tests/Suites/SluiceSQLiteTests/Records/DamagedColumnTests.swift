import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSQLite
@testable import SluiceSync
@testable import SluiceWire

@Suite("A column that holds what no store has put there")
struct DamagedColumnTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    private func filled() async throws -> SQLiteStore {
        let store = try SQLiteStore(path: path)
        try await store.define(
            SyncTables.all + [
                TableSchema("t", columns: [.init("n", .integer), .init("list", .json), .init("done", .boolean)])
            ])
        try await store.write { writer in
            try writer.put(["id": "1", "n": "not a number", "list": "no list", "done": true], in: "t")
            try writer.put(["id": "2", "n": 2, "list": [1], "done": false], in: "t")
            let state = RecordState(table: "t", recordID: "1", base: ["id": "1", "version": "a"], mirror: nil)
            try writer.put(state.record, in: RecordState.schema.name)
        }
        return store
    }

    @Test(
        "is damage, and not a property that is not there",
        arguments: [
            "list = '[1'", "list = 5", "list = '5'", "list = x'00'", "n = 'a'", "n = 1.5", "done = 'yes'",
            "_absent = '{}'", "_extra = '[]'", "_extra = '{'",
        ])
    func record(change: String) async throws {
        let store = try await filled()
        try SQLiteConnection(path: path).execute("UPDATE t SET \(change) WHERE id = '2'")
        let error = await #expect(throws: SluiceError.self) { try await store.read { try $0.record("2", in: "t") } }
        #expect(error?.code == .storeCorrupt && error?.table == "t" && error?.recordID == "2", "\(error as Any)")
        let other = try await store.read { try $0.record("1", in: "t") }
        #expect(other == ["id": "1", "n": "not a number", "list": "no list", "done": true])
        try await store.close()
    }

    @Test("a record's base that cannot be read is no missing base", arguments: ["'{\"id\":'", "'7'", "'[]'"])
    func base(text: String) async throws {
        let store = try await filled()
        try SQLiteConnection(path: path).execute("UPDATE sluice_records SET base = \(text)")
        let error = await #expect(throws: SluiceError.self) {
            try await store.read { reader in
                for record in try reader.records(matching: TableQuery(RecordState.schema.name)) {
                    _ = try RecordState(record: record)
                }
            }
        }
        #expect(error?.code == .storeCorrupt)
        try await store.close()
        let queue = try RescueReader(SQLiteConnection(path: path)).queue()
        #expect(!queue.isWhole)
    }
}
