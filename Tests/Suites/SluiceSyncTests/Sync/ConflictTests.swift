import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Conflicts: a record was changed here and on the server")
struct ConflictTests {
    /// A device whose edit of `a` meets another edit of it.
    private func conflicted(
        _ kind: StoreKind, handlers: [any ConflictHandler] = [], policy: ConflictPolicy = .hold
    ) async throws -> Device {
        let device = try await Device(kind, handlers: handlers, policy: policy)
        device.server.seed("todos", [["id": "a", "text": "base", "n": 1], ["id": "b", "text": "base"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        return device
    }

    @Test("without handler and policy the operation is held and nothing is lost", arguments: StoreKind.allCases)
    func hold(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind)
        try await device.todos.update(["id": "b", "text": "other"])
        let result = try await device.context.push()
        #expect(result.end == .completed && result.conflicts == 1 && result.applied == 1)
        #expect(try await device.queue() == ["update a parked"])
        #expect(try await device.local("a")?["text"] == "mine")
        #expect(device.remote("a")?["text"] == "theirs")
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.failure?.status == 412)
        #expect(operation.failure?.serverRecord?["text"] == "theirs")
        let copies = try await device.context.queue.copies(of: operation)
        #expect(copies.base?["text"] == "base" && copies.mirror?["text"] == "theirs")
    }

    @Test("a handler gets client, server and base", arguments: StoreKind.allCases)
    func arguments(_ kind: StoreKind) async throws {
        let seen = Mutex<Conflict?>(nil)
        let device = try await conflicted(
            kind,
            handlers: [
                ConflictClosure { conflict in
                    seen.withLock { $0 = conflict }
                    return .next
                }
            ])
        _ = try await device.context.push()
        let conflict = try #require(seen.withLock { $0 })
        #expect(conflict.client?["text"] == "mine" && conflict.server?["text"] == "theirs")
        #expect(conflict.base?["text"] == "base" && !conflict.maybeApplied && conflict.status == 412)
    }

    static let decisions: [(ConflictDecision, String?)] = [
        (.server, "theirs"), (.client, "mine"), (.merge(["text": "both"]), "both"), (.delete, nil),
        (.discard, "theirs"),
    ]

    @Test("each decision ends with both sides equal", arguments: StoreKind.allCases, 0..<5)
    func decide(_ kind: StoreKind, _ index: Int) async throws {
        let (decision, text) = Self.decisions[index]
        let device = try await conflicted(kind, handlers: [ConflictClosure { _ in decision }])
        let result = try await device.context.push()
        #expect(result.isClean, "\(result)")
        #expect(device.remote("a")?["text"]?.string == text)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.states() == 0)
        let sent = device.server.requests.filter { $0.isWrite }
        #expect(sent.allSatisfy { $0.head.headerFields[.ifMatch] != nil }, "never without a version")
    }

    @Test("a client that wins leaves the properties that it was made without", arguments: StoreKind.allCases)
    func unseenProperties(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed(
            "todos", [["id": "a", "text": "base", "n": 1], ["id": "new", "text": "theirs", "owner": "ben"]])
        try await device.todos.pull()
        try await device.todos.purge()
        try await device.todos.insert(["id": "new", "text": "mine"])
        #expect(try await device.context.push().isClean)
        let expected: JSON = ["id": "new", "text": "mine", "owner": "ben"]
        #expect(device.remote("new") == expected)
        #expect(try await device.local("new")?["owner"] == "ben")
    }

    @Test("the policies", arguments: StoreKind.allCases, [ConflictPolicy.serverWins, .clientWins])
    func policies(_ kind: StoreKind, _ policy: ConflictPolicy) async throws {
        let device = try await conflicted(kind, policy: policy)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] == (policy == .serverWins ? "theirs" : "mine"))
    }

    @Test("abort blocks the rest of the push and loses nothing", arguments: StoreKind.allCases)
    func abort(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind, handlers: [ConflictClosure { _ in .abort }])
        try await device.todos.update(["id": "b", "text": "other"])
        let result = try await device.context.push()
        #expect(result.end == .aborted && result.applied == 0)
        #expect(try await device.queue() == ["update a parked", "update b pending"])
    }

    @Test("defer waits for the next push", arguments: StoreKind.allCases)
    func deferred(_ kind: StoreKind) async throws {
        let count = Mutex(0)
        let device = try await conflicted(
            kind,
            handlers: [
                ConflictClosure { _ in
                    count.withLock {
                        $0 += 1
                        return $0 == 1 ? .defer : .client
                    }
                }
            ])
        #expect(try await device.context.push().remaining == 1)
        #expect(try await device.queue() == ["update a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] == "mine")
    }

    @Test("a handler that throws holds the operation with the reason", arguments: StoreKind.allCases)
    func throwing(_ kind: StoreKind) async throws {
        struct Oops: Error {}
        let device = try await conflicted(kind, handlers: [ConflictClosure { _ in throw Oops() }])
        let result = try await device.context.push()
        #expect(result.failures.first?.failure?.message.contains("Oops") == true)
        #expect(try await device.queue() == ["update a parked"])
    }

    @Test("an edit made while the handler thinks is kept on top of its decision", arguments: StoreKind.allCases, 0..<5)
    func editDuringDecision(_ kind: StoreKind, _ index: Int) async throws {
        let (decision, text) = Self.decisions[index]
        let table = Mutex<SyncTable<JSON>?>(nil)
        let device = try await conflicted(
            kind,
            handlers: [
                ConflictClosure { _ in
                    if let todos = table.withLock({
                        let todos = $0
                        $0 = nil
                        return todos
                    }) {
                        try await todos.update(["id": "a", "n": 2])
                    }
                    return decision
                }
            ])
        table.withLock { $0 = device.todos }
        let result = try await device.context.push()
        #expect(result.isClean, "\(result)")
        #expect(device.remote("a")?["n"] == 2)
        if let text { #expect(device.remote("a")?["text"]?.string == text) }
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("a record deleted on the server: each decision", arguments: StoreKind.allCases, 0..<5)
    func deletedOnServer(_ kind: StoreKind, _ index: Int) async throws {
        let (decision, _) = Self.decisions[index]
        let device = try await Device(
            kind,
            handlers: [
                ConflictClosure { conflict in
                    #expect(conflict.isDeletedOnServer)
                    return decision
                }
            ])
        device.server.seed("todos", [["id": "a", "text": "base"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.softDelete("todos", "a")
        let result = try await device.context.push()
        #expect(result.isClean, "\(result)")
        let expected: String? =
            switch decision {
            case .client: "mine"
            case .merge: "both"
            default: nil
            }
        #expect(device.remote("a")?["text"]?.string == expected)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.states() == 0)
    }

    @Test(
        "a record that is gone from the server without a trace is made again for the client",
        arguments: StoreKind.allCases)
    func goneFromServer(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "text": "base", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.hardDelete("todos", "a")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "text": "mine", "n": 1])
    }

    @Test(
        "a delete that meets an edit: server restores the row, client deletes it", arguments: StoreKind.allCases,
        [ConflictPolicy.serverWins, .clientWins])
    func deleteConflict(_ kind: StoreKind, _ policy: ConflictPolicy) async throws {
        let device = try await Device(kind, policy: policy)
        device.server.seed("todos", [["id": "a", "text": "base"]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] == (policy == .serverWins ? "theirs" : nil))
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("a conflict that comes back again and again is held after five rounds", arguments: StoreKind.allCases)
    func loopGuard(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind, policy: .clientWins)
        let server = device.server
        let n = Mutex(100)
        server.onRequest { request in
            if request.isWrite {
                server.seed(
                    "todos",
                    [
                        [
                            "id": "a",
                            "n": JSON(
                                n.withLock {
                                    $0 += 1
                                    return $0
                                }),
                        ]
                    ])
            }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.remaining == 1)
        #expect(try await device.queue() == ["update a parked"])
        #expect(device.server.requests.filter(\.isWrite).count == OperationSession.maximumRounds + 1)
    }

    @Test("after a send of unknown outcome a conflict says so", arguments: StoreKind.allCases)
    func maybeApplied(_ kind: StoreKind) async throws {
        let seen = Mutex<Bool?>(nil)
        let device = try await conflicted(
            kind,
            handlers: [
                ConflictClosure { conflict in
                    seen.withLock { $0 = conflict.maybeApplied }
                    return .ask
                }
            ])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        _ = try await device.context.push()
        #expect(seen.withLock { $0 } == true)
    }

    @Test(
        "fields that only one side changed are merged; a field both changed goes on to the policy",
        arguments: StoreKind.allCases)
    func fieldMerge(_ kind: StoreKind) async throws {
        let device = try await Device(kind, handlers: [FieldMerge()])
        device.server.seed("todos", [["id": "a", "text": "base", "n": 1], ["id": "b", "text": "base", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "b", "text": "mine"])
        device.server.seed("todos", [["id": "a", "text": "theirs"], ["id": "b", "text": "theirs"]])
        let result = try await device.context.push()
        #expect(result.conflicts == 2 && result.remaining == 1)
        #expect(device.remote("a") == ["id": "a", "text": "theirs", "n": 2])
        #expect(try await device.queue() == ["update b parked"])
    }

    @Test(
        "discarding a held conflict takes the server's record, and the audit keeps the edit",
        arguments: StoreKind.allCases)
    func discardHeld(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind)
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.discard(operation.id)
        #expect(try await device.local("a")?["text"] == "theirs")
        #expect(try await device.queue().isEmpty)
        #expect(try await device.states() == 0)
        let audit = try await device.store.read { try $0.records(matching: TableQuery(SyncTables.audit.name)) }
        #expect(audit.first?["local"]?["text"] == "mine")
    }

    @Test("an edit of a held record revives its operation", arguments: StoreKind.allCases)
    func editOfHeld(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind)
        _ = try await device.context.push()
        try await device.todos.update(["id": "a", "n": 5])
        #expect(try await device.queue() == ["update a pending"])
    }
}
