import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Groups: what a decision leaves of one is sent, and nothing is undone by halves")
struct GroupDecisionTests {
    /// A device with a group that changes `a` and `b` and makes `c`.
    private func device(_ kind: StoreKind, deciding decision: ConflictDecision? = nil) async throws -> Device {
        let handlers: [any ConflictHandler] = decision.map { one in [ConflictClosure { _ in one }] } ?? []
        let device = try await Device(kind, handlers: handlers, batchSize: 10)
        device.server.offer([.batches])
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        _ = try await device.context.group { group in
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.update(["id": "b", "n": 2], in: "todos")
            try group.insert(["id": "c", "n": 2], in: "todos")
        }
        return device
    }

    // MARK: What a decision leaves

    @Test("where a merge leaves nothing of one to be said, the others go in that push", arguments: StoreKind.allCases)
    func mergedAway(_ kind: StoreKind) async throws {
        let device = try await device(kind, deciding: .merge(["id": "b", "n": 5]))
        device.server.seed("todos", [["id": "b", "n": 5]])
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 1, "\(result)")
        #expect(device.remote("a")?["n"] == 2 && device.remote("b")?["n"] == 5 && device.remote("c") != nil)
    }

    @Test("what was changed after a group that is given up goes in the same push", arguments: StoreKind.allCases)
    func givenUp(_ kind: StoreKind) async throws {
        let device = try await device(kind, deciding: .server)
        try await device.todos.update(["id": "a", "m": 7])
        try await device.todos.update(["id": "b", "m": 7])
        device.server.seed("todos", [["id": "b", "n": 5]])
        let result = try await device.context.push()
        #expect(result.isClean, "\(result)")
        #expect(device.remote("a") == ["id": "a", "n": 1, "m": 7])
        #expect(device.remote("b") == ["id": "b", "n": 5, "m": 7])
        #expect(device.remote("c") == nil)
    }

    private static let others: [ConflictDecision] = [.client, .merge(["id": "b", "n": 9]), .delete]

    @Test("whatever is decided, what is left goes now or is counted as waiting", arguments: StoreKind.allCases, 0..<3)
    func leftOver(_ kind: StoreKind, _ index: Int) async throws {
        let device = try await device(kind, deciding: Self.others[index])
        device.server.seed("todos", [["id": "b", "n": 5]])
        let result = try await device.context.push()
        #expect(result.end == .completed && result.failures.isEmpty)
        #expect(result.waiting == result.remaining, "\(result)")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2 && device.remote("c") != nil)
        let expected: [JSON?] = [2, 9, nil]
        #expect(device.remote("b")?["n"] == expected[index])
    }

    @Test("the same for a record that was deleted on the server", arguments: [true, false])
    func deletedOnServer(_ isMerge: Bool) async throws {
        let device = try await device(.memory, deciding: isMerge ? .merge(["id": "b", "n": 2]) : .client)
        device.server.softDelete("todos", "b")
        let result = try await device.context.push()
        #expect(result.waiting == result.remaining, "\(result)")
        if result.remaining > 0 { #expect(try await device.context.push().isClean) }
        #expect(device.remote("b")?["n"] == 2 && device.remote("a")?["n"] == 2)
    }

    /// Who gives the record as the application sees it decides nothing about the properties that a later group changed.
    @Test(
        "a decision or an edit with the record as it is seen takes no change away from a later group", arguments: 0..<4)
    func seenRecord(_ kind: Int) async throws {
        let device = try await Device(.memory, handlers: [ConflictClosure { _ in .ask }], batchSize: 10)
        device.server.offer([.batches])
        device.server.seed("todos", [["id": "a", "n": 1, "x": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        _ = try await device.context.group { group in
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.update(["id": "b", "n": 2], in: "todos")
        }
        _ = try await device.context.group { group in
            try group.update(["id": "a", "x": 2], in: "todos")
            try group.insert(["id": "c", "n": 2], in: "todos")
        }
        device.server.seed("todos", [["id": "a", "n": 5, "x": 1], ["id": "b", "n": 5]])
        var held: TableOperation?
        for _ in 0..<3 where held?.recordID != "a" {
            _ = try await device.context.push()
            held = try await device.context.queue.operations().first { $0.state == .parked }
            if let other = held, other.recordID != "a" { try await device.context.queue.resolve(other.id, .client) }
        }
        let conflict = try #require(held)
        var seen = try #require(try await device.todos.lookup(id: "a"))
        seen["m"] = 7
        switch kind {
        case 0: try await device.context.queue.resolve(conflict.id, .merge(seen))
        case 1: try await device.context.queue.resolve(conflict.id, .replace(seen))
        case 2: try await device.context.queue.edit(conflict.id, to: seen)
        default: try await device.context.queue.resolve(conflict.id, .client)
        }
        #expect(try await device.todos.lookup(id: "a")?["x"] == 2)
        #expect(device.remote("c") == nil)
        for operation in try await device.context.queue.operations() where operation.recordID == "b" {
            try await device.context.queue.discard(operation.id)
        }
        for _ in 0..<2 {
            for other in try await device.context.queue.operations() where other.state == .parked {
                try await device.context.queue.resolve(other.id, .client)
            }
            _ = try await device.context.push()
        }
        #expect(try await device.context.queue.operations().isEmpty)
        #expect(device.remote("a")?["x"] == 2 && device.remote("c") != nil)
    }

    /// The place of `b` in the queue is free again when the decision for `a` makes two operations of one.
    @Test(
        "what a decision leaves is sent although what was last in the queue has gone meanwhile",
        arguments: StoreKind.allCases)
    func reusedPlace(_ kind: StoreKind) async throws {
        let device = try await Device(kind, handlers: [ConflictClosure { _ in .client }], batchSize: 10)
        device.server.offer([.batches])
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "b", "n": 2])
        device.server.softDelete("todos", "a")
        let result = try await device.context.push()
        #expect(result.waiting == result.remaining && result.isClean, "\(result)")
        #expect(device.remote("a")?["n"] == 2 && device.remote("b")?["n"] == 2)
    }

    @Test("an operation that waits for a decision is not counted as waiting for the next push")
    func held() async throws {
        let device = try await device(.memory, deciding: .ask)
        try await device.todos.update(["id": "a", "m": 7])
        device.server.seed("todos", [["id": "b", "n": 5]])
        let result = try await device.context.push()
        #expect(result.remaining == 4 && result.waiting == 0, "\(result)")
    }

    // MARK: An uncertain creation

    /// The group was sent, and its answer was lost.
    private func uncertain(_ kind: StoreKind, _ fault: ModelServer.Fault = .loseAnswer) async throws -> Device {
        let device = try await device(kind)
        device.server.onRequest { $0.isWrite ? fault : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        return device
    }

    @Test(
        "neither undo nor discard of any member undoes a creation of its group that may have arrived",
        arguments: StoreKind.allCases, [ModelServer.Fault.loseAnswer, .loseRequest])
    func refused(_ kind: StoreKind, _ fault: ModelServer.Fault) async throws {
        let device = try await uncertain(kind, fault)
        let operations = try await device.context.queue.operations()
        for operation in operations {
            let undo = await #expect(throws: SluiceError.self) {
                try await device.context.queue.undo(operation.recordID, in: "todos")
            }
            let discard = await #expect(throws: SluiceError.self) {
                try await device.context.queue.discard(operation.id)
            }
            for error in [undo, discard] {
                #expect(error?.code == .operationRefused && error?.message.contains("push to learn") == true)
            }
        }
        #expect(try await device.context.queue.operations() == operations)
        #expect(try await device.audit().isEmpty)
        #expect(try await device.context.push().isClean)
        try await device.todos.pull()
        for id in ["a", "b", "c"] { #expect(device.remote(id)?["n"] == 2) }
    }

    @Test("no member of a group that may have arrived comes to say something else", arguments: StoreKind.allCases)
    func saidAnew(_ kind: StoreKind) async throws {
        let device = try await uncertain(kind)
        let operations = try await device.context.queue.operations()
        let a = try #require(operations.first { $0.recordID == "a" })
        let edit = await #expect(throws: SluiceError.self) {
            try await device.context.queue.edit(a.id, to: ["id": "a", "n": 3])
        }
        let change = await #expect(throws: SluiceError.self) {
            try await device.context.queue.changeKind(a.id, to: .delete)
        }
        for error in [edit, change] {
            #expect(error?.code == .operationRefused && error?.message.contains("push to learn") == true)
        }
        #expect(try await device.context.queue.operations() == operations)
        #expect(try await device.context.push().isClean)
        for id in ["a", "b", "c"] { #expect(device.remote(id)?["n"] == 2) }
    }

    @Test("a group that goes on elsewhere can be discarded here", arguments: StoreKind.allCases)
    func elsewhere(_ kind: StoreKind) async throws {
        let device = try await uncertain(kind)
        let first = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.discard(first.id, goesOnElsewhere: true)
        #expect(try await device.queue().isEmpty)
        try await device.todos.pull()
        #expect(try await device.queue().isEmpty, "the row of a lost insert stays")
        for id in ["a", "b", "c"] { #expect(try await device.local(id)?["n"] == 2) }
    }

    @Test("the server's decision for a group that was done keeps all of it there", arguments: StoreKind.allCases)
    func decidedForServer(_ kind: StoreKind) async throws {
        let device = try await uncertain(kind)
        device.server.seed("todos", [["id": "b", "n": 7]])
        let held = try await device.context.push().failures.first { $0.recordID == "b" }
        try await device.context.queue.resolve(try #require(held).id, .server)
        #expect(try await device.queue().isEmpty)
        try await device.todos.pull()
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2 && device.remote("b")?["n"] == 7 && device.remote("c")?["n"] == 2)
        #expect(try await device.local("c")?["n"] == 2)
    }
}
