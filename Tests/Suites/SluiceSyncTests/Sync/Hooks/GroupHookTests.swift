import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Hooks before the changes of a group are stored")
struct GroupHookTests {
    @Test("each change is shown once, and stored as decided", arguments: StoreKind.allCases)
    func each(_ kind: StoreKind) async throws {
        let seen = Shared<[EnqueuedChange]>([])
        let hook = TestHook(
            table: "todos",
            enqueue: { change in
                seen.change { $0.append(change) }
                guard var record = change.record else { return .accept }
                record["by"] = "hook"
                return .change(record)
            })
        let device = try await Device(kind, hooks: [hook], batchSize: 10)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        let runs = Shared(0)
        let (group, made) = try await device.context.group { group in
            runs.change { $0 += 1 }
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.delete(id: "b", in: "todos")
            try group.insert(["id": "x"], in: "others")
            return (group.group, try group.insert(["n": 3], in: "todos")["id"]?.string ?? "")
        }
        #expect(runs.value == 2)
        #expect(seen.value.map(\.kind) == [.update, .delete, .insert])
        #expect(seen.value.allSatisfy { $0.group == group } && seen.value.last?.recordID.text == made)
        #expect(try await device.local("a") == ["id": "a", "n": 2, "by": "hook"])
        #expect(try await device.local(made) == ["id": JSON(made), "n": 3, "by": "hook"])
        #expect(try await device.context.table("others").lookup(id: "x") == ["id": "x"])
        #expect(try await device.queue().count == 4)
    }

    @Test("a body that looks at what a hook has changed converges", arguments: StoreKind.allCases)
    func converges(_ kind: StoreKind) async throws {
        let hook = TestHook(enqueue: { change in
            guard var record = change.record, let n = record["n"]?.int, n < 10 else { return .accept }
            record["n"] = JSON(n + 10)
            return .change(record)
        })
        let device = try await Device(kind, hooks: [hook], batchSize: 10)
        try await device.context.group { group in
            try group.insert(["id": "a", "n": 1], in: "todos")
            try group.insert(["id": "b", "n": try group.lookup(id: "a", in: "todos")?["n"] ?? 0], in: "todos")
        }
        #expect(try await device.local("a")?["n"] == 11)
        #expect(try await device.local("b")?["n"] == 11)
    }

    @Test("where one change is refused or its hook fails, none has happened", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        let fails = Shared(false)
        let hook = TestHook(enqueue: { change in
            if change.recordID != "b" { return .accept }
            if fails.value { throw HookMishap() }
            return .reject(EnqueueDecision.Refusal("not b"))
        })
        let device = try await Device(kind, hooks: [hook], batchSize: 10)
        for (isFailure, code) in [(false, SluiceError.Code.refusedByHook), (true, .hookFailed)] {
            fails.value = isFailure
            let error = await #expect(throws: SluiceError.self) {
                try await device.context.group { group in
                    try group.insert(["id": "a"], in: "todos")
                    try group.insert(["id": "b"], in: "todos")
                }
            }
            #expect(error?.code == code && error?.recordID == "b")
            #expect(try await device.queue() == [])
            #expect(try await device.todos.records() == [])
        }
    }

    @Test("a group that moves each time is refused", arguments: StoreKind.allCases)
    func moves(_ kind: StoreKind) async throws {
        let device = try await Device(kind, hooks: [TestHook(enqueue: { _ in .accept })], batchSize: 10)
        let runs = Shared(0)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.group { group in
                runs.change { $0 += 1 }
                try group.insert(["id": "a", "n": JSON(runs.value)], in: "todos")
            }
        }
        #expect(error?.code == .operationRefused && runs.value == 4)
        #expect(try await device.queue() == [])
    }
}
