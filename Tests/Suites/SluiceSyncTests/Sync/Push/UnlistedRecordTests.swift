import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Records that lists leave out and the server shows by their ids")
struct UnlistedRecordTests {
    /// A device with `a` and `b` pulled, whose server leaves `a` out of its lists from now on.
    private func device(_ dialect: Dialect, policy: ConflictPolicy = .hold) async throws -> Device {
        let device = try await Device(.memory, policy: policy, dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull(named: "all")
        hide(device)
        return device
    }

    private func hide(_ device: Device) {
        device.server.onRequest { request in
            guard request.context.action == .read else { return .none }
            var query = try? ModelCall(request).query()
            query?.includesCount = false
            guard let query, let evaluator = try? TableQuery.Evaluator(query, schema: nil) else { return .none }
            let rows = device.server.rows("todos").values.filter { $0["id"] != "a" && evaluator.matches($0) }
            let sorted = rows.sorted { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }
            return .answer(.model(200, JSON(Array(sorted.dropFirst(query.skip).prefix(query.top ?? 50)))))
        }
    }

    @Test("a reconcile keeps a row that changed lately, and asks again", arguments: [Dialect.azureV1, .azureV2])
    func kept(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        let found = try await device.context.reconcile(TableQuery("todos"), named: "all")
        #expect(found.removed == 0)
        #expect(try await device.local("a")?["n"] == 1)
        device.server.clearLog()
        try await device.todos.pull(named: "all")
        #expect(device.server.requests.contains { $0.context.action == .lookup }, "each pull asks for it")
        device.server.onRequest(nil)
        device.server.hardDelete("todos", "a")
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == nil, "it is gone once the server does not show it by its id")
    }

    @Test("a row that left the query is removed although the server shows it by its id")
    func left() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        let query = TableQuery("todos").where(column("n") == 1)
        try await device.context.pull(query, named: "ones")
        device.server.seed("todos", [["id": "a", "n": 2]])
        let found = try await device.context.reconcile(query, named: "ones")
        #expect(found.removed == 1)
        #expect(try await device.local("a") == nil)
    }

    @Test(
        "an update that is answered without a body is judged by the record by its id",
        arguments: [Dialect.azureV2, .azureV3, .datasync])
    func judged(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        let server = device.server
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { request in
            if request.isWrite { return .answerAfter(SyncResponse(HTTPResponse(status: .ok))) }
            guard request.context.action == .read else { return .none }
            return .answer(.model(200, JSON(Array(server.rows("todos").values.filter { $0["id"] == "none" }))))
        }
        let result = try await device.context.push()
        #expect(result.applied == 1 && result.conflicts == 0, "\(result)")
        #expect(try await device.queue() == [])
        #expect(try await device.local("a")?["n"] == 2)
    }
}

@Suite("An update that another has made too")
struct EqualEditTests {
    private struct Adds: ConflictHandler {
        let decidesEqualEdits: Bool

        func decide(_ conflict: Conflict) async throws -> ConflictDecision {
            guard !conflict.maybeApplied, var merged = conflict.merged,
                let (mine, theirs, base) = conflict.numbers
            else { return .ask }
            merged["n"] = JSON(theirs + mine - base)
            return .merge(merged)
        }
    }

    /// Sends a part of each record, on wires that update by PUT too.
    private struct Part: RequestFilter {
        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            var request = request
            if request.context.action == .update, let body = try? request.body.json {
                request.head.method = .patch
                request.body = MessageBody(json: body.without(["text", "other"]))
            }
            return try await next(request)
        }
    }

    private func device(
        _ handlers: [any ConflictHandler], _ dialect: Dialect = .azureV2, filters: [any RequestFilter] = [],
        hooks: [any SyncHook] = []
    ) async throws -> Device {
        let device = try await Device(.memory, handlers: handlers, filters: filters, dialect: dialect) {
            $0.hooks = hooks
        }
        device.server.seed("todos", [["id": "a", "n": 10, "text": "base", "other": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 9])
        device.server.seed("todos", [["id": "a", "n": 9]])
        return device
    }

    @Test("counts as done, without a handler and with one that does not ask for it")
    func done() async throws {
        for handlers in [[], [Adds(decidesEqualEdits: false)]] as [[any ConflictHandler]] {
            let device = try await device(handlers)
            #expect(try await device.context.push().isClean)
            #expect(device.remote("a")?["n"] == 9)
            #expect(try await device.queue() == [])
            #expect(try await device.audit().isEmpty)
        }
    }

    @Test("is decided by a handler that counts equal edits")
    func added() async throws {
        let device = try await device([Adds(decidesEqualEdits: true)])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 8)
        #expect(try await device.local("a")?["n"] == 8)
    }

    /// An update by PUT is made on the server's record, where a hook sees what is pulled.
    @Test("so it is where the record is read before the update is sent")
    func readFirst() async throws {
        for (handlers, result) in [([], 9), ([Adds(decidesEqualEdits: true)], 8)] as [([any ConflictHandler], Int64)] {
            let device = try await device(
                handlers, .datasync, hooks: [TestHook(pull: { page in page.rows.map { _ in .keep } })])
            #expect(try await device.context.push().isClean)
            #expect(device.remote("a")?["n"]?.int == result)
            #expect(try await device.local("a")?["n"]?.int == result)
            #expect(try await device.queue() == [])
        }
    }

    @Test(
        "may be our own where a proxy may repeat a PUT, and is no evidence for the next edit", arguments: [false, true])
    func doubted(_ sendsPart: Bool) async throws {
        let device = try await device([Adds(decidesEqualEdits: true)], .datasync, filters: sendsPart ? [Part()] : [])
        #expect(try await device.context.push().conflicts == 1)
        #expect(try await device.queue() == ["update a parked"])
        try await device.todos.update(["id": "a", "n": 7])
        _ = try await device.context.push()
        #expect(device.remote("a")?["n"] != 7, "the other's counting is not taken for our own send")
        #expect(device.remote("a")?["text"] == "base")
    }
}

