import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Changes: what is committed is told once, in order")
struct ChangesTests {
    /// A batch as `source kind id`, sorted where the order within it does not matter.
    private func text(_ batch: ChangeBatch?) -> [String] {
        (batch?.changes ?? []).map { "\($0.source.rawValue) \($0.kind.rawValue) \($0.recordID)" }
    }

    @Test("a write, a push, a pull and a purge are told with who did it", arguments: StoreKind.allCases)
    func sources(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        var changes = device.context.changes.makeAsyncIterator()
        try await device.todos.insert(["id": "1", "text": "milk"])
        #expect(text(await changes.next()) == ["local inserted 1"])
        try await device.todos.update(["id": "1", "text": "oat milk"])
        #expect(text(await changes.next()) == ["local updated 1"])
        _ = try await device.context.push()
        #expect(text(await changes.next()) == ["push updated 1"])
        device.server.seed("todos", [["id": "2", "text": "bread"]])
        try await device.todos.pull()
        #expect(Set(text(await changes.next())) == ["pull updated 1", "pull inserted 2"])
        try await device.todos.delete(id: "1")
        #expect(text(await changes.next()) == ["local removed 1"])
        _ = try await device.context.push()
        try await device.todos.purge()
        #expect(text(await changes.next()) == ["purge removed 2"])
    }

    @Test("the outcome of a conflict is told as such", arguments: StoreKind.allCases)
    func conflict(_ kind: StoreKind) async throws {
        let server = ModelServer()
        server.seed("todos", [["id": "1", "text": "milk"]])
        let device = try await Device(kind, server: server, policy: .serverWins)
        let other = try await Device(kind, server: server)
        try await device.todos.pull()
        try await other.todos.pull()
        try await other.todos.update(["id": "1", "text": "theirs"])
        _ = try await other.context.push()
        try await device.todos.update(["id": "1", "text": "mine"])
        var changes = device.context.changes.makeAsyncIterator()
        _ = try await device.context.push()
        #expect(text(await changes.next()) == ["conflict updated 1"])
    }

