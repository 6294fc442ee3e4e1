import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Two users, one store")
struct UsersTests {
    private static let low = TableQuery("todos", filter: .binary(.lt, .column("n"), .literal(.number(JSON.Number(2)))))

    /// Two users of one server, which shows each of them other rows.
    private func devices(
        _ kind: StoreKind, _ server: ServerKind = .sorted, _ users: (String, String) = ("ann", "bob")
    ) async throws -> (Device, Device) {
        let store = try await kind.make()
        let first = try await Device(
            kind, server: server.make(pageSize: 50), store: store, adjust: { $0.user = users.0 })
        let second = try await Device(
            kind, server: server.make(pageSize: 50), store: store, adjust: { $0.user = users.1 })
        return (first, second)
    }

    private func ids(_ device: Device) async throws -> [String] {
        try await device.todos.records().compactMap { $0["id"]?.string }.sorted()
    }

    @Test(
        "the second sees none of the first's rows and all of their own, older ones too, and the result says why",
        arguments: StoreKind.allCases, ServerKind.allCases)
    func rows(_ kind: StoreKind, _ server: ServerKind) async throws {
        for query in [TableQuery("todos"), Self.low] {
            let (ann, bob) = try await devices(kind, server)
            bob.server.seed("todos", (0..<2).map { ["id": JSON("b\($0)"), "n": JSON($0)] })
            // More than a server may have removed unasked.
            ann.server.seed("todos", (0..<150).map { ["id": JSON("a\($0)"), "n": JSON($0 % 2)] })
            #expect(try await ann.todos.pull(query, named: "q").reasons.isEmpty)
            let result = try await bob.todos.pull(query, named: "q")
            #expect(result.reasons == [.otherUser] && result.reconcile != nil)
            #expect(try await ids(bob) == ["b0", "b1"])
            #expect(try await bob.todos.pull(query, named: "q").reasons.isEmpty)
            #expect(try await ann.todos.pull(query, named: "q").reasons == [.otherUser])
            #expect(try await ids(ann).count == 150)
        }
    }

    @Test("another query of the second user keeps its rows when that user's next one begins")
    func severalQueries() async throws {
        let (ann, bob) = try await devices(.memory)
        ann.server.seed("todos", [["id": "a", "n": 0]])
        bob.server.seed("todos", (0..<4).map { ["id": JSON("b\($0)"), "n": JSON($0)] })
        try await ann.todos.pull(Self.low, named: "low")
        try await bob.todos.pull(Self.low, named: "low")
        #expect(try await bob.todos.pull(named: "all").reasons.isEmpty)
        #expect(try await ids(bob) == ["b0", "b1", "b2", "b3"])
    }

    @Test("a push of another user holds an operation, and its own user's push sends it", arguments: StoreKind.allCases)
    func held(_ kind: StoreKind) async throws {
        let (ann, bob) = try await devices(kind)
        try await ann.todos.insert(["id": "a", "n": 1])
        try await bob.todos.insert(["id": "b", "n": 1])
        let push = try await bob.context.push()
        #expect(push.applied == 1 && push.ofOthers == 1 && push.failures.isEmpty)
        #expect(bob.server.rows("todos").keys.sorted() == ["b"])
        #expect(try await bob.context.queue.operations().map(\.user) == ["ann"])
        #expect(try await bob.context.status().ofOthers == 1)
        #expect(try await ann.context.status().ofOthers == 0)
        bob.server.clearLog()
        let pull = try await bob.todos.pull(named: "all")
        #expect(pull.push == nil && !bob.server.requests.contains { $0.isWrite })
        #expect(try await bob.local("a") != nil, "what waits stays")
        #expect(try await ann.context.push().applied == 1)
        #expect(ann.server.rows("todos").keys.sorted() == ["a"])
    }

    @Test(
        "a change that is pushed before the first pull does not leave the other's rows there",
        arguments: StoreKind.allCases)
    func pushedFirst(_ kind: StoreKind) async throws {
        let (ann, bob) = try await devices(kind)
        ann.server.seed("todos", [["id": "a", "n": 1]])
        try await ann.todos.pull(named: "all")
        try await bob.todos.insert(["id": "b", "n": 1])
        #expect(try await bob.context.push().isClean)
        #expect(try await bob.todos.pull(named: "all").reasons == [.otherUser])
        #expect(try await ids(bob) == ["b"])
        #expect(try await bob.todos.pull(named: "all").reasons.isEmpty)
        #expect(try await bob.todos.pull(Self.low, named: "low").reasons.isEmpty)
    }

