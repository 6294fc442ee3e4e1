import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("SyncTable: local records as values of a type")
struct SyncTableOfTypeTests {
    struct Todo: SyncRecord, Hashable {
        static let tableName = "todos"
        var id: String?
        var text: String
        var done = false
        var due: Timestamp?
        var version: String?
    }

    /// The body of the last change that the server got.
    private func sent(_ device: Device) throws -> JSON? {
        try device.server.requests.last { $0.isWrite }?.body.json
    }

    @Test(
        "values go in and come out, and are sent", arguments: [Dialect.azureV2, .datasync])
    func values(_ dialect: Dialect) async throws {
        let device = try await Device(.sqlite, dialect: dialect)
        let todos = try device.context.table(Todo.self)
        let milk = try await todos.insert(Todo(text: "milk", due: Timestamp("2027-01-02T03:04:05Z")))
        let id = try #require(milk.id)
        #expect(milk.version == nil)
        #expect(try await device.todos.lookup(id: id)?.names.contains("version") == false)
        #expect(try await todos.lookup(id: id) == milk)
        #expect(try await device.context.push().isClean)
        let known = try #require(try await todos.lookup(id: id))
        #expect(known.version != nil && known.text == "milk" && known.due == milk.due)
        #expect(try await todos.records(matching: TableQuery("todos").where(column("text") == "milk")) == [known])
        #expect(try await todos.lookup(id: "none") == nil)
        try await todos.delete(id: id)
        #expect(try await todos.count() == 0)
        try await todos.undelete(id: id)
        #expect(try await todos.records() == [known])
    }

    struct Note: SyncRecord, Hashable {
        static let tableName = "notes"
        var id: String
        var updatedAt: Timestamp?
    }

    @Test("a query speaks of a system property as the type does, on every wire", arguments: Dialect.all)
    func systemProperties(_ dialect: Dialect) async throws {
        let store = MemoryStore()
        let context = try await SyncContext(store: store, options: SyncOptions(dialect: dialect))
        let time = try #require(dialect.column(for: .updatedAt))
        let rows: [JSON] = [["id": "a"], ["id": "b"]]
        let old = rows[0].setting(JSON(members: [(time, JSON("2026-01-01T00:00:00.000Z"))]))
        let new = rows[1].setting(JSON(members: [(time, JSON("2026-03-01T00:00:00.000Z"))]))
        try await store.write { writer in
            try writer.put(old, in: "notes")
            try writer.put(new, in: "notes")
        }
        let notes = try context.table(Note.self)
        let late = try #require(Timestamp("2026-02-01T00:00:00Z"))
        var query = TableQuery("notes", filter: .binary(.gt, .column("updatedAt"), .literal(.date(late))))
        #expect(try await notes.records(matching: query).map(\.id) == ["b"])
        query.filter = nil
        query.order = [.init("updatedAt", descending: true)]
        #expect(try await notes.records(matching: query).map(\.id) == ["b", "a"])
        #expect(try await notes.records(matching: query).first?.updatedAt == Timestamp("2026-03-01T00:00:00Z"))
    }

    @Test("what the type does not declare stays, here and on the server", arguments: [Dialect.azureV2, .datasync])
    func undeclared(_ dialect: Dialect) async throws {
        let device = try await Device(.sqlite, dialect: dialect)
        device.server.seed("todos", [["id": "1", "text": "milk", "done": false, "colour": "red", "n": 1.10]])
        let todos = try device.context.table(Todo.self)
        try await todos.pull()
        var milk = try #require(try await todos.lookup(id: "1"))
        milk.text = "oat milk"
        try await todos.update(milk)
        #expect(try await device.local("1")?["colour"] == "red")
        #expect(try await device.context.push().isClean)
        let row = try #require(device.remote("1"))
        #expect(row["due"] == nil, "what the record does not have and is nil is not written")
        #expect(row["colour"] == "red" && row["n"] == 1.1 && row["text"] == "oat milk")
    }

