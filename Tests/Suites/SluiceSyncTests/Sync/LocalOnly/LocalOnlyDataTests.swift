import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Tables and columns that stay here")
struct LocalOnlyDataTests {
    private static let notes = LocalOnly(tables: ["drafts"], columns: ["todos": ["note"]])

    private func device(
        _ kind: StoreKind, _ dialect: Dialect = .azureV2, policy: ConflictPolicy = .hold,
        store: (any LocalStore)? = nil,
        server: ModelServer = ModelServer(), localOnly: LocalOnly = notes
    ) async throws -> Device {
        try await Device(
            kind, server: server, policy: policy, store: store, dialect: dialect, adjust: { $0.localOnly = localOnly })
    }

    private func bodies(_ device: Device) -> [JSON] {
        device.server.requests.compactMap { try? $0.body.json }
    }

    @Test("a column that stays here is in no request", arguments: StoreKind.allCases, [Dialect.azureV2, .datasync])
    func column(_ kind: StoreKind, _ dialect: Dialect) async throws {
        let device = try await device(kind, dialect)
        device.server.seed("todos", [["id": "r1", "text": "theirs"]])
        try await device.todos.insert(["id": "1", "text": "shared", "note": "mine"])
        #expect(try await device.context.push().isClean)
        #expect(try await device.todos.lookup(id: "1")?["note"] == "mine", "an answer changes nothing of it")
        #expect(device.remote("1") == ["id": "1", "text": "shared"])
        try await device.todos.pull(named: "all")
        // Alone it is no change for anyone.
        let row = try await device.todos.update(["id": "r1", "note": "n1"])
        #expect(row["note"] == "n1" && row["text"] == "theirs")
        #expect(try await device.queue() == [])
        #expect(try await device.states() == 0)
        try await device.todos.update(["id": "r1", "text": "both", "note": "n2"])
        #expect(try await device.queue() == ["update r1 pending"])
        try await device.todos.update(["id": "r1", "note": "n3"])
        #expect(try await device.context.push().isClean)
        device.server.seed("todos", [["id": "r1", "text": "again"], ["id": "1", "text": "again"]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("r1") == ["id": "r1", "text": "again", "note": "n3"])
        #expect(try await device.local("1") == ["id": "1", "text": "again", "note": "mine"])
        #expect(bodies(device).allSatisfy { $0["note"] == nil })
        #expect(try await device.store.checkConsistency() == [])
    }

    @Test("it survives what becomes of changes that wait", arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        let device = try await device(kind, policy: .serverWins)
        device.server.seed("todos", ["a", "b", "c"].map { ["id": JSON($0), "text": "old"] })
        try await device.todos.pull(named: "all")
        for id in ["a", "b", "c"] { try await device.todos.update(["id": JSON(id), "text": "new", "note": "first"]) }
        // In flight, with a successor; then a conflict that the server wins.
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "text": "newer"])
        try await device.todos.update(["id": "a", "note": "second"])
        device.server.seed("todos", [["id": "b", "text": "theirs"]])
        let last = try #require(try await device.context.queue.operations().first { $0.recordID == "c" })
        try await device.todos.update(["id": "c", "note": "third"])
        try await device.context.queue.discard(last.id)
        _ = try await device.context.push()
        try await device.todos.pull(named: "all")
        #expect(try await device.queue() == [])
        #expect(try await device.local("a") == ["id": "a", "text": "newer", "note": "second"])
        #expect(try await device.local("b") == ["id": "b", "text": "theirs", "note": "first"])
        #expect(try await device.local("c") == ["id": "c", "text": "old", "note": "third"])
        #expect(bodies(device).allSatisfy { $0["note"] == nil })
    }

    @Test("the server's property of the same name is none of ours", arguments: StoreKind.allCases)
    func sameName(_ kind: StoreKind) async throws {
        let device = try await device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "1", "text": "t", "note": "server's"]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("1") == ["id": "1", "text": "t"])
        try await device.todos.update(["id": "1", "text": "u", "note": "mine"])
        device.server.seed("todos", [["id": "1", "text": "v"]])
        try await device.todos.pull(named: "all")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("1") == ["id": "1", "text": "u", "note": "server's"])
        #expect(try await device.todos.lookup(id: "1")?["note"] == "mine")
    }

    @Test("the store remembers, whatever the next one's options say", arguments: StoreKind.allCases)
    func remembered(_ kind: StoreKind) async throws {
        let first = try await device(kind)
        try await first.todos.insert(["id": "1", "text": "shared", "note": "mine"])
        try await first.context.table("drafts").insert(["id": "d"])
        let other = try await device(kind, store: first.store, server: first.server, localOnly: LocalOnly())
        try await other.context.table("drafts").update(["id": "d", "text": "x"])
        #expect(try await other.context.push().isClean)
        #expect(other.remote("1") == ["id": "1", "text": "shared"])
        #expect(other.server.calls == ["POST /tables/todos"])
        // A migration takes it along.
        let third = try await Device(
            kind, server: first.server, store: first.store,
            migrations: [
                StoreMigration(
                    "names",
                    [
                        .renameProperty("note", to: "remark", in: "todos"), .renameTable("drafts", to: "sketches"),
                    ])
            ])
        try await third.todos.update(["id": "1", "remark": "still mine"])
        try await third.context.table("sketches").update(["id": "d", "text": "y"])
        #expect(try await third.queue() == [])
    }

    @Test("a table that stays here is never queued, pulled or asked for", arguments: StoreKind.allCases)
    func table(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        let drafts = try device.context.table("drafts")
        try await drafts.insert(["id": "1", "text": "a", "version": "the application's own"])
        try await drafts.update(["id": "1", "n": 1])
        #expect(
            try await drafts.lookup(id: "1") == ["id": "1", "text": "a", "version": "the application's own", "n": 1])
        for (body, code): (@Sendable () async throws -> Void, SluiceError.Code) in [
            ({ _ = try await drafts.insert(["id": "1"]) }, .recordExists),
            ({ _ = try await drafts.update(["id": "2"]) }, .recordMissing),
            ({ try await drafts.undelete(id: "2") }, .operationRefused),
            ({ _ = try await drafts.pull(named: "all") }, .invalidQuery),
            ({ _ = try await drafts.pull() }, .invalidQuery),
        ] {
            let error = await #expect(throws: SluiceError.self) { try await body() }
            #expect(error?.code == code)
        }
        try await drafts.delete(id: "1")
        #expect(try await drafts.count() == 0)
        #expect(try await device.context.push().isClean)
        #expect(try await device.queue() == [])
        #expect(try await device.states() == 0)
        #expect(device.server.requests.isEmpty)
    }

    @Test("a table begins to stay here only when nothing of it is on its way", arguments: StoreKind.allCases)
    func tableLater(_ kind: StoreKind) async throws {
        let old = try await device(kind, localOnly: LocalOnly())
        let drafts = try old.context.table("drafts")
        try await drafts.insert(["id": "d", "text": "a"])
        let lines = try await old.context.queue.export()
        let error = await #expect(throws: SluiceError.self) {
            _ = try await device(kind, store: old.store, server: old.server)
        }
        #expect(error?.code == .operationsPending)
        #expect(try await old.context.push().isClean)
        let next = try await device(kind, store: old.store, server: old.server)
        try await next.context.table("drafts").update(["id": "d", "text": "secret"])
        #expect(try await next.queue() == [])
        let refused = await #expect(throws: SluiceError.self) { try await next.context.queue.import(lines) }
        #expect(refused?.code == .operationRefused)
    }

    @Test("a column begins to stay here only when no change of it waits", arguments: StoreKind.allCases)
    func columnLater(_ kind: StoreKind) async throws {
        let old = try await device(kind, localOnly: LocalOnly())
        let todos = try old.context.table("todos")
        try await todos.insert(["id": "a", "title": "t", "text": "x"])
        let local = LocalOnly(columns: ["todos": ["title"]])
        let error = await #expect(throws: SluiceError.self) {
            _ = try await device(kind, store: old.store, server: old.server, localOnly: local)
        }
        #expect(error?.code == .operationsPending)
        #expect(try await old.context.push().isClean)
        // A change of another column does not hold it up.
        try await todos.update(["id": "a", "text": "y"])
        let next = try await device(kind, store: old.store, server: old.server, localOnly: local)
        #expect(try await next.context.push().isClean)
        #expect(next.server.rows("todos")["a"]?["text"] == "y")
    }

    @Test("a context that is open already keeps to what another says", arguments: StoreKind.allCases)
    func openAlready(_ kind: StoreKind) async throws {
        let daemon = try await device(kind, localOnly: LocalOnly())
        daemon.server.seed("todos", [["id": "1", "text": "t"]])
        try await daemon.todos.pull(named: "all")
        let application = try await device(kind, store: daemon.store, server: daemon.server)
        try await application.todos.update(["id": "1", "note": "mine"])
        daemon.server.seed("todos", [["id": "1", "text": "u"]])
        try await daemon.todos.pull(named: "all")
        #expect(try await daemon.local("1") == ["id": "1", "text": "u", "note": "mine"])
        try await daemon.todos.update(["id": "1", "text": "v", "note": "theirs"])
        try await daemon.context.table("drafts").insert(["id": "d"])
        #expect(try await daemon.context.push().isClean)
        #expect(daemon.remote("1") == ["id": "1", "text": "v"])
        #expect(daemon.server.rows("drafts").isEmpty)
    }

    @Test("what the server has under the same name makes no conflict of a delete")
    func deleteBehindLostUpdate() async throws {
        let device = try await device(.memory)
        device.server.seed("todos", [["id": "1", "text": "t", "note": "server's"]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "1", "text": "u"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "1")
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.queue() == [])
        #expect(device.remote("1") == nil)
    }

    @Test("another name keeps the value, whatever the server has under it")
    func renamed() async throws {
        let old = try await device(.memory)
        old.server.seed("todos", [["id": "1", "text": "t", "remark": "server's"]])
        try await old.todos.pull(named: "all")
        try await old.todos.update(["id": "1", "note": "mine"])
        try await old.todos.update(["id": "1", "text": "u"])
        let device = try await Device(
            .memory, server: old.server, store: old.store,
            migrations: [
                StoreMigration("names", [.renameProperty("note", to: "remark", in: "todos")]),
                StoreMigration("drafts", [.dropTable("drafts")]),
            ])
        #expect(try await device.local("1") == ["id": "1", "text": "u", "remark": "mine"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("1") == ["id": "1", "text": "u", "remark": "server's"])
        try await device.context.table("drafts").insert(["id": "shared now"])
        #expect(try await device.queue().count == 1)
    }

    @Test("a group may hold changes of both")
    func group() async throws {
        let device = try await Device(.memory, batchSize: 4, adjust: { $0.localOnly = Self.notes })
        try await device.context.group { group in
            _ = try group.insert(["id": "1", "text": "t", "note": "n"], in: "todos")
            _ = try group.insert(["id": "d"], in: "drafts")
        }
        #expect(try await device.queue() == ["insert 1 pending"])
        #expect(try await device.todos.lookup(id: "1")?["note"] == "n")
    }

    @Test("names of the server's cannot stay here")
    func refused() async throws {
        for bad in [
            LocalOnly(columns: ["todos": ["id"]]), LocalOnly(columns: ["todos": ["version"]]),
            LocalOnly(columns: ["todos": [""]]), LocalOnly(tables: ["sluice_operations"]),
        ] {
            await #expect(throws: SluiceError.self) { _ = try await device(.memory, localOnly: bad) }
        }
    }
}
