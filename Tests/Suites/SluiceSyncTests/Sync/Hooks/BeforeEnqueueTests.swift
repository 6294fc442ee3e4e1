import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Hooks before a local change is stored")
struct BeforeEnqueueTests {
    @Test("a hook sees the record as it would be stored, the row before, kind and tags", arguments: StoreKind.allCases)
    func sees(_ kind: StoreKind) async throws {
        let seen = Shared<[EnqueuedChange]>([])
        let hook = TestHook(enqueue: { change in
            seen.change { $0.append(change) }
            return .accept
        })
        let device = try await Device(kind, hooks: [hook])
        let options = OperationOptions(tags: ["urgent"])
        try await device.todos.insert(["id": "a", "n": 1, "version": "made up"], options: options)
        try await device.todos.update(["id": "a", "m": 2])
        try await device.todos.delete(id: "a")
        #expect(seen.value.map(\.kind) == [.insert, .update, .delete])
        #expect(seen.value.map(\.record) == [["id": "a", "n": 1], ["id": "a", "n": 1, "m": 2], nil])
        #expect(seen.value.map(\.before) == [nil, ["id": "a", "n": 1], ["id": "a", "n": 1, "m": 2]])
        #expect(seen.value[0].tags == ["urgent"] && seen.value.allSatisfy { $0.attempt == 1 && $0.group == nil })
        #expect(try await device.queue() == [])
    }

    @Test("an undelete shows the record that comes back", arguments: StoreKind.allCases)
    func undelete(_ kind: StoreKind) async throws {
        let seen = Shared<JSON?>(nil)
        let hook = TestHook(enqueue: { change in
            if change.kind == .undelete { seen.value = change.record }
            return .accept
        })
        let device = try await Device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        try await device.todos.undelete(id: "a")
        #expect(seen.value?["n"] == 1)
        #expect(try await device.local("a") == ["id": "a", "n": 1])
    }

    @Test("what one hook changes the next sees, and the last is stored and sent", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let hooks = ["x", "y"].map { letter in
            TestHook(
                hookName: letter,
                enqueue: { change in
                    var record = change.record ?? .object
                    record["trail"] = JSON((record["trail"]?.string ?? "") + letter)
                    record["secret"] = nil
                    return .change(record)
                })
        }
        let device = try await Device(kind, hooks: hooks)
        #expect(try await device.todos.insert(["id": "a", "secret": 1]) == ["id": "a", "trail": "xy"])
        try await device.context.push()
        #expect(device.remote("a") == ["id": "a", "trail": "xy"])
        try await device.todos.update(["id": "a", "n": 1])
        #expect(try await device.local("a") == ["id": "a", "trail": "xyxy", "n": 1])
        let version = try #require(try await device.todos.lookup(id: "a")?["version"])
        #expect(version == device.server.rows("todos")["a"]?["version"])
        try await device.context.push()
        #expect(device.remote("a") == ["id": "a", "trail": "xyxy", "n": 1])
        #expect(try await device.states() == 0)
    }

    @Test("a property that a hook takes out of an update is null on the server", arguments: StoreKind.allCases)
    func removes(_ kind: StoreKind) async throws {
        let hook = TestHook(enqueue: { change in
            var record = change.record ?? .object
            record["old"] = nil
            return .change(record)
        })
        let device = try await Device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a", "old": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 1])
        try await device.context.push()
        #expect(try device.server.requests.last?.body.json == ["id": "a", "n": 1, "old": .null])
    }

    @Test("a refusal carries code, message and fields, and nothing is stored", arguments: StoreKind.allCases)
    func rejects(_ kind: StoreKind) async throws {
        let hook = TestHook(
            hookName: "strict",
            enqueue: { change in
                change.record?["title"] == nil
                    ? .reject(EnqueueDecision.Refusal("no title", code: "E7", fields: ["title": "is missing"]))
                    : .accept
            })
        let device = try await Device(kind, hooks: [hook])
        let error = await #expect(throws: SluiceError.self) { try await device.todos.insert(["id": "a"]) }
        #expect(error?.code == .refusedByHook && error?.table == "todos" && error?.recordID == "a")
        #expect(error?.refusal?.code == "E7" && error?.refusal?.fields == ["title": "is missing"])
        #expect(error?.description.contains("strict") == true && error?.description.contains("no title") == true)
        #expect(try await device.todos.lookup(id: "a") == nil)
        #expect(try await device.queue() == [])
        try await device.todos.insert(["id": "a", "title": "t"])
        #expect(try await device.queue() == ["insert a pending"])
    }

