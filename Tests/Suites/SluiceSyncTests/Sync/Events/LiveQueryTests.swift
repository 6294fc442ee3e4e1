import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Live queries: the result, and what changes in it")
struct LiveQueryTests {
    @Test("the result comes first, then what was inserted, changed, moved and removed", arguments: StoreKind.allCases)
    func updates(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "1", "text": "b"])
        try await device.todos.insert(["id": "2", "text": "c"])
        var updates = device.todos.observe(TableQuery("todos", order: [.init("text")])).makeAsyncIterator()
        let first = try #require(try await updates.next())
        #expect(first.records.map { $0["text"] } == ["b", "c"] && first.diff.inserted.count == 2)

        try await device.todos.insert(["id": "3", "text": "d"])
        #expect(try await updates.next()?.diff.inserted == [.init(2, ["id": "3", "text": "d"])])
        try await device.todos.update(["id": "3", "text": "a"])
        let third = try #require(try await updates.next())
        #expect(third.diff.moved == [.init(from: 2, to: 0)] && third.diff.changed.map(\.index) == [0])
        try await device.todos.delete(id: "1")
        #expect(try await updates.next()?.diff.removed == [1])
        try await device.todos.update(["id": "2", "done": true])
        #expect(try await updates.next()?.diff.changed == [.init(1, ["id": "2", "text": "c", "done": true])])
    }

    @Test("a pull and a push are seen, and commits of other tables run nothing", arguments: StoreKind.allCases)
    func concerned(_ kind: StoreKind) async throws {
        let server = ModelServer()
        server.seed("todos", [["id": "1", "text": "milk"]])
        let store = CountingStore(try await kind.make())
        let device = try await Device(kind, server: server, store: store)
        let other = try device.context.table("lists")
        var updates = device.todos.observe().makeAsyncIterator()
        #expect(try await updates.next()?.records == [])
        try await device.todos.pull()
        #expect(try await updates.next()?.records.count == 1)
        let reads = store.reads
        for number in 0..<10 { try await other.insert(["id": JSON("l\(number)")]) }
        try await device.todos.insert(["id": "2", "text": "bread"])
        #expect(try await updates.next()?.records.count == 2)
        #expect(store.reads == reads + 1)
    }

    @Test("records have their id, whatever the query selects")
    func selection() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "1", "text": "milk", "done": false])
        var updates = device.todos.observe(TableQuery("todos", select: ["text"])).makeAsyncIterator()
        #expect(try await updates.next()?.records == [["id": "1", "text": "milk"]])
    }

    @Test("a change whose read fails is told by the next one")
    func readFails() async throws {
        let store = CountingStore(MemoryStore())
        let device = try await Device(.memory, store: store)
        let reader = Task { () -> LiveQuery<JSON>.Update? in
            var updates = device.todos.observe().makeAsyncIterator()
            _ = try await updates.next()
            try await device.todos.insert(["id": "1"])
            store.failsNext()
            await #expect(throws: SluiceError.self) { _ = try await updates.next() }
            return try await updates.next()
        }
        let watch = Task {
            try await Task.sleep(for: .seconds(5))
            reader.cancel()
        }
        #expect(try await reader.value?.records == [["id": "1"]])
        watch.cancel()
    }

    @Test("a query that means nothing throws, and a cancelled reader ends")
    func ends() async throws {
        let device = try await Device(.memory)
        var broken = device.todos.observe(TableQuery("todos", skip: -1)).makeAsyncIterator()
        await #expect(throws: SluiceError.self) { _ = try await broken.next() }
        let reader = Task {
            var count = 0
            for try await _ in device.todos.observe() { count += 1 }
            return count
        }
        while !device.context.hub.tables.isObserved { await Task.yield() }
        reader.cancel()
        #expect(try await reader.value <= 1)
    }

    @Test(
        "each difference leads from the former result to the new one", arguments: StoreKind.allCases,
        0..<20 as Range<UInt64>)
    func random(_ kind: StoreKind, seed: UInt64) async throws {
        var generator = QueryGenerator(seed: seed)
        var random = SeededGenerator(seed: seed &+ 1000)
        let store = try await kind.make()
        let context = try await SyncContext(store: store, tables: [QueryGenerator.schema])
        let environment = context.options.environment
        let query = generator.query(2)
        var updates = try context.table("things").observe(query).makeAsyncIterator()
        var result = try #require(try await updates.next()).records
        for _ in 0..<40 {
            let edits = (0..<Int.random(in: 1...4, using: &random)).map { _ -> (String, JSON?) in
                let id = "r\(Int.random(in: 0..<12, using: &random))"
                return (id, Int.random(in: 0..<4, using: &random) == 0 ? nil : generator.record(id))
            }
            try await store.write(at: .localChange, environment) { writer in
                for (id, record) in edits {
                    if let record {
                        try writer.put(record, in: "things")
                    } else {
                        try writer.delete([RecordID(id)], from: "things")
                    }
                }
            }
            let expected = try await store.read { try $0.records(matching: query) }
            if expected == result { continue }
            let update = try #require(try await updates.next())
            #expect(update.records == expected, "seed \(seed)")
            #expect(update.diff.applied(to: result) == expected, "seed \(seed)")
            result = expected
        }
    }

    @Test("differences of any two lists hold, and move as little as they can", arguments: 0..<200 as Range<UInt64>)
    func differences(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func list() -> [JSON] {
            let ids = (0..<10).shuffled(using: &random).prefix(Int.random(in: 0...10, using: &random))
            return ids.map { ["id": JSON("r\($0)"), "a": JSON(Int.random(in: 0..<3, using: &random))] }
        }
        let (old, new) = (list(), list())
        let diff = QueryDiff(from: old, to: new)
        #expect(diff.applied(to: old) == new)
        #expect(QueryDiff(from: old, to: old).isEmpty)
        var turned = old
        if let last = turned.popLast() { turned.insert(last, at: 0) }
        #expect(QueryDiff(from: old, to: turned).moved.count == (old.count > 1 ? 1 : 0))
    }
}

/// A store that counts its reads, and fails at one if it is told to.
final class CountingStore: LocalStore {
    private let inner: any LocalStore
    private let count = Mutex(0)
    private let isBusy = Mutex(false)
    init(_ inner: any LocalStore) { self.inner = inner }
    var reads: Int { count.withLock { $0 } }
    func failsNext() { isBusy.withLock { $0 = true } }
    func define(_ tables: [TableSchema]) async throws { try await inner.define(tables) }
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        count.withLock { $0 += 1 }
        let isBusy = isBusy.withLock { isBusy in
            defer { isBusy = false }
            return isBusy
        }
        if isBusy { throw SluiceError(.storeBusy, "another holds the store") }
        return try await inner.read(body)
    }
    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await inner.write(body)
    }
    func close() async throws { try await inner.close() }
}
