import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A delete that takes an edit's place: the edit comes back with an undelete, and is in the audit")
struct FoldedEditTests {
    /// A device with `a` pulled, changed here and deleted; `between` runs before the delete.
    private func deleted(
        _ kind: StoreKind, policy: ConflictPolicy = .hold, between: (Device) async throws -> Void = { _ in }
    ) async throws -> Device {
        let device = try await Device(kind, policy: policy)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await between(device)
        try await device.todos.delete(id: "a")
        return device
    }

    /// What the audit says of deletes that took an edit's place.
    private func folded(_ device: Device) async throws -> [JSON?] {
        try await device.context.queue.audit().filter { $0.what == "deleted before it was sent" }.map { $0.local?["n"] }
    }

    @Test("an update that was never sent is the update again", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) async throws {
        let device = try await deleted(kind)
        #expect(try await folded(device) == [2])
        try await device.todos.undelete(id: "a")
        #expect(try await device.local("a") == ["id": "a", "n": 2, "m": 1])
        #expect(try await device.queue() == ["update a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2, "m": 1])
    }

    @Test(
        "after a decision about the insert, an undelete of its own brings back the decided record",
        arguments: StoreKind.allCases, [false, true])
    func decidedInsert(_ kind: StoreKind, _ discards: Bool) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        let apart = OperationOptions(isMergeable: false)
        _ = try await device.todos.insert(["id": "a", "n": 2], options: apart)
        try await device.todos.delete(id: "a", options: apart)
        try await device.todos.undelete(id: "a", options: apart)
        device.server.onRequest { $0.head.method == .patch ? .answer(.model(503, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.local("a")?["n"] == 2)
        if discards {
            let delete = try #require(try await device.context.queue.operations().first { $0.kind == .delete })
            try await device.context.queue.discard(delete.id)
        }
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.local("a")?["n"] == 2)
        #expect(device.remote("a")?["n"] == 2)
        #expect(try await device.queue().isEmpty)
    }

    @Test("so it is for a delete that the server could not take yet", arguments: StoreKind.allCases)
    func busy(_ kind: StoreKind) async throws {
        let device = try await deleted(kind)
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.undelete(id: "a")
        #expect(try await device.local("a")?["n"] == 2)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("a delete that may have been done is followed by the undelete", arguments: StoreKind.allCases)
    func uncertain(_ kind: StoreKind) async throws {
        let device = try await deleted(kind)
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.undelete(id: "a")
        #expect(try await device.queue() == ["delete a pending", "undelete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await folded(device) == [2])
    }

    @Test("an insert of unknown outcome is the insert again", arguments: StoreKind.allCases, [false, true])
    func insert(_ kind: StoreKind, _ arrives: Bool) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? arrives ? .loseAnswer : .loseRequest : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "a")
        try await device.todos.undelete(id: "a")
        #expect(try await device.local("a") == ["id": "a", "n": 2])
        #expect(try await device.queue() == ["insert a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2])
    }

    @Test("an insert that vanishes is in the audit", arguments: StoreKind.allCases)
    func vanished(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "a")
        #expect(try await device.queue().isEmpty)
        #expect(try await folded(device) == [2])
    }

    @Test("an undelete of it makes it again, however often, and as it was last", arguments: StoreKind.allCases)
    func madeAgain(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "other", "n": 1])
        try await device.todos.insert(["id": "a", "n": 1])
        for n in 2...3 {
            try await device.todos.update(["id": "a", "n": JSON(Int64(n))])
            try await device.todos.delete(id: "a")
            try await device.todos.undelete(id: "a")
            #expect(try await device.local("a") == ["id": "a", "n": JSON(Int64(n))])
        }
        #expect(try await device.queue() == ["insert other pending", "insert a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3 && device.server.calls.count == 2)
        // Once the server has had it, its own tombstone is restored.
        try await device.todos.delete(id: "a")
        #expect(try await device.context.push().isClean)
        try await device.todos.undelete(id: "a")
        #expect(try await device.queue() == ["undelete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3)
    }

    @Test("a discard of the delete, an undo, and a purge leave the edit in the audit", arguments: StoreKind.allCases)
    func givenUp(_ kind: StoreKind) async throws {
        for way in ["discard", "undo", "purge", "insert"] {
            let device = try await deleted(kind)
            let id = try #require(try await device.context.queue.operations().first?.id)
            switch way {
            case "discard": try await device.context.queue.discard(id)
            case "undo": try await device.context.queue.undo("a", in: "todos")
            case "purge": try await device.context.purge(TableQuery("todos"), force: true)
            default: try await device.todos.insert(["id": "a", "n": 9])
            }
            #expect(try await folded(device) == [2], "\(way)")
        }
    }

    @Test("a hook that is asked about the undelete is shown the edit", arguments: StoreKind.allCases)
    func hooks(_ kind: StoreKind) async throws {
        let shown = Shared<[JSON?]>([])
        let device = try await Device(
            kind,
            hooks: [
                TestHook(enqueue: { change in
                    if change.kind == .undelete { shown.change { $0.append(change.record?["n"]) } }
                    return .accept
                })
            ])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "a")
        try await device.todos.undelete(id: "a")
        #expect(shown.value == [2])
    }

    @Test("a delete after an edit in a conflict that is decided for it", arguments: StoreKind.allCases)
    func conflict(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        device.server.seed("todos", [["id": "a", "n": 7]])
        try await device.todos.update(["id": "a", "n": 2])
        let todos = device.todos
        device.server.onRequest { request in
            if request.isWrite, (try? await todos.lookup(id: "a")) ?? nil != nil { try? await todos.delete(id: "a") }
            return .none
        }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await folded(device) == [2], "the decision was to send it, and the delete came first")
        #expect(device.remote("a") == nil)
    }

    @Test("a change of kind takes the delete back with the edit", arguments: StoreKind.allCases)
    func changedKind(_ kind: StoreKind) async throws {
        let device = try await deleted(kind)
        let id = try #require(try await device.context.queue.operations().first?.id)
        try await device.context.queue.changeKind(id, to: .update)
        #expect(try await device.local("a")?["n"] == 2)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }
}