    @Test("a hook that throws, or answers what cannot be, refuses the change", arguments: StoreKind.allCases)
    func broken(_ kind: StoreKind) async throws {
        let decision = Shared<EnqueueDecision?>(nil)
        let hook = TestHook(enqueue: { _ in
            guard let decision = decision.value else { throw HookMishap() }
            return decision
        })
        let device = try await Device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        for wrong in [nil, .change([1]), .change(["id": "b"]), .localOnly(["id": "b"])] as [EnqueueDecision?] {
            decision.value = wrong
            let error = await #expect(throws: SluiceError.self) { try await device.todos.update(["id": "a", "n": 2]) }
            #expect(error?.code == .hookFailed && error?.recordID == "a")
            #expect((error?.cause is HookMishap) == (wrong == nil))
        }
        for wrong in [.change(["id": "a"]), .localOnly(["id": "a"])] as [EnqueueDecision] {
            decision.value = wrong
            await #expect(throws: SluiceError.self) { try await device.todos.delete(id: "a") }
        }
        #expect(try await device.local("a") == ["id": "a", "n": 1])
        #expect(try await device.queue() == [])
    }

    @Test("hooks are asked again where the record moved, three times at the most", arguments: StoreKind.allCases)
    func moves(_ kind: StoreKind) async throws {
        let moves = Shared(1)
        let seen = Shared<[EnqueuedChange]>([])
        let store = try await kind.make()
        let hook = TestHook(enqueue: { change in
            seen.change { $0.append(change) }
            guard moves.value > 0 else { return .accept }
            moves.change { $0 -= 1 }
            let n = 100 + moves.value
            try await store.write { try $0.put(["id": "a", "n": JSON(n)], in: "todos") }
            return .accept
        })
        let device = try await Device(kind, hooks: [hook], store: store)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "m": 1])
        #expect(seen.value.map(\.attempt) == [1, 2])
        #expect(seen.value.map { $0.before?["n"] } == [1, 100])
        #expect(try await device.local("a") == ["id": "a", "n": 100, "m": 1])

        seen.value = []
        moves.value = 10
        let error = await #expect(throws: SluiceError.self) { try await device.todos.update(["id": "a", "m": 2]) }
        #expect(error?.code == .operationRefused && seen.value.count == 3)
        #expect(try await device.local("a")?["m"] == nil)
        #expect(try await device.queue() == ["update a pending"])
    }

    @Test("what the engine refuses itself no hook is asked about", arguments: StoreKind.allCases)
    func refusedAnyway(_ kind: StoreKind) async throws {
        let calls = Shared(0)
        let hook = TestHook(enqueue: { _ in
            calls.change { $0 += 1 }
            return .accept
        })
        let device = try await Device(kind, hooks: [hook])
        await #expect(throws: SluiceError.self) { try await device.todos.update(["id": "a"]) }
        await #expect(throws: SluiceError.self) { try await device.todos.delete(id: "a") }
        await #expect(throws: SluiceError.self) { try await device.todos.insert(["id": "?"]) }
        #expect(calls.value == 0)
    }

    @Test("a hook's own writes are not shown to it again", arguments: StoreKind.allCases)
    func ownWrites(_ kind: StoreKind) async throws {
        let context = Shared<SyncContext?>(nil)
        let hook = TestHook(enqueue: { change in
            try await context.value?.table("log").insert(["of": JSON(change.recordID)])
            return .accept
        })
        let device = try await Device(kind, hooks: [hook])
        context.value = device.context
        try await device.todos.insert(["id": "a"])
        #expect(try await device.context.table("log").records().map { $0["of"] } == ["a"])
    }
}
