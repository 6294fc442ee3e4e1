import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("An export of which nothing is believed")
struct StoreImportTests {
    private func head(_ tables: [TableSchema]) -> String { StoreLines.head(tables, []).description }

    private func end(_ rows: Int) -> String { StoreLines.end(rows: rows).description }

    private func read(_ lines: [String], into store: any LocalStore) async throws {
        let rest = Mutex(lines[...])
        try await StoreImport().read(into: store) { rest.withLock { $0.popFirst() } }
    }

    private func export(_ store: any LocalStore) async throws -> [String] {
        let lines = Mutex<[String]>([])
        try await StoreExport().write(store) { line in lines.withLock { $0.append(line) } }
        return lines.withLock { $0 }
    }

    private func columns(_ count: Int) -> [TableSchema.Column] { (0..<count).map { .init("c\($0)", .string) } }

    @Test("declares no more than a store takes, and nothing that is not known", arguments: StoreKind.allCases)
    func tooMuch(_ kind: StoreKind) async throws {
        let wide = TableSchema("wide", columns: columns(1998))
        let many = (0...10_000).map { TableSchema("t\($0)") }
        let indexed = TableSchema(
            "indexed", columns: [.init("n", .integer)], indexes: [Array(repeating: "n", count: 1998)])
        let declared: [[TableSchema]] = [
            [wide], many, [indexed], [TableSchema("twice"), TableSchema("twice")], [TableSchema("sluice_later")],
            [TableSchema("sluice_operations", columns: columns(1998))], [TableSchema("Sluice_operations")],
        ]
        for tables in declared {
            let store = try await kind.make()
            let error = await #expect(throws: SluiceError.self, "\(tables[0].name)") {
                try await read([head(tables), end(0)], into: store)
            }
            #expect(error?.code == .invalidTable, "\(String(describing: error))")
            #expect(try await store.read { try $0.tables().count } == 0, "nothing was made")
        }
    }

    @Test("may declare as many columns as there can be", arguments: StoreKind.allCases)
    func justSo(_ kind: StoreKind) async throws {
        let store = try await kind.make()
        try await read([head([TableSchema("wide", columns: columns(1997))]), end(0)], into: store)
        let tables = try await store.read { try $0.tables() }
        #expect(tables.first { $0.name == "wide" }?.columns.count == 1997)
        #expect(!tables.contains { $0.name == SyncTables.pluginValues.name }, "no plugin keeps anything in it")
    }

    @Test("what plugins keep is where they look for it, whatever the head says", arguments: StoreKind.allCases)
    func pluginValues(_ kind: StoreKind) async throws {
        let store = try await kind.make()
        let table = SyncTables.pluginValues.name
        let other = TableSchema(table, columns: [.init("value", .integer), .init("key", .json)])
        let row: JSON = ["id": "p/k", "plugin": "p", "key": "k", "value": -1]
        try await read([head([other]), StoreLines.row(row, of: table).description, end(1)], into: store)
        // As it is done for plugins at every opening.
        try await store.define([SyncTables.pluginValues])
        #expect(try await store.read { try $0.record("p/k", in: table) } == row)
    }

    @Test("has rows of the tables that it declares", arguments: StoreKind.allCases)
    func undeclared(_ kind: StoreKind) async throws {
        let store = try await kind.make()
        let row = StoreLines.row(["id": "1"], of: "todos").description
        let error = await #expect(throws: SluiceError.self) { try await read([head([]), row, end(1)], into: store) }
        #expect(error?.code == .invalidRecord)
        #expect(try await store.read { try $0.tables().count } == 0)
    }

    private static let tombstone: JSON = [
        "id": "todos/a", "table": "todos", "record": "a", "operation": "o", "revision": 2,
        "createdAt": "2026-01-01T00:00:00.000Z", "bodies": [["id": "a", "text": "x"]],
    ]

    @Test("a tombstone that can be read is taken")
    func readable() async throws {
        let table = UnansweredSend.schema.name
        let store = MemoryStore()
        try await read([head([]), StoreLines.row(Self.tombstone, of: table).description, end(1)], into: store)
        #expect(try await store.read { try $0.count(matching: TableQuery(table)) } == 1)
    }

    @Test(
        "one that would have another's rows deleted, or nothing at all, is refused",
        arguments: [
            #"{"id":"todos/b"}"#, #"{"createdAt":"yesterday"}"#, #"{"operation":null}"#,
            #"{"bodies":[{"text":"x"},{"id":"a"}]}"#, #"{"bodies":["x"]}"#,
        ])
    func tombstones(_ changed: String) async throws {
        try await refuses(Self.tombstone.setting(try JSON(parsing: changed)), of: UnansweredSend.schema.name)
    }

    @Test(
        "what the engine could not go on with is refused",
        arguments: [
            ("sluice_quarantine", #"{"id":"todos/a","table":"todos"}"#),
            ("sluice_audit", #"{"id":"a","at":"2026-01-01T00:00:00.000Z","what":"edit","operation":{"id":"o"}}"#),
            ("sluice_audit", #"{"id":"a","what":"discard"}"#),
            ("sluice_changes", #"{"id":"todos","table":"todos","stamp":-1,"pages":0}"#),
        ])
    func unreadable(_ table: String, _ row: String) async throws {
        try await refuses(try JSON(parsing: row), of: table)
    }

    private func refuses(_ row: JSON, of table: String) async throws {
        let store = MemoryStore()
        let error = await #expect(throws: SluiceError.self) {
            try await read([head([]), StoreLines.row(row, of: table).description, end(1)], into: store)
        }
        #expect(error?.code == .invalidRecord && error?.table == table)
        #expect(error?.message.hasPrefix("line 2: ") == true)
        #expect(try await store.read { try $0.tables().count } == 0)
    }

    @Test("what the engine itself has written is read again", arguments: StoreKind.allCases)
    func ownRows(_ kind: StoreKind) async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a", "text": "mine"])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        let operation = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.discard(operation.id)
        let row = QuarantinedRow(
            table: "todos", recordID: nil, distinction: "1", reason: "it has no id", raw: "{}",
            at: Timestamp(ticks: 17_000_000_000_000_000))
        try await device.store.write { try $0.put(row.record, in: QuarantinedRow.schema.name) }
        let lines = try await export(device.store)
        for schema in [UnansweredSend.schema, QuarantinedRow.schema, SyncTables.audit] {
            #expect(lines.contains { $0.hasPrefix(#"{"table":"\#(schema.name)""#) }, "\(schema.name)")
        }
        let store = try await kind.make()
        try await read(lines, into: store)
        // In the order in which that store gives columns.
        func documents(_ lines: [String]) throws -> [JSON] { try lines.map { try JSON(parsing: $0) } }
        #expect(try documents(await export(store)) == documents(lines))
    }
}
