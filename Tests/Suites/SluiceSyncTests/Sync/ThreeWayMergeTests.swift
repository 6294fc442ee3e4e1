import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("What only one side changed is that side's, whatever decides the conflict")
struct ThreeWayMergeTests {
    struct Todo: SyncRecord, Hashable {
        static let tableName = "todos"
        var id: String?
        var text: String
        var done = false
        var due: Timestamp?
        var note: String?
    }

    private static let base: JSON = [
        "id": "a", "text": "milk", "done": false, "due": "2027-01-02T03:04:05Z", "note": "n", "other": 1,
    ]
    /// The text is the server's change, and so is the time, which is gone; `done` and `extra` are the client's, and the note
    /// is of both.
    private static let both: JSON = ["id": "a", "text": "oat milk", "done": true, "extra": "c", "other": 2]

    private static let handlers: [@Sendable () -> any ConflictHandler] = [
        { ConflictClosure { $0.client.map { .merge($0) } ?? .next } },
        { ConflictClosure { $0.server.map { .merge($0) } ?? .next } },
        { ConflictClosure { $0.merged.map { .merge($0) } ?? .next } },
        { ConflictClosure { $0.merged.map { .replace($0) } ?? .next } },
        { ConflictClosure { _ in .client } },
        { FieldMerge(preferring: .server) },
        { ConflictClosure(Todo.self) { try $0.client.map($0.merge) ?? .next } },
        { ConflictClosure(Todo.self) { try $0.server.map($0.merge) ?? .next } },
    ]

    private func conflicted(
        _ kind: StoreKind, _ dialect: Dialect, handlers: [any ConflictHandler] = [], policy: ConflictPolicy = .hold
    ) async throws -> Device {
        let device = try await Device(kind, handlers: handlers, policy: policy, dialect: dialect)
        device.server.seed("todos", [Self.base])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "done": true, "note": "client's", "extra": "c"])
        device.server.seed("todos", [["id": "a", "text": "oat milk", "due": .null, "note": "server's", "other": 2]])
        return device
    }

    /// Checks both sides, aside from the note, and the note as it is wanted.
    private func check(_ device: Device, note: String, _ comment: Comment) async throws {
        #expect(try await device.context.push().isClean, comment)
        for record in [device.remote("a"), try await device.local("a")] {
            var record = try #require(record)
            #expect(record["due"] ?? .null == .null, comment)
            #expect(record["note"]?.string == note, comment)
            (record["due"], record["note"]) = (nil, nil)
            #expect(record == Self.both, comment)
        }
    }

    @Test("by a handler, whichever record it begins with", arguments: StoreKind.allCases, 0..<8)
    func handler(_ kind: StoreKind, _ index: Int) async throws {
        for dialect in [Dialect.azureV2, .azureV3, .datasync] {
            let device = try await conflicted(kind, dialect, handlers: [Self.handlers[index]()])
            let note = [1, 5, 7].contains(index) ? "server's" : "client's"
            try await check(device, note: note, "handler \(index), \(dialect)")
            #expect(try await device.context.queue.audit().allSatisfy { $0.what == "merge" })
        }
    }

    @Test("by the policy, and by a decision about a held conflict", arguments: StoreKind.allCases)
    func policy(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind, .azureV2, policy: .clientWins)
        try await check(device, note: "client's", "clientWins")
        #expect(try await device.context.queue.audit().isEmpty)
        for decision in [ConflictDecision.client, .merge(["id": "a", "text": "milk", "note": "client's"])] {
            let device = try await conflicted(kind, .azureV2)
            _ = try await device.context.push()
            let held = try #require(try await device.context.queue.operations().first)
            try await device.context.queue.resolve(held.id, decision)
            if case .client = decision {
                try await check(device, note: "client's", "held")
            } else {
                #expect(try await device.local("a")?["text"] == "oat milk")
            }
        }
    }

    @Test("a record that replaces both takes a change back, and says so in the audit", arguments: StoreKind.allCases)
    func replaced(_ kind: StoreKind) async throws {
        let device = try await conflicted(kind, .azureV2, handlers: [ConflictClosure { _ in .replace(Self.base) }])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == Self.base)
        #expect(try await device.context.queue.audit().map(\.what) == ["merge"])
    }

    @Test("what a handler removes is gone, and two inserts keep what each has made", arguments: StoreKind.allCases)
    func removed(_ kind: StoreKind) async throws {
        let removing = ConflictClosure { conflict in
            var merged = conflict.client ?? .object
            merged["text"] = nil
            return .merge(merged)
        }
        let device = try await conflicted(kind, .azureV2, handlers: [removing])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] ?? .null == .null && device.remote("a")?["other"] == 2)

        let made = try await Device(kind, handlers: [Self.handlers[0]()])
        try await made.todos.insert(["id": "a", "mine": 1, "n": 1])
        made.server.seed("todos", [["id": "a", "theirs": 2, "n": 2]])
        #expect(try await made.context.push().isClean)
        #expect(made.remote("a") == ["id": "a", "mine": 1, "theirs": 2, "n": 1])
    }

    @Test("an own edit that arrived and was taken back here is no change of theirs", arguments: StoreKind.allCases)
    func takenBack(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 0, "m": 0]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 1, "m": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        // Another's edit hides whose the rest of the record is.
        device.server.seed("todos", [["id": "a", "m": 7]])
        try await device.todos.update(["id": "a", "n": 0])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 0)
    }
}
