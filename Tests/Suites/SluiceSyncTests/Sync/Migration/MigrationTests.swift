import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Migrations of a store")
struct MigrationTests {
    private static let titles = StoreMigration("titles", [.renameProperty("text", to: "title", in: "todos")])
    private static let renamed: @Sendable (JSON) -> JSON = { row in
        var row = row
        row["title"] = row["text"]
        row["text"] = nil
        return row
    }

    /// A device with every kind of change in its queue, some of which the server has done and not said so.
    private func busy(_ kind: StoreKind) async throws -> Device {
        let device = try await Device(
            kind, tables: [TableSchema("todos", columns: [.init("text", .string)], indexes: [["text"]])],
            adjust: { $0.concurrency = 4 })
        device.server.seed("todos", (1...9).map { ["id": JSON("r\($0)"), "text": JSON("row \($0)"), "n": 1] })
        try await device.todos.pull(named: "all")
        // Done, without an answer: an insert, an update, a delete; the update has a successor.
        try await device.todos.insert(["id": "new", "text": "made"])
        try await device.todos.update(["id": "r1", "text": "edited"])
        try await device.todos.delete(id: "r2")
        // A conflict, parked.
        device.server.seed("todos", [["id": "r3", "text": "theirs"]])
        try await device.todos.update(["id": "r3", "text": "mine"])
        device.server.onRequest { $0.isWrite && !($0.head.path ?? "").contains("r3") ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "r1", "n": 2])
        // Never sent.
        try await device.todos.insert(["id": "late", "text": "later"])
        try await device.todos.update(["id": "r4", "text": "changed"])
        try await device.todos.update(["id": "r4", "n": 5], options: OperationOptions(isMergeable: false))
        try await device.todos.delete(id: "r5")
        // Given up.
        try await device.todos.update(["id": "r6", "text": "given up"])
        let given = try #require(try await device.context.queue.operations().last)
        try await device.context.queue.discard(given.id)
        return device
    }

    private func text(of store: any LocalStore) async throws -> String {
        let lines = Mutex<[String]>([])
        try await StoreExport().write(store) { line in lines.withLock { $0.append(line) } }
        return lines.withLock { $0.joined(separator: "\n") }
    }

    @Test("a renamed property takes all that waits with it", arguments: StoreKind.allCases)
    func renameProperty(_ kind: StoreKind) async throws {
        let old = try await busy(kind)
        let queue = try await old.queue()
        #expect(queue.count >= 8)
        old.server.reshape("todos", Self.renamed)
        let device = try await Device(
            kind, server: old.server, policy: .clientWins, store: old.store,
            tables: [TableSchema("todos", columns: [.init("title", .string)], indexes: [["title"]])],
            migrations: [Self.titles])
        #expect(try await device.queue() == queue)
        #expect(try await !text(of: device.store).contains(#""text""#), "no copy has the old name")
        let declared = try await device.store.read { try $0.tables() }.first { $0.name == "todos" }
        #expect(declared == TableSchema("todos", columns: [.init("title", .string)], indexes: [["title"]]))
        #expect(try await device.local("r4") == ["id": "r4", "title": "changed", "n": 5])
        #expect(try await device.store.checkConsistency() == [])

        try await device.context.queue.retryAll()
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.queue() == [])
        #expect(device.remote("new") == ["id": "new", "title": "made"])
        #expect(device.remote("r1") == ["id": "r1", "title": "edited", "n": 2])
        #expect(device.remote("r2") == nil && device.remote("r5") == nil)
        #expect(device.remote("r3")?["title"] == "mine")
        #expect(device.remote("r4") == ["id": "r4", "title": "changed", "n": 5])
        #expect(device.remote("r6")?["title"] == "row 6")
        #expect(device.remote("late") == ["id": "late", "title": "later"])
        #expect(
            device.server.rows("todos").values.allSatisfy { $0["text"] == nil }, "nothing is sent under the old name")
        device.server.clearLog()
        try await device.todos.pull(named: "all")
        #expect(device.server.requests.count < 5, "what was pulled is not pulled again")
        let there = device.server.rows("todos").values.filter { $0["deleted"] != true }
        #expect(try await device.todos.count() == there.count)
    }

    @Test("a renamed table takes all that waits with it", arguments: StoreKind.allCases)
    func renameTable(_ kind: StoreKind) async throws {
        let old = try await busy(kind)
        let queue = try await old.queue()
        old.server.reshape("todos", to: "tasks")
        let device = try await Device(
            kind, server: old.server, policy: .clientWins, store: old.store,
            migrations: [StoreMigration("tasks", [.renameTable("todos", to: "tasks")])])
        #expect(try await device.queue() == queue)
        #expect(try await !text(of: device.store).contains("todos"))
        let declared = try await device.store.read { try $0.tables() }.map(\.name)
        #expect(declared.contains("tasks") && !declared.contains("todos"))
        #expect(try await device.store.checkConsistency() == [])
        try await device.context.queue.retryAll()
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.queue() == [])
        let rows = device.server.rows("tasks")
        #expect(rows["new"]?["text"] == "made" && rows["r1"]?["text"] == "edited" && rows["r1"]?["n"] == 2)
        #expect(rows["r2"]?["deleted"] == true && rows["r5"]?["deleted"] == true)
        // What left meanwhile is found, though its queries begin anew.
        device.server.hardDelete("tasks", "r7")
        let tasks = try device.context.table("tasks")
        try await tasks.pull(named: "all")
        #expect(try await tasks.lookup(id: "r7") == nil)
        #expect(device.server.rows("todos").isEmpty)
    }

    @Test("a record that has both names: the server's word is the new one's, the application's the old one's")
    func bothNames() async throws {
        let old = try await Device(.memory)
        old.server.seed("todos", [["id": "1", "text": "a", "title": "A"], ["id": "2", "text": "b", "title": "B"]])
        try await old.todos.pull(named: "all")
        try await old.todos.update(["id": "2", "text": "mine"])
        let device = try await Device(.memory, server: old.server, store: old.store, migrations: [Self.titles])
        #expect(try await device.local("1") == ["id": "1", "title": "A"])
        #expect(try await device.local("2") == ["id": "2", "title": "mine"])
    }

    @Test("of a record that has both names nothing is sent that nobody wrote")
    func bothNamesUntouched() async throws {
        let old = try await Device(.memory)
        old.server.seed("todos", [["id": "1", "text": "b", "title": "B", "n": 1]])
        try await old.todos.pull(named: "all")
        try await old.todos.update(["id": "1", "n": 2])
        let device = try await Device(.memory, server: old.server, store: old.store, migrations: [Self.titles])
        #expect(try await device.local("1") == ["id": "1", "title": "B", "n": 2])
        _ = try await device.context.push()
        #expect(device.remote("1") == ["id": "1", "text": "b", "title": "B", "n": 2])
    }

    @Test("a body of which nothing is left proves nothing")
    func emptied() async throws {
        let old = try await Device(.memory)
        try await old.todos.insert(["id": "x", "n": 1])
        old.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await old.context.push()
        old.server.onRequest(nil)
        let operation = try #require(try await old.context.queue.operations().first)
        try await old.context.queue.discard(operation.id)
        let device = try await Device(
            .memory, server: old.server, store: old.store,
            migrations: [StoreMigration("no n", [.dropProperty("n", of: "todos")])])
        device.server.seed("todos", [["id": "x", "text": "somebody else's"]])
        try await device.todos.pull(named: "all")
        #expect(try await device.queue() == [])
        #expect(try await device.local("x")?["text"] == "somebody else's")
    }

    @Test("no group is torn by a table that goes")
    func group() async throws {
        let old = try await Device(.memory, batchSize: 4)
        try await old.context.group { group in
            _ = try group.insert(["id": "1"], in: "orders")
            _ = try group.insert(["id": "2"], in: "todos")
        }
        let error = await #expect(throws: SluiceError.self) {
            _ = try await Device(
                .memory, server: old.server, store: old.store, batchSize: 4,
                migrations: [StoreMigration("away", [.dropTable("orders", discardsChanges: true)])])
        }
        #expect(error?.code == .operationsPending)
        #expect(try await old.queue().count == 2)
    }

    @Test("a dropped property is gone from every copy, and nothing is said of it", arguments: StoreKind.allCases)
    func dropProperty(_ kind: StoreKind) async throws {
        let old = try await busy(kind)
        let device = try await Device(
            kind, server: old.server, policy: .clientWins, store: old.store,
            migrations: [StoreMigration("no n", [.dropProperty("n", of: "todos")])])
        #expect(try await !text(of: device.store).contains(#""n":"#))
        try await device.context.queue.retryAll()
        _ = try await device.context.push()
        #expect(device.server.rows("todos")["r4"]?["n"] == 1, "what the server has of it stays")
    }

    @Test("another type takes the values that mean the same", arguments: StoreKind.allCases)
    func changeType(_ kind: StoreKind) async throws {
        let old = try await Device(kind, tables: [TableSchema("todos", columns: [.init("n", .string)])])
        old.server.seed("todos", [["id": "1", "n": "12"], ["id": "2", "n": "many"], ["id": "3", "n": .null]])
        try await old.todos.pull(named: "all")
        try await old.todos.update(["id": "1", "text": "edited"])
        let device = try await Device(
            kind, server: old.server, store: old.store,
            tables: [TableSchema("todos", columns: [.init("n", .integer)])],
            migrations: [StoreMigration("numbers", [.changeType(of: "n", in: "todos", to: .integer)])])
        #expect(try await device.local("1") == ["id": "1", "n": 12, "text": "edited"])
        #expect(try await device.local("2")?["n"] == "many")
        #expect(try await device.local("3")?["n"] == .null)
        #expect(
            try await device.todos.count(matching: TableQuery("todos", filter: QueryExpression(odata: "n gt 11"))) == 1)
        _ = try await device.context.push()
        #expect(device.remote("1") == ["id": "1", "n": "12", "text": "edited"], "only what was changed is sent")
    }

    @Test("values of one type in another", arguments: TableSchema.ColumnType.allCases)
    func conversions(_ type: TableSchema.ColumnType) throws {
        let values: [JSON] = ["12", "1.5", "x", "true", 12, 1, 0, 1.5, true, false, .null, "{\"a\":1}", ["a"]]
        let expected: [TableSchema.ColumnType: [JSON]] = [
            .string: ["12", "1.5", "x", "true", "12", "1", "0", "1.5", "true", "false", .null, "{\"a\":1}", ["a"]],
            .integer: [12, "1.5", "x", "true", 12, 1, 0, 1.5, 1, 0, .null, "{\"a\":1}", ["a"]],
            .real: [12, 1.5, "x", "true", 12, 1, 0, 1.5, 1, 0, .null, "{\"a\":1}", ["a"]],
            .boolean: ["12", "1.5", "x", true, 12, true, false, 1.5, true, false, .null, "{\"a\":1}", ["a"]],
            .date: values,
            .json: ["12", "1.5", "x", "true", 12, 1, 0, 1.5, true, false, .null, ["a": 1], ["a"]],
        ]
        #expect(values.map { PropertyChange.value($0, as: type) } == expected[type])
    }

    @Test("a table goes with its rows, and not with changes that wait unless it is said", arguments: StoreKind.allCases)
    func dropTable(_ kind: StoreKind) async throws {
        let old = try await busy(kind)
        let before = try await text(of: old.store)
        let error = await #expect(throws: SluiceError.self) {
            _ = try await Device(
                kind, server: old.server, store: old.store,
                migrations: [StoreMigration("away", [.dropTable("todos")])])
        }
        #expect(error?.code == .operationsPending)
        #expect(try await text(of: old.store) == before)
        let audit = try await old.audit().count
        let waiting = try await old.queue().count
        let device = try await Device(
            kind, server: old.server, store: old.store,
            migrations: [StoreMigration("away", [.dropTable("todos", discardsChanges: true)])])
        #expect(try await device.queue() == [])
        #expect(try await device.audit().count == audit + waiting)
        #expect(try await device.store.read { try $0.tables().map(\.name) }.contains("todos") == false)
        #expect(try await device.store.checkConsistency() == [])
    }

    @Test("closures change records whole and in part, and never what a record is known by")
    func rewrite() async throws {
        let old = try await busy(.memory)
        let device = try await Device(
            .memory, server: old.server, store: old.store,
            migrations: [
                StoreMigration(
                    "loud",
                    [
                        .rewrite("todos") { record in
                            var record = record
                            if let text = record["text"]?.string { record["text"] = JSON(text.uppercased()) }
                            (record["id"], record["version"]) = ("another", "another")
                            return record
                        }
                    ])
            ])
        #expect(try await device.local("r4") == ["id": "r4", "text": "CHANGED", "n": 5])
        #expect(try await device.todos.lookup(id: "r9")?["version"] != "another")
        #expect(try await device.store.checkConsistency() == [])
    }

    @Test("each is done once, in order, whole or not at all", arguments: StoreKind.allCases)
    func once(_ kind: StoreKind) async throws {
        struct Broken: Error {}
        let old = try await busy(kind)
        let calls = Mutex(0)
        let counted = StoreMigration(
            "counted",
            [
                .rewrite("todos") { record in
                    calls.withLock { $0 += 1 }
                    return record
                }
            ])
        let broken = StoreMigration(
            "broken",
            [
                .renameProperty("n", to: "m", in: "todos"),
                .rewrite("todos") { record in
                    if record["id"] == "r9" { throw Broken() }
                    return record
                },
            ])
        await #expect(throws: Broken.self) {
            _ = try await Device(
                kind, server: old.server, store: old.store, migrations: [Self.titles, counted, broken])
        }
        let done = calls.withLock { $0 }
        #expect(done > 9)
        let after = try await text(of: old.store)
        #expect(after.contains(#""title""#) && !after.contains(#""text""#), "those before it stand")
        #expect(after.contains(#""n":"#) && !after.contains(#""m":"#), "nothing of it is there")
        let device = try await Device(
            kind, server: old.server, store: old.store, migrations: [Self.titles, counted])
        #expect(calls.withLock { $0 } == done)
        #expect(try await text(of: device.store) == after)
        // A store that is new has nothing to be changed, and never will.
        let new = try await Device(kind, migrations: [Self.titles])
        try await new.todos.insert(["id": "1", "text": "stays"])
        let again = try await Device(kind, store: new.store, migrations: [Self.titles])
        #expect(try await again.local("1")?["text"] == "stays")
    }

    @Test("a new name that is another's is refused, and so are those of the server")
    func refused() async throws {
        let old = try await busy(.memory)
        try await old.context.table("tasks").insert(["id": "1"])
        let bad: [(StoreMigration, SluiceError.Code)] = [
            (StoreMigration("a", [.renameTable("todos", to: "tasks")]), .recordExists),
            (StoreMigration("a", [.renameTable("todos", to: "sluice_operations")]), .invalidTable),
            (StoreMigration("a", [.dropTable("sluice_operations")]), .invalidTable),
            (StoreMigration("a", [.renameProperty("version", to: "v", in: "todos")]), .invalidArgument),
            (StoreMigration("a", [.dropProperty("id", of: "todos")]), .invalidArgument),
            (StoreMigration("", []), .invalidArgument),
            (StoreMigration("a", [.rewrite("todos") { _ in [] }]), .invalidRecord),
        ]
        let before = try await text(of: old.store)
        for (migration, code) in bad {
            let error = await #expect(throws: SluiceError.self) {
                _ = try await Device(.memory, server: old.server, store: old.store, migrations: [migration])
            }
            #expect(error?.code == code)
        }
        #expect(try await text(of: old.store) == before)
    }
}
