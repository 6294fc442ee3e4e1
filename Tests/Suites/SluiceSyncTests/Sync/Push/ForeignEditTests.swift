import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("What another has written is not overwritten unseen")
struct ForeignEditTests {
    /// A device that has pulled `a`, and whose update of `m` the server has refused while an edit was made after it.
    private func refused(
        _ kind: StoreKind, _ edit: @escaping @Sendable (SyncTable<JSON>) async throws -> Void
    ) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "m": 0, "p": 0, "o": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "m": 1])
        let todos = device.todos
        device.server.onRequest { request in
            guard request.isWrite else { return .none }
            try? await edit(todos)
            return .answer(.model(400, ["error": "no"]))
        }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.queue().count == 2)
        return device
    }

    private func discardFirst(_ device: Device) async throws {
        let operation = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.discard(operation.id)
    }

    @Test("by an edit after a discarded one", arguments: StoreKind.allCases, ["p", "o"])
    func behindDiscarded(_ kind: StoreKind, _ property: String) async throws {
        let device = try await refused(kind) { try await $0.update(["id": "a", "p": 5]) }
        device.server.seed("todos", [["id": "a", property: 9]])
        try await device.todos.pull(named: "all")
        try await discardFirst(device)
        #expect(try await device.local("a")?["p"] == 5)
        let result = try await device.context.push()
        if property == "o" {
            #expect(result.isClean && device.remote("a") == ["id": "a", "m": 0, "p": 5, "o": 9], "\(result)")
        } else {
            #expect(result.conflicts == 1 && device.remote("a")?["p"] == 9, "\(result)")
        }
    }

    @Test("by a delete after a discarded edit, nor is a record brought back", arguments: StoreKind.allCases)
    func deletes(_ kind: StoreKind) async throws {
        let deleting = try await refused(kind) { try await $0.delete(id: "a") }
        deleting.server.seed("todos", [["id": "a", "p": 9]])
        try await deleting.todos.pull(named: "all")
        try await discardFirst(deleting)
        #expect(try await deleting.context.push().conflicts == 1 && deleting.remote("a")?["p"] == 9)
        let editing = try await refused(kind) { try await $0.update(["id": "a", "p": 5]) }
        editing.server.softDelete("todos", "a")
        try await editing.todos.pull(named: "all")
        try await discardFirst(editing)
        #expect(try await editing.context.push().conflicts == 1)
        #expect(editing.server.rows("todos")["a"]?["deleted"] == true)
    }

    @Test("an edit that says what is there already goes with the discarded one", arguments: StoreKind.allCases)
    func silent(_ kind: StoreKind) async throws {
        let device = try await refused(kind) { try await $0.update(["id": "a", "m": 0]) }
        device.server.seed("todos", [["id": "a", "m": 9]])
        try await device.todos.pull(named: "all")
        try await discardFirst(device)
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a") == device.remote("a") && device.remote("a")?["m"] == 9)
    }

    @Test("by an edit that stands for itself after one of which a part was done", arguments: StoreKind.allCases)
    func behindLost(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "m": 0, "p": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "m": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "m": 2])
        try await device.todos.update(["id": "a", "p": 5], options: OperationOptions(isMergeable: false))
        device.server.seed("todos", [["id": "a", "p": 9]])
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && device.remote("a")?["p"] == 9, "\(result)")
    }

    /// The edit has no record here any more, nor a send to take its body from.
    @Test("by a group's delete after an edit of which a part was done, which is said all the same")
    func groupBehindLost() async throws {
        let device = try await Device(.memory, policy: .clientWins, batchSize: 10)
        device.server.offer([.batches])
        device.server.seed("todos", [["id": "a", "m": 0, "p": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "m": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "m": 2])
        try await device.context.group { group in
            try group.insert(["id": "b"], in: "todos")
            try group.delete(id: "a", in: "todos")
        }
        device.server.seed("todos", [["id": "a", "p": 9]])
        let states = Mutex<[JSON?]>([])
        device.server.onRequest { [server = device.server] _ in
            states.withLock { $0.append(server.rows("todos")["a"]?["m"]) }
            return .none
        }
        _ = try await device.context.push()
        #expect(try await device.context.push().isClean)
        #expect(try await device.queue().isEmpty)
        #expect(states.withLock { $0.contains(2) })
        #expect(device.server.rows("todos")["a"]?["deleted"] == true)
        #expect(device.remote("b") != nil)
    }

    @Test("by a delete that the client wins and that was taken back after it", arguments: StoreKind.allCases)
    func deleteTakenBack(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "p": 0]])
        try await device.todos.pull(named: "all")
        device.server.seed("todos", [["id": "a", "p": 9]])
        try await device.todos.delete(id: "a")
        let todos = device.todos
        device.server.onRequest { request in
            if request.isWrite { try? await todos.undelete(id: "a") }
            return .none
        }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "p": 9])
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test(
        "an undelete after a discarded delete is said, though another has deleted the record too",
        arguments: [true, false])
    func undeleteStays(isKnown: Bool) async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "p": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.delete(id: "a")
        device.server.onRequest { $0.isWrite ? (isKnown ? .answer(.model(403, nil)) : .loseRequest) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        device.server.softDelete("todos", "a")
        if !isKnown {
            // It has to be held, so that a pull brings what another has done.
            device.server.onRequest { $0.isWrite ? .answer(.model(400, nil)) : .none }
            _ = try await device.context.push()
            device.server.onRequest(nil)
        }
        try await device.todos.pull(named: "all")
        try await device.todos.undelete(id: "a")
        try await discardFirst(device)
        #expect(try await device.context.queue.operations().map(\.kind) == [.undelete])
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos")["a"]?["deleted"] != true)
    }

    @Test(
        "by an edit after a delete that the server wins", arguments: StoreKind.allCases,
        [ConflictPolicy.serverWins, .hold])
    func behindWonDelete(_ kind: StoreKind, _ policy: ConflictPolicy) async throws {
        let device = try await Device(kind, policy: policy)
        device.server.seed("todos", [["id": "a", "p": 0, "o": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.delete(id: "a")
        device.server.onRequest { $0.isWrite ? .answer(.model(504, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.undelete(id: "a")
        try await device.todos.update(["id": "a", "p": 1])
        device.server.seed("todos", [["id": "a", "p": 9]])
        _ = try await device.context.push()
        for _ in 0..<2 where policy == .hold {
            let held = try #require(try await device.context.queue.operations().first)
            #expect(held.failure?.serverRecord?["p"] == 9, "\(held)")
            try await device.context.queue.resolve(held.id, .server)
            _ = try await device.context.push()
        }
        #expect(device.remote("a") == ["id": "a", "p": 9, "o": 0])
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.queue() == [])
        #expect(try await device.context.queue.audit().contains { $0.local?["p"] == 1 }, "the edit is in the audit")
    }

    @Test(
        "though the server's record has the version on which the edit was made, once a pull has shown the difference",
        arguments: [Dialect.azureV2, .datasync], [true, false])
    func sameVersion(_ dialect: Dialect, _ collides: Bool) async throws {
        let device = try await Device(.memory, dialect: dialect)
        device.server.seed("todos", [["id": "a", "p": 0, "o": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "p": 1])
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        _ = try await device.context.push()
        device.server.reshape("todos") { $0.setting(collides ? ["p": 9, "o": 9] : ["o": 9]) }
        try await device.todos.pull(named: "all")
        device.server.onRequest(nil)
        let result = try await device.context.push()
        #expect(result.conflicts == (collides ? 1 : 0), "\(result)")
        if collides {
            #expect(device.remote("a")?["p"] == 9)
            let held = try #require(try await device.context.queue.operations().first)
            try await device.context.queue.resolve(held.id, .client)
            #expect(try await device.context.push().isClean)
        }
        #expect(device.remote("a")?["p"] == 1 && device.remote("a")?["o"] == 9)
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("by a delete, though the server's record has the version that was known")
    func deleteOfSameVersion() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "p": 0]])
        try await device.todos.pull(named: "all")
        try await device.todos.delete(id: "a")
        device.server.reshape("todos") { $0.setting(["p": 9]) }
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        try await device.todos.pull(named: "all")
        device.server.onRequest(nil)
        #expect(try await device.context.push().conflicts == 1)
        #expect(device.remote("a")?["p"] == 9)
    }

    @Test("a record that no operation could keep holds up nothing but its own change", arguments: 59...63)
    func deep(depth: Int) async throws {
        var value: JSON = 1
        for _ in 1..<depth { value = [value] }
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "b", "n": 2])
        device.server.seed("todos", [["id": "a", "deep": value]])
        _ = try await device.context.push()
        #expect(device.remote("b")?["n"] == 2 && device.remote("a")?["n"] == 1)
        _ = try await device.todos.pull(named: "all")
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.recordID == "a" && operation.failure != nil)
        try await device.context.queue.discard(operation.id)
        try await device.todos.pull(named: "all")
        #expect(try await device.store.checkConsistency() == [])
    }

    @Test("a lost insert that is deleted is nothing that does not fit together")
    func consistency() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        try await device.todos.delete(id: "a")
        #expect(try await device.store.checkConsistency() == [])
    }
}
