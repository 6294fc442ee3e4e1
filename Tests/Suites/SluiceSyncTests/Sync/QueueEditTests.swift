import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Queue: an operation is edited, made one of another kind, taken back")
struct QueueEditTests {
    /// A device with a record that it pulled, and a write that was refused.
    private func refused(
        _ kind: StoreKind, _ status: Int = 400, _ first: (SyncTable<JSON>) async throws -> Void
    ) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await first(device.todos)
        device.server.onRequest { $0.isWrite ? .answer(.model(status, ["error": "no"])) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        return device
    }

    private func first(_ device: Device) async throws -> TableOperation {
        try #require(try await device.context.queue.operations().first)
    }

    @Test("a new body takes a property away that the server refused", arguments: StoreKind.allCases)
    func edit(_ kind: StoreKind) async throws {
        let device = try await refused(kind) { try await $0.insert(["id": "b", "n": 1, "bad": 1]) }
        let operation = try await first(device)
        try await device.context.queue.edit(
            operation.id, to: ["id": "b", "n": 2, "version": "forged"], revision: operation.revision)
        #expect(try await device.queue() == ["insert b pending"])
        #expect(try await device.todos.lookup(id: "b") == ["id": "b", "n": 2])
        #expect(try await device.context.queue.audit().map(\.what) == ["edit"])
        #expect(try await device.context.queue.audit().first?.local?["bad"] == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b") == ["id": "b", "n": 2])
    }

    @Test("later edits stay on top of a new body", arguments: StoreKind.allCases)
    func editBelow(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let alone = OperationOptions(isMergeable: false)
        try await device.todos.insert(["id": "b", "n": 1], options: alone)
        try await device.todos.update(["id": "b", "m": 2], options: alone)
        try await device.todos.update(["id": "b", "m": 3], options: alone)
        try await device.context.queue.edit(first(device).id, to: ["n": 5, "x": 1])
        #expect(try await device.local("b") == ["id": "b", "n": 5, "x": 1, "m": 3])
        #expect(try await device.context.push().isClean)
        let bodies = device.server.requests.filter(\.isWrite).compactMap { try? $0.body.json }
        #expect(bodies.map { $0["m"] } == [nil, 2, 3] && bodies.map { $0["n"] } == [5, nil, nil])
        #expect(device.remote("b") == ["id": "b", "n": 5, "x": 1, "m": 3])
    }

