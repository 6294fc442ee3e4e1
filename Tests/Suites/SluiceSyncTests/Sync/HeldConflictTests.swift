import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Conflicts that are held are decided later, by whoever looks at them")
struct HeldConflictTests {
    private func held(_ kind: StoreKind) async throws -> (Device, TableOperation) {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "base", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        _ = try await device.context.push()
        return (device, try #require(try await device.context.queue.operations().first))
    }

    private static let decisions: [(ConflictDecision, String?)] = [
        (.server, "theirs"), (.client, "mine"), (.merge(["text": "both"]), "both"), (.delete, nil),
        (.discard, "theirs"),
    ]

    @Test("each decision ends with both sides equal", arguments: StoreKind.allCases, 0..<5)
    func decide(_ kind: StoreKind, _ index: Int) async throws {
        let (device, operation) = try await held(kind)
        let (decision, text) = Self.decisions[index]
        try await device.context.queue.resolve(operation.id, decision, revision: operation.revision)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"]?.string == text)
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.states() == 0)
    }

    @Test("a decision on what has changed since is refused", arguments: StoreKind.allCases)
    func stale(_ kind: StoreKind) async throws {
        let (device, operation) = try await held(kind)
        let queue = device.context.queue
        for decision in [ConflictDecision.next, .ask, .defer, .abort] {
            let error = await #expect(throws: SluiceError.self) { try await queue.resolve(operation.id, decision) }
            #expect(error?.code == .invalidArgument)
        }
        let edited = await #expect(throws: SluiceError.self) {
            try await queue.resolve(operation.id, .client, revision: operation.revision + 1)
        }
        #expect(edited?.code == .operationRefused)
        device.server.seed("todos", [["id": "a", "text": "newer"]])
        try await device.todos.pull()
        let moved = await #expect(throws: SluiceError.self) { try await queue.resolve(operation.id, .client) }
        #expect(moved?.code == .operationRefused)
        try await queue.retry(operation.id)
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().first?.failure?.serverRecord?["text"] == "newer")
        try await queue.resolve(operation.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] == "mine")
    }

    @Test(
        "a conflict with a deleted record of any wire is decided by a context without a client", arguments: Dialect.all)
    func unknownWire(_ dialect: Dialect) async throws {
        let server = ModelServer()
        let transport: any Transport = dialect.columns.version == "version" ? server : FormerNames(server: server)
        let device = try await Device(.memory, server: server, transport: transport, dialect: dialect)
        server.seed("todos", [["id": "a", "text": "base"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        server.softDelete("todos", "a")
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        let other = try await SyncContext(store: device.store)
        try await other.queue.resolve(operation.id, .server)
        #expect(try await device.context.queue.operations().isEmpty)
        #expect(try await device.local("a") == nil)
    }

    /// They would make the record again, as it is seen here.
    @Test("a record is not deleted while later changes of it wait", arguments: StoreKind.allCases)
    func laterChanges(_ kind: StoreKind) async throws {
        let (device, operation) = try await held(kind)
        try await device.todos.update(["id": "a", "n": 7], options: OperationOptions(isMergeable: false))
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.resolve(operation.id, .delete)
        }
        #expect(error?.code == .operationRefused && error?.message.contains("discard those first") == true)
        let last = try #require(try await device.context.queue.operations().last)
        try await device.context.queue.discard(last.id)
        try await device.context.queue.resolve(operation.id, .delete)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
    }

    @Test("an operation that is no conflict is not decided", arguments: StoreKind.allCases)
    func noConflict(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a"])
        let operation = try #require(try await device.context.queue.operations().first)
        let error = await #expect(throws: SluiceError.self) {
            try await device.context.queue.resolve(operation.id, .client)
        }
        #expect(error?.code == .operationRefused)
    }

    @Test("a decision for an operation that was edited meanwhile writes nothing", arguments: StoreKind.allCases)
    func checkedAgain(_ kind: StoreKind) async throws {
        let (device, operation) = try await held(kind)
        try await device.context.queue.retry(operation.id)
        let stale = operation
        try await device.todos.update(["id": "a", "n": 7])
        let conflict = Conflict(
            operation: stale, client: ["id": "a", "text": "mine"], server: ["id": "a", "version": "v9"], base: nil,
            maybeApplied: false, status: 412, isDeletedOnServer: false)
        let committer = PushCommitter(
            columns: device.context.dialect.pushColumns, environment: device.context.options.environment)
        let before = try await device.context.queue.operations()
        try await device.store.write {
            _ = try committer.write(
                .decided(PushItem(operation: stale, local: conflict.client, base: nil), conflict, .server), in: $0)
        }
        #expect(try await device.context.queue.operations() == before)
        #expect(try await device.local("a") == ["id": "a", "text": "mine", "n": 7])
    }

    @Test("handlers run outside of every transaction: they may read and write the store", arguments: StoreKind.allCases)
    func outside(_ kind: StoreKind) async throws {
        let todos = Mutex<SyncTable<JSON>?>(nil)
        let device = try await Device(
            kind,
            handlers: [
                ConflictClosure { conflict in
                    let table = todos.withLock { $0 }
                    try await table?.insert(["id": "log", "about": JSON(conflict.recordID)])
                    return try await table?.lookup(id: "log") == nil ? .ask : .server
                }
            ])
        todos.withLock { $0 = device.todos }
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.seed("todos", [["id": "a", "n": 3]])
        #expect(try await device.context.push().waiting == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("log")?["about"] == "a")
    }

    @Test("the server's decision for one of a group gives the whole group up", arguments: StoreKind.allCases)
    func group(_ kind: StoreKind) async throws {
        let device = try await Device(kind, batchSize: 10)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.context.group { group in
            try group.update(["id": "a", "n": 2], in: "todos")
            try group.update(["id": "b", "n": 2], in: "todos")
        }
        let operations = try await device.context.queue.operations()
        try await device.store.write { writer in
            let queue = QueueWriter(writer)
            for var operation in operations {
                let state = try queue.reader.state(of: operation.recordID, in: "todos")
                operation.state = .parked
                operation.failure = .init(code: "conflict", message: "", status: 412, serverRecord: state?.mirror)
                try queue.put(operation)
            }
        }
        try await device.context.queue.resolve(operations[0].id, .server)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.local("b")?["n"] == 1)
        #expect(try await device.audit().count == 2)
    }

    @Test("a conflict is judged by the record as it came, and told without credentials", arguments: StoreKind.allCases)
    func judged(_ kind: StoreKind) async throws {
        for (name, decides) in [("X-Tenant", true), ("X-Tenant", false), ("X-Api-Key", true), ("X-Api-Key", false)] {
            let tenant = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
            let signed = Tap { request, next in
                var request = request
                request.head.headerFields[field(name)] = tenant
                return try await next(request)
            }
            let device = try await Device(
                kind, handlers: decides ? [FieldMerge(preferring: .client)] : [], filters: [signed])
            device.server.seed("todos", [["id": "a", "tenant": JSON(tenant), "n": 1, "m": 1]])
            try await device.todos.pull()
            device.server.seed("todos", [["id": "a", "n": 5]])
            try await device.todos.update(["id": "a", "n": 2])
            var result = try await device.context.push()
            #expect(result.conflicts == 1)
            if !decides {
                let failure = try #require(result.failures.first?.failure)
                #expect(failure.serverRecord?["n"] == 5)
                #expect(failure.serverRecord?["tenant"] == (name == "X-Tenant" ? JSON(tenant) : "(hidden)"))
                try await device.context.queue.resolve(try #require(result.failures.first?.id), .client)
                result = try await device.context.push()
            }
            #expect(result.isClean, "\(name): \(result)")
            #expect(device.remote("a") == ["id": "a", "tenant": JSON(tenant), "n": 2, "m": 1])
        }
    }
}
