import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Stale pages: what changed here since a page was asked for is not taken back by it")
struct StalePageTests {
    /// Two contexts on one store, with no lease between them: while a page of `reader` is under way, `writer` does
    /// something, and only then the page comes.
    private func race(
        _ kind: StoreKind, _ server: ServerKind = .sorted,
        _ during: @escaping @Sendable (_ writer: Device) async throws -> Void
    ) async throws -> Device {
        let store = try await kind.make()
        let model = server.make(pageSize: 50)
        model.seed("todos", (0..<4).map { ["id": JSON("r\($0)"), "n": 0] })
        let writer = try await Device(kind, server: model, store: store)
        try await writer.todos.pull()
        let slow = SlowTransport(model)
        let reader = try await Device(kind, server: model, store: store, transport: slow)
        slow.afterFirstAnswer { try? await during(writer) }
        let client = try reader.context.requireClient()
        var driver = PullDriver(
            client: client, store: store, options: reader.context.options, query: TableQuery("todos"),
            owner: reader.context.owner(of: "todos", named: "all", client))
        _ = try await driver.run()
        return reader
    }

    @Test("an edit that was pushed meanwhile is not overwritten by the older row", arguments: StoreKind.allCases)
    func pushedEdit(_ kind: StoreKind) async throws {
        let device = try await race(kind) { writer in
            try await writer.todos.update(["id": "r1", "n": 5])
            #expect(try await writer.context.push().isClean)
        }
        #expect(try await device.local("r1")?["n"] == 5)
        #expect(try await device.context.status().cursors.count == 1)
    }

    @Test(
        "a record that was deleted meanwhile, on the server without a trace, does not come back",
        arguments: StoreKind.allCases)
    func pushedDelete(_ kind: StoreKind) async throws {
        let device = try await race(kind) { writer in
            try await writer.todos.delete(id: "r2")
            #expect(try await writer.context.push().isClean)
            writer.server.hardDelete("todos", "r2")
        }
        #expect(try await device.local("r2") == nil)
    }

    @Test(
        "a further edit waits meanwhile: its mirror does not go back to before its base", arguments: StoreKind.allCases)
    func editBehindPush(_ kind: StoreKind) async throws {
        let device = try await race(kind) { writer in
            try await writer.todos.update(["id": "r1", "n": 5])
            #expect(try await writer.context.push().isClean)
            try await writer.todos.update(["id": "r1", "n": 6])
        }
        #expect(try await device.local("r1")?["n"] == 6)
        let operation = try #require(try await device.context.queue.operations().first)
        let copies = try await device.context.queue.copies(of: operation)
        #expect(copies.mirror?["n"] == 5 && copies.base?["n"] == 5)
    }

    @Test("a newer row that another pull brought meanwhile stays", arguments: StoreKind.allCases)
    func otherPull(_ kind: StoreKind) async throws {
        let device = try await race(kind) { writer in
            // By another query: the reader's will not hear of it, since the row has left that.
            writer.server.seed("todos", [["id": "r3", "n": 9]])
            try await writer.todos.pull(named: "other")
        }
        #expect(try await device.local("r3")?["n"] == 9)
    }

    @Test("an insert that was taken back meanwhile leaves nothing behind", arguments: StoreKind.allCases)
    func vanished(_ kind: StoreKind) async throws {
        let device = try await race(kind) { writer in
            try await writer.todos.insert(["id": "mine", "n": 1])
            try await writer.todos.delete(id: "mine")
        }
        #expect(try await device.local("mine") == nil)
        #expect(try await device.todos.count() == 4)
    }

    @Test("notes are not kept for ever, and a page older than the oldest is read again whole")
    func oldNotes() async throws {
        let store = MemoryStore()
        try await store.define(SyncTables.all)
        let before = try await store.read { try ChangeStamps.mark(of: "t", in: $0) }
        try await store.write { writer in
            for number in 0..<3000 { try ChangeStamps.note("r\(number)", in: "t", writer) }
        }
        try await store.read { reader in
            #expect(try reader.count(matching: TableQuery(ChangeStamps.schema.name)) <= 2 * Int(ChangeStamps.kept) + 1)
            #expect(try ChangeStamps.changed(["never"], in: "t", since: before, reader).count == 1)
            let now = try ChangeStamps.mark(of: "t", in: reader)
            #expect(try ChangeStamps.changed(["r2999"], in: "t", since: now, reader).isEmpty)
        }
    }

    @Test("a mirror newer than the base of a waiting edit is told as a conflict")
    func knownConflict() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 3]])
        _ = try await device.context.push()
        let result = try await device.todos.pull(named: "all")
        #expect(result.pending == 1 && result.conflicts == 1)
    }

    @Test(
        "a row that left, and whose change was given up meanwhile, goes all the same", arguments: StoreKind.allCases,
        [false, true])
    func left(_ kind: StoreKind, _ isGone: Bool) async throws {
        let store = try await kind.make()
        let model = ServerKind.tokens.make(pageSize: 50)
        model.seed("todos", (0..<4).map { ["id": JSON("r\($0)"), "n": 0] })
        let writer = try await Device(kind, server: model, store: store)
        let slow = SlowTransport(model)
        let reader = try await Device(kind, server: model, store: store, transport: slow)
        let query = TableQuery("todos", filter: isGone ? nil : try QueryExpression(odata: "n lt 6"))
        let client = try reader.context.requireClient()
        func pull() async throws -> PullResult {
            var driver = PullDriver(
                client: client, store: store, options: reader.context.options, query: query,
                owner: reader.context.owner(of: "todos", named: "q", client))
            return try await driver.run()
        }
        _ = try await pull()
        try await writer.todos.update(["id": "r1", "text": "mine"])
        if isGone { model.softDelete("todos", "r1") } else { model.seed("todos", [["id": "r1", "n": 99]]) }
        slow.afterFirstAnswer {
            for operation in (try? await writer.context.queue.operations()) ?? [] {
                try? await writer.context.queue.discard(operation.id)
            }
            // The server keeps no mark of deletion for long.
            if isGone { model.hardDelete("todos", "r1") }
        }
        #expect(try await pull().deleted == 1)
        #expect(try await writer.queue() == [])
        #expect(try await reader.local("r1") == nil)
        #expect(try await reader.todos.count() == 3)
    }
}