    @Test("an undelete does not make another's unsent record again")
    func unsent() async throws {
        let (ann, bob) = try await devices(.memory)
        try await ann.todos.insert(["id": "a", "n": 1])
        try await ann.todos.delete(id: "a")
        try await bob.todos.undelete(id: "a")
        #expect(try await bob.local("a") == nil)
        #expect(try await bob.context.queue.operations().map(\.kind) == [.undelete])
    }

    @Test("an edit of another user's change does not become part of it, and waits for it")
    func successor() async throws {
        let (ann, bob) = try await devices(.memory)
        try await ann.todos.insert(["id": "a", "n": 1])
        try await bob.todos.update(["id": "a", "n": 2])
        #expect(try await bob.context.queue.operations().map(\.user) == ["ann", "bob"])
        #expect(try await bob.context.push().applied == 0)
        #expect(try await ann.context.push().applied == 1)
        #expect(ann.server.rows("todos")["a"]?["n"] == 1)
        #expect(try await ann.context.queue.operations().map(\.user) == ["bob"])
        try await ann.todos.insert(["id": "c", "n": 1])
        try await bob.todos.delete(id: "c")
        #expect(try await bob.context.queue.operations().count == 3, "it does not vanish in another's name")
    }

    @Test("nobody has another's operation say something else, and whoever takes it over may")
    func othersWords() async throws {
        let (ann, bob) = try await devices(.memory)
        bob.server.seed("todos", [["id": "b", "n": 1]])
        try await bob.todos.pull()
        try await ann.todos.update(["id": "b", "n": 2])
        let operation = try #require(try await bob.context.queue.operations().first)
        let edit = await #expect(throws: SluiceError.self) {
            try await bob.context.queue.edit(operation.id, to: ["id": "b", "n": 3])
        }
        let kind = await #expect(throws: SluiceError.self) {
            try await bob.context.queue.changeKind(operation.id, to: .delete)
        }
        for error in [edit, kind] {
            #expect(error?.code == .operationRefused && error?.message.contains("take it over first") == true)
        }
        #expect(try await bob.context.queue.operations() == [operation])
        #expect(try await bob.context.queue.takeOver() == 1)
        try await bob.context.queue.edit(operation.id, to: ["id": "b", "n": 3])
        #expect(try await bob.context.push().isClean)
        #expect(bob.remote("b")?["n"] == 3)
    }

    @Test("a conflict of another's is decided for one of the two records, and by its maker alone in another way")
    func othersConflict() async throws {
        for decision in [ConflictDecision.merge(["id": "b", "n": 9]), .delete, .client, .server] {
            let store = try await StoreKind.memory.make()
            let server = ServerKind.sorted.make(pageSize: 50)
            let (ann, bob) = (
                try await Device(.memory, server: server, policy: .hold, store: store, adjust: { $0.user = "ann" }),
                try await Device(.memory, server: server, policy: .hold, store: store, adjust: { $0.user = "bob" })
            )
            server.seed("todos", [["id": "b", "n": 1]])
            try await ann.todos.pull()
            try await ann.todos.update(["id": "b", "n": 2])
            server.seed("todos", [["id": "b", "n": 5]])
            _ = try await ann.context.push()
            let operation = try #require(try await bob.context.queue.operations().first)
            #expect(operation.state == .parked)
            if decision.changesContent {
                let error = await #expect(throws: SluiceError.self) {
                    try await bob.context.queue.resolve(operation.id, decision)
                }
                #expect(error?.code == .operationRefused)
                try await ann.context.queue.resolve(operation.id, decision)
            } else {
                try await bob.context.queue.resolve(operation.id, decision)
            }
        }
    }

    @Test("what nobody in particular has changed is sent by whoever pushes, and becomes theirs who edit it")
    func nobodys() async throws {
        let (_, bob) = try await devices(.memory)
        let nobody = try await SyncContext(store: bob.store)
        try await nobody.table("todos").insert(["id": "a", "n": 1])
        try await nobody.table("todos").insert(["id": "b", "n": 1])
        try await bob.todos.update(["id": "b", "n": 2])
        #expect(try await bob.context.queue.operations().map(\.user) == ["", "bob"])
        #expect(try await bob.context.push().applied == 2)
    }

    @Test("a user takes changes over that another name made, and the audit knows")
    func takenOver() async throws {
        let (ann, bob) = try await devices(.memory)
        try await ann.todos.insert(["id": "a", "n": 1])
        #expect(try await bob.context.queue.takeOver() == 1)
        #expect(try await bob.context.queue.takeOver() == 0)
        #expect(try await bob.context.queue.audit().map(\.what) == ["take over"])
        #expect(try await bob.context.push().isClean)
    }

    @Test("a refusal of another user's credentials ends with a take over, and a refusal of the change does not")
    func takenOverRefusal() async throws {
        for (status, isTried) in [(403, true), (400, false)] {
            let (ann, bob) = try await devices(.memory)
            try await ann.todos.insert(["id": "a", "n": 1])
            ann.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .none }
            #expect(try await ann.context.push().failures.count == 1)
            ann.server.onRequest(nil)
            #expect(try await bob.context.queue.takeOver() == 1)
            #expect(try await bob.context.push().applied == (isTried ? 1 : 0))
        }
    }

    @Test("an operation keeps its user in the store and in an export")
    func kept() async throws {
        let (ann, bob) = try await devices(.sqlite)
        try await ann.todos.insert(["id": "a", "n": 1])
        let operation = try #require(try await ann.context.queue.operations().first)
        #expect(try TableOperation(record: operation.record) == operation)
        let lines = try await ann.context.queue.export()
        let other = try await Device(.memory, adjust: { $0.user = "bob" })
        try await other.context.queue.`import`(lines)
        #expect(try await other.context.queue.operations().map(\.user) == ["ann"])
        #expect(try await other.context.push().applied == 0)
        _ = bob
    }

    @Test("a store knows the users that it holds something of")
    func users() async throws {
        let (ann, bob) = try await devices(.memory)
        #expect(try await StoreUsers(ann.store).current == nil)
        for device in [ann, bob] { device.server.seed("todos", [["id": "a", "n": 1]]) }
        try await ann.todos.pull(named: "all")
        #expect(try await StoreUsers(ann.store).current == "ann")
        try await bob.todos.insert(["id": "b"])
        #expect(try await StoreUsers(ann.store).known == ["ann", "bob"])
        #expect(try await StoreUsers(ann.store).current == "ann")
        try await bob.todos.pull(named: "all")
        #expect(try await StoreUsers(ann.store).current == "bob")
    }

    /// The composed and the decomposed form of a letter: Swift's `String` takes them for equal.
    private static let forms = ("ren\u{e9}", "rene\u{301}")

    @Test("two names that differ in the form of a letter are two users for the queue", arguments: StoreKind.allCases)
    func formsInQueue(_ kind: StoreKind) async throws {
        let (first, second) = try await devices(kind, .sorted, Self.forms)
        try await first.todos.insert(["id": "a", "n": 1])
        try await second.todos.update(["id": "a", "n": 2])
        try await first.todos.insert(["id": "b", "n": 1])
        #expect(try await second.context.queue.operations().count == 3, "no edit becomes part of another's")
        #expect(try await StoreUsers(first.store).known.count == 2)
        let operation = try #require(try await second.context.queue.operations().first)
        await #expect(throws: SluiceError.self) {
            try await second.context.queue.edit(operation.id, to: ["id": "a", "n": 3])
        }
        let push = try await second.context.push()
        #expect(push.applied == 0 && push.ofOthers == 2)
        #expect(second.server.rows("todos").isEmpty)
        #expect(try await first.context.push().applied == 2)
        #expect(first.server.rows("todos")["a"]?["n"] == 1)
        var taken = operation
        taken.user = Self.forms.1
        #expect(taken != operation)
    }

    @Test("and for what was pulled", arguments: StoreKind.allCases, ServerKind.allCases)
    func formsInPulls(_ kind: StoreKind, _ server: ServerKind) async throws {
        for query in [TableQuery("todos"), Self.low] {
            let (first, second) = try await devices(kind, server, Self.forms)
            first.server.seed("todos", [["id": "a", "n": 0]])
            second.server.seed("todos", [["id": "b", "n": 0]])
            #expect(try await first.todos.pull(query, named: "q").reasons.isEmpty)
            #expect(try await StoreUsers(first.store).current.map { Array($0.utf8) } == Array(Self.forms.0.utf8))
            #expect(try await second.todos.pull(query, named: "q").reasons == [.otherUser])
            #expect(try await ids(second) == ["b"])
            #expect(try await StoreUsers(first.store).current.map { Array($0.utf8) } == Array(Self.forms.1.utf8))
            #expect(try await StoreUsers(first.store).known.count == 2)
            #expect(try await first.todos.pull(query, named: "q").reasons == [.otherUser])
            #expect(try await ids(first) == ["a"])
        }
    }
}