    @Test("what was rolled back is not told, and what comes after it is", arguments: StoreKind.allCases)
    func rolledBack(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1"])
        let sequence = device.context.changes
        var changes = sequence.makeAsyncIterator()
        await #expect(throws: SluiceError.self) { try await device.todos.insert(["id": "1"]) }
        struct Change: Error {}
        let (store, environment) = (device.store, device.context.options.environment)
        await #expect(throws: Change.self) {
            try await store.write(at: .localChange, environment) { writer in
                try writer.put(["id": "9"], in: "todos")
                throw Change()
            }
        }
        try await device.todos.insert(["id": "2"])
        #expect(text(await changes.next()) == ["local inserted 2"])
    }

    @Test("several changes of a record in one transaction are told as one", arguments: StoreKind.allCases)
    func net(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "old"])
        var changes = device.context.changes.makeAsyncIterator()
        try await device.store.write(at: .localChange, device.context.options.environment) { writer in
            try writer.put(["id": "new"], in: "todos")
            try writer.put(["id": "new", "text": "x"], in: "todos")
            try writer.put(["id": "passing"], in: "todos")
            try writer.delete(["passing", "never"], from: "todos")
            try writer.delete(["old"], from: "todos")
            try writer.put(["id": "old", "text": "again"], in: "todos")
        }
        #expect(text(await changes.next()) == ["local inserted new", "local updated old"])
    }

    @Test("writes of many tasks are told in the order of their commits", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let sequence = device.context.changes
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await device.todos.insert(["id": JSON("r\(number)")]) }
            }
            try await group.waitForAll()
        }
        let committed = try await device.context.queue.operations().map(\.recordID)
        var told: [RecordID] = []
        var ids: [UInt64] = []
        for await batch in sequence.prefix(100) {
            told += batch.changes.map(\.recordID)
            ids.append(batch.id)
        }
        #expect(told == committed)
        #expect(ids == ids.sorted() && Set(ids).count == 100)
    }

    @Test("for a slow consumer what waits becomes one batch that names the tables")
    func slowConsumer() async throws {
        let device = try await Device(.memory)
        var changes = device.context.changes.makeAsyncIterator()
        for number in 0..<300 { try await device.todos.insert(["id": JSON("r\(number)")]) }
        let first = await changes.next()
        #expect(first?.changes == [] && first?.reloads == .tables(["todos"]) && first?.concerns("todos") == true)
        let second = await changes.next()
        #expect(second?.changes.count == 1 && second?.id ?? 0 > first?.id ?? .max)
    }

    @Test("a transaction with very many changes names its table")
    func largeBatch() async throws {
        let device = try await Device(.memory)
        var changes = device.context.changes.makeAsyncIterator()
        try await device.store.write(at: .localChange, device.context.options.environment) { writer in
            for number in 0...RecordedChanges.limit { try writer.put(["id": JSON("r\(number)")], in: "todos") }
            try writer.put(["id": "1"], in: "lists")
        }
        let batch = await changes.next()
        #expect(batch?.changes.map(\.table) == ["lists"] && batch?.reloads == .tables(["todos"]))
        try await device.todos.purge()
        #expect(await changes.next()?.reloads == .tables(["todos"]))
    }

    @Test("a consumer that has gone is told no more, and nobody listening costs no recorder")
    func goneConsumer() async throws {
        let device = try await Device(.memory)
        let hub = device.context.hub
        func isRecorded() async throws -> Bool {
            try await hub.write(to: device.store, from: .local) { $0 is ChangeRecorder }
        }
        #expect(try await !isRecorded())
        do {
            let changes = device.context.changes
            #expect(try await isRecorded())
            withExtendedLifetime(changes) {}
        }
        #expect(try await !isRecorded())
        let reader = Task { for await _ in device.context.changes {} }
        while !hub.records.isObserved { await Task.yield() }
        reader.cancel()
        await reader.value
        #expect(!hub.records.isObserved)
    }

    @Test("who begins to listen in the midst of a transaction is told to read everything anew")
    func midst() async throws {
        let device = try await Device(.memory)
        let hub = device.context.hub
        let listener = Mutex<SyncEvents<ChangeBatch>?>(nil)
        try await hub.write(to: device.store, from: .local) { writer in
            listener.withLock { $0 = device.context.changes }
            try writer.put(["id": "1"], in: "todos")
        }
        var changes = listener.withLock { $0 }?.makeAsyncIterator()
        #expect(await changes?.next()?.reloads == .everything)
    }

    @Test("a page's rows pass the recorder as bytes")
    func bytes() throws {
        final class Spy: StoreWriter {
            var pages = 0
            func record(_ id: RecordID, in table: String) throws -> JSON? { nil }
            func records(matching query: TableQuery) throws -> [JSON] { [] }
            func count(matching query: TableQuery) throws -> Int { 0 }
            func tables() throws -> [TableSchema] { [] }
            func redeclare(_ table: TableSchema) throws {}
            func drop(_ table: String) throws {}
            func put(_ record: JSON, in table: String) throws {}
            func put(_ rows: RowPage.Selection, in table: String) throws { pages += 1 }
            func delete(_ ids: [RecordID], from table: String) throws {}
            func delete(matching query: TableQuery) throws -> Int { 0 }
        }
        let spy = Spy()
        let response = SyncResponse.json(200, #"[{"id":"1"},{"id":"2"}]"#)
        let page = try Dialect.azureV2.page(in: response, for: SyncRequest.Context(action: .read, table: "todos"))
        for detail in [ChangeDetail.tables, .records] {
            let recorder = ChangeRecorder(spy, detail)
            try recorder.put(RowPage.Selection(page, [0, 1]), in: "todos")
            let batch = try #require(recorder.changes.batch(1, from: .pull))
            #expect(batch.changes.count == (detail == .records ? 2 : 0) && batch.concerns("todos"))
        }
        #expect(spy.pages == 2)
    }

    @Test(
        "commits that end in another order than they were made in are told in that", arguments: 0..<20 as Range<UInt64>)
    func commitOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var order = CommitOrder<Int>()
        let numbers = (0..<40).map { _ in order.begin() }
        let lost = Set(numbers.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
        var told: [Int] = []
        for number in numbers.shuffled(using: &random) {
            told += order.end(number, lost.contains(number) ? nil : Int(number))
        }
        #expect(told == numbers.filter { !lost.contains($0) }.map(Int.init))
    }
}