@Suite("A new record after a delete that met another's")
struct InsertAfterDeleteTests {
    @Test("is a conflict of its own", arguments: [ConflictPolicy.hold, .serverWins])
    func conflict(_ policy: ConflictPolicy) async throws {
        let device = try await Device(.memory, policy: policy)
        device.server.seed("todos", [["id": "a", "t": "theirs", "u": "theirs"]])
        try await device.todos.insert(["id": "a", "t": "mine"])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try? await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "a")
        try await device.todos.insert(["id": "a", "t": "new"])
        _ = try? await device.context.push()
        if policy == .hold {
            let held = try #require(try await device.context.queue.operations().first)
            #expect(held.kind == .delete)
            try await device.context.queue.resolve(held.id, .server)
            _ = try? await device.context.push()
            #expect(try await device.queue() == ["insert a parked"])
        } else {
            #expect(try await device.queue() == [])
        }
        #expect(device.remote("a") == ["id": "a", "t": "theirs", "u": "theirs"])
    }
}

extension Conflict {
    fileprivate var numbers: (mine: Int64, theirs: Int64, base: Int64)? {
        guard let mine = client?["n"]?.int, let theirs = server?["n"]?.int, let base = base?["n"]?.int else {
            return nil
        }
        return (mine, theirs, base)
    }
}

@Suite("A store whose wire is changed while a send has no answer")
struct ChangedWireTests {
    @Test(
        "the change goes out again under a condition of the new wire",
        arguments: [(Dialect.azureV1, Dialect.azureV2), (.azureV2, .azureV1), (.azureV1, .datasync)], [false, true])
    func conditional(_ wires: (former: Dialect, next: Dialect), _ isForeign: Bool) async throws {
        try await check(wires.former, wires.next, isForeign: isForeign)
    }

    @Test("so it does where the server shows no record by its id, and where hooks change what is pulled")
    func otherwise() async throws {
        for isForeign in [true, false] {
            try await check(.azureV1, .azureV2, isForeign: isForeign) { $0.context.action == .lookup }
            try await check(
                .azureV1, .azureV2, isForeign: isForeign, hooks: [TestHook(pull: { $0.rows.map { _ in .keep } })])
        }
    }

    private func check(
        _ former: Dialect, _ next: Dialect, isForeign: Bool, hooks: [any SyncHook] = [],
        hides: @escaping @Sendable (SyncRequest) -> Bool = { _ in false }
    ) async throws {
        let first = try await Device(.memory, dialect: former)
        first.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await first.todos.pull()
        try await first.todos.update(["id": "a", "n": 2])
        first.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try? await first.context.push()
        if isForeign { first.server.seed("todos", [["id": "a", "n": 3, "m": 1]]) }
        first.server.onRequest { hides($0) ? .answer(.model(404, ["error": "no such route"])) : .none }
        let second = try await Device(
            .memory, server: first.server, store: first.store, dialect: next, adjust: { $0.hooks = hooks })
        first.server.clearLog()
        _ = try await second.context.push()
        #expect(second.remote("a")?["n"] == (isForeign ? 3 : 2), "\(former.name) to \(next.name)")
        #expect(try await second.queue() == (isForeign ? ["update a parked"] : []))
        #expect(
            first.server.requests.filter(\.isWrite).allSatisfy { $0.head.headerFields[.ifMatch] != nil },
            "no write goes without a condition")
    }
}