    @Test("a closure and a key path write what they change and nothing else", arguments: StoreKind.allCases)
    func partial(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "1", "text": "milk", "done": false, "due": "2027-01-01T00:00:00Z"]])
        let todos = try device.context.table(Todo.self)
        try await todos.pull()
        let done = try await todos.update(id: "1", set: \.done, to: true)
        #expect(done.done && done.text == "milk")
        try await device.context.push()
        #expect(try sent(device) == ["id": "1", "done": true])
        try await todos.update(id: "1") { todo in
            todo.text += "!"
            todo.due = nil
        }
        #expect(try await device.local("1") == ["id": "1", "text": "milk!", "done": true, "due": .null])
        try await device.context.push()
        #expect(try sent(device) == ["id": "1", "text": "milk!", "due": .null])
        // Nothing changed is nothing queued.
        try await todos.update(id: "1") { $0.done = true }
        #expect(try await device.queue() == [])
        let error = await #expect(throws: SluiceError.self) { try await todos.update(id: "2") { $0.done = true } }
        #expect(error?.code == .recordMissing)
    }

    @Test("JSON is a record like another: a closure writes what it changes, and nothing is a misfit")
    func json() async throws {
        let device = try await Device(.sqlite)
        let todos = try device.context.table("todos", of: JSON.self)
        try await todos.insert(["id": "1", "text": 5, "n": 1.10])
        try await device.context.push()
        try await todos.update(id: "1") { todo in
            todo["text"] = "milk"
            todo["n"] = nil
        }
        #expect(try await device.local("1") == ["id": "1", "text": "milk", "n": .null])
        try await device.context.push()
        #expect(try sent(device) == ["id": "1", "text": "milk", "n": .null])
        try await device.context.write { transaction in
            let todos = try transaction.table("todos")
            try todos.update(["id": "1", "colour": .null])
            #expect(try todos.lookup(id: "1")?["colour"] == .null, "a null is a value")
        }
        #expect(try await todos.misfits().isEmpty)
        var updates = todos.observe(TableQuery("todos").selecting("text")).makeAsyncIterator()
        let first = try #require(try await updates.next())
        #expect(first.records == [["id": "1", "text": "milk"]] && first.misfits.isEmpty)
        #expect(first.diff.inserted.map(\.record) == first.records)
    }

    @Test("a record that does not fit the type says so, and a closure's change of it has not happened")
    func unfit() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "1", "text": 5])
        let todos = try device.context.table(Todo.self)
        let error = await #expect(throws: SluiceError.self) { try await todos.lookup(id: "1") }
        #expect(error?.code == .invalidRecord && error?.recordID == "1" && error?.serverRecord == nil)
        await #expect(throws: SluiceError.self) { try await todos.update(id: "1") { $0.done = true } }
        #expect(try await device.local("1") == ["id": "1", "text": 5])
    }

    @Test("in a transaction, over two types")
    func transaction() async throws {
        struct Note: SyncRecord {
            static let tableName = "notes"
            var id: String
            var todo: String?
        }
        let device = try await Device(.sqlite)
        try await device.context.write { transaction in
            let todos = try transaction.table(Todo.self)
            let milk = try todos.insert(Todo(text: "milk"))
            try transaction.table(Note.self).insert(Note(id: "n", todo: milk.id))
            try todos.update(id: try #require(milk.id)) { $0.done = true }
            #expect(try todos.records().map(\.done) == [true])
        }
        let note = try await device.context.table(Note.self).lookup(id: "n")
        #expect(try await device.context.table(Todo.self).lookup(id: note?.todo ?? "")?.done == true)
    }

    @Test("results are observed as values")
    func observed() async throws {
        let device = try await Device(.memory)
        let todos = try device.context.table(Todo.self)
        var updates = todos.observe(TableQuery("todos").where(column("done") == false)).makeAsyncIterator()
        #expect(try await updates.next()?.records == [])
        let milk = try await todos.insert(Todo(text: "milk"))
        #expect(try await updates.next()?.records == [milk])
        try await todos.update(id: milk.id ?? "", set: \.done, to: true)
        let last = try await updates.next()
        #expect(last?.records == [] && last?.diff.isEmpty == false)
    }

    @Test(
        "a conflict is decided on values; what the type does not declare is merged",
        arguments: [Dialect.azureV2, .datasync])
    func conflict(_ dialect: Dialect) async throws {
        let handler = ConflictClosure(Todo.self) { conflict in
            guard var merged = conflict.client, let server = conflict.server, let base = conflict.base else {
                return .next
            }
            #expect(server.version != nil && base.version != server.version)
            merged.text = "\(base.text): \(merged.text), \(server.text)"
            return try conflict.merge(merged)
        }
        let device = try await Device(.sqlite, handlers: [handler], dialect: dialect)
        device.server.seed("todos", [["id": "1", "text": "base", "done": false, "ours": 0, "theirs": 0]])
        try await device.todos.pull()
        try await device.todos.update(["id": "1", "text": "here", "ours": 1])
        device.server.seed("todos", [["id": "1", "text": "there", "done": false, "ours": 0, "theirs": 1]])
        #expect(try await device.context.push().isClean)
        let row = try #require(device.server.rows("todos")["1"])
        #expect(row["due"] == nil)
        #expect(row["text"] == "base: here, there" && row["ours"] == 1 && row["theirs"] == 1)
    }

    @Test(
        "a merge with changes begins with what each side has changed; without one side the next handler is asked",
        arguments: [Dialect.azureV2, .datasync], [FieldMerge.Side.client, .server])
    func merge(_ dialect: Dialect, _ side: FieldMerge.Side) async throws {
        let handler = ConflictClosure(Todo.self) { conflict in
            try conflict.merge(preferring: side) { $0.text += "!" }
        }
        let device = try await Device(.sqlite, handlers: [handler], dialect: dialect)
        device.server.seed("todos", [["id": "1", "text": "base", "done": false, "ours": 0, "theirs": 0]])
        try await device.todos.pull()
        try await device.todos.update(["id": "1", "text": "here", "ours": 1])
        device.server.seed("todos", [["id": "1", "text": "there", "done": true, "ours": 0, "theirs": 1]])
        #expect(try await device.context.push().isClean)
        let row = try #require(device.server.rows("todos")["1"])
        #expect(row["text"] == (side == .client ? "here!" : "there!") && row["done"] == true)
        #expect(row["ours"] == 1 && row["theirs"] == 1)
        let operation = TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "1", kind: .update, createdAt: Timestamp(ticks: 0))
        let gone = Conflict(
            operation: operation, client: row, server: nil, base: row, maybeApplied: false, status: 412,
            isDeletedOnServer: true)
        #expect(try await handler.decide(gone) == .next)
    }

    @Test("the version of a Mobile Services record is the type's, and other tables are others' business")
    func names() async throws {
        let handler = ConflictClosure(Todo.self) { conflict in
            try conflict.merge(Todo(id: "1", text: conflict.server?.version ?? "none", version: "x"))
        }
        func decision(_ table: String) async throws -> ConflictDecision {
            let operation = TableOperation(
                id: "op", sequence: 1, table: table, recordID: "1", kind: .update, createdAt: Timestamp(ticks: 0))
            let record: JSON = ["id": "1", "text": "a", "done": false, "__version": "v1"]
            return try await handler.decide(
                Conflict(
                    operation: operation, client: record, server: record, base: record, maybeApplied: false,
                    status: 412, isDeletedOnServer: false))
        }
        #expect(try await decision("todos") == .merge(["id": "1", "text": "v1", "done": false, "__version": "x"]))
        #expect(try await decision("notes") == .next)
    }
}