    @Test("an edit of what may have arrived does not make it arrive twice", arguments: StoreKind.allCases)
    func editUncertain(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "b", "n": 1])
        device.server.onRequest { $0.isWrite ? .answerAfter(.model(500, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.context.queue.edit(first(device).id, to: ["n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b") == ["id": "b", "n": 2])
    }

    @Test("what is wrong with an edit is said, and changes nothing", arguments: StoreKind.allCases)
    func badEdits(_ kind: StoreKind) async throws {
        let device = try await refused(kind) { try await $0.update(["id": "a", "n": 2]) }
        let queue = device.context.queue
        let operation = try await first(device)
        for (body, revision, code) in [
            (JSON.array, nil, SluiceError.Code.invalidRecord), (["id": "other"], nil, .invalidRecord),
            (["n": 3], operation.revision + 1, .operationRefused),
        ] {
            let error = await #expect(throws: SluiceError.self) {
                try await queue.edit(operation.id, to: body, revision: revision)
            }
            #expect(error?.code == code)
        }
        let missing = await #expect(throws: SluiceError.self) { try await queue.edit("none", to: .object) }
        #expect(missing?.code == .invalidArgument)
        #expect(try await first(device) == operation)
        #expect(try await queue.audit().isEmpty)
        try await queue.discard(operation.id)
        try await device.todos.delete(id: "a")
        let error = await #expect(throws: SluiceError.self) {
            try await queue.edit(first(device).id, to: ["n": 3])
        }
        #expect(error?.code == .operationRefused)
    }

    @Test("what is on its way cannot be edited, changed or undone", arguments: StoreKind.allCases)
    func inFlight(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 503) { try await $0.update(["id": "a", "n": 2]) }
        try await device.store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in try queue.reader.all() {
                operation.state = .inFlight
                try queue.put(operation)
            }
        }
        let queue = device.context.queue
        let operation = try await first(device)
        let calls: [@Sendable () async throws -> Void] = [
            { try await queue.edit(operation.id, to: ["n": 3]) },
            { try await queue.changeKind(operation.id, to: .delete) },
            { try await queue.undo("a", in: "todos") },
        ]
        for call in calls {
            let error = await #expect(throws: SluiceError.self) { try await call() }
            #expect(error?.code == .operationRefused)
        }
        #expect(try await first(device) == operation)
    }

    @Test("an update becomes an insert where the server's record is gone", arguments: StoreKind.allCases)
    func updateToInsert(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        let early = await #expect(throws: SluiceError.self) {
            try await device.context.queue.changeKind(first(device).id, to: .insert)
        }
        #expect(early?.code == .operationRefused)
        device.server.hardDelete("todos", "a")
        _ = try await device.context.push()
        #expect(try await device.queue() == ["update a parked"])
        try await device.context.queue.changeKind(first(device).id, to: .insert)
        #expect(try await device.queue() == ["insert a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2, "m": 1])
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("an insert becomes an update where the record is there", arguments: StoreKind.allCases)
    func insertToUpdate(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.insert(["id": "a", "n": 2])
        _ = try await device.context.push()
        #expect(try await device.queue() == ["insert a parked"])
        try await device.context.queue.changeKind(first(device).id, to: .update, record: ["n": 3])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 3, "m": .null])
    }

    @Test("a delete is taken back by making it an update", arguments: StoreKind.allCases)
    func deleteToUpdate(_ kind: StoreKind) async throws {
        let device = try await refused(kind, 403) { try await $0.delete(id: "a") }
        try await device.context.queue.changeKind(first(device).id, to: .update)
        #expect(try await device.local("a") == ["id": "a", "n": 1, "m": 1])
        device.server.clearLog()
        #expect(try await device.context.push().isClean)
        #expect(device.server.requests.filter(\.isWrite).isEmpty)
        #expect(try await device.states() == 0)
    }

    @Test("an update becomes a delete, after what else waits", arguments: StoreKind.allCases)
    func updateToDelete(_ kind: StoreKind) async throws {
        let device = try await refused(kind) { try await $0.update(["id": "a", "n": 2]) }
        try await device.todos.insert(["id": "b"])
        try await device.context.queue.changeKind(first(device).id, to: .delete)
        #expect(try await device.queue() == ["insert b pending", "delete a pending"])
        #expect(try await device.local("a") == nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
    }

    @Test("changes of kind that make no sense are refused")
    func senseless() async throws {
        let all = TableOperation.Kind.allCases
        let sensible = all.flatMap { old in
            all.filter { KindChange.need(old, $0) != nil }.map { "\(old.rawValue) → \($0.rawValue)" }
        }
        #expect(
            Set(sensible) == [
                "insert → update", "insert → delete", "update → insert", "update → delete", "delete → insert",
                "delete → update", "undelete → insert",
            ])
        let device = try await refused(.memory) { try await $0.update(["id": "a", "n": 2]) }
        let operation = try await first(device)
        for kind in [TableOperation.Kind.update, .undelete] {
            let error = await #expect(throws: SluiceError.self) {
                try await device.context.queue.changeKind(operation.id, to: kind)
            }
            #expect(error?.code == .operationRefused)
        }
        #expect(try await first(device) == operation)
    }

    @Test("undo brings the newest record back that is known from the server", arguments: StoreKind.allCases)
    func undo(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "a", "n": 3], options: OperationOptions(isMergeable: false))
        device.server.seed("todos", [["id": "a", "n": 9]])
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        try await device.todos.pull()
        device.server.onRequest(nil)
        #expect(try await device.local("a")?["n"] == 3)
        let record = try await device.context.queue.undo("a", in: "todos")
        #expect(record?["n"] == 9)
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
        let audit = try await device.context.queue.audit()
        #expect(audit.map(\.what) == ["undo", "undo"] && audit.map { $0.local?["n"] } == [2, 3])
    }

    @Test(
        "undo of a record that was made here takes it away; of a delete, brings it back", arguments: StoreKind.allCases)
    func undoCreation(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.insert(["id": "b", "n": 1])
        try await device.todos.delete(id: "a")
        #expect(try await device.context.queue.undo("b", in: "todos") == nil)
        #expect(try await device.context.queue.undo("a", in: "todos")?["n"] == 1)
        #expect(try await device.local("b") == nil)
        #expect(try await device.local("a") == ["id": "a", "n": 1])
        #expect(try await device.queue().isEmpty)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.undo("a", in: "todos")
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a creation that may have arrived is not undone unsaid", arguments: StoreKind.allCases)
    func undoUncertain(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "b", "n": 1])
        device.server.onRequest { $0.isWrite ? .answerAfter(.model(500, nil)) : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.undo("b", in: "todos")
        }
        #expect(error?.code == .operationRefused)
        try await device.todos.delete(id: "b")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b") == nil)
    }

    @Test("an undelete of what another has deleted meanwhile is said to the server", arguments: StoreKind.allCases)
    func undeleteOfDeleted(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.delete(id: "a")
        device.server.softDelete("todos", "a")
        try await device.store.write { writer in
            // As a pull would that began before the delete.
            try QueueWriter(writer).put(
                RecordState(table: "todos", recordID: "a", base: ["id": "a", "version": "v1"], mirror: nil))
        }
        try await device.todos.undelete(id: "a")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 1)
        #expect(try await device.local("a") == device.remote("a"))
    }
}
