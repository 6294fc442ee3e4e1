import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// One test for each sentence of "what counts as done", with the history that breaks an engine without it.
@Suite("What counts as done")
struct CountsAsDoneTests {
    /// A device with `a` and `b` pulled.
    private func device(_ kind: StoreKind, handlers: [any ConflictHandler] = []) async throws -> Device {
        let device = try await Device(kind, handlers: handlers)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        device.server.clearLog()
        return device
    }

    private func weakly(_ status: Int, _ body: JSON) -> SyncResponse {
        var response = SyncResponse.model(status, body)
        response.head.headerFields[.eTag] = "W/\"hash-of-the-echo\""
        return response
    }

    @Test("a body without a server version is no evidence", arguments: StoreKind.allCases, [200, 409])
    func bodyWithoutVersion(_ kind: StoreKind, _ status: Int) async throws {
        // The server says so and has done nothing: it echoes what it was sent.
        let device = try await device(kind)
        device.server.seed("todos", [["id": "c", "n": 9]])
        try await device.todos.insert(["id": "c", "n": 1])
        device.server.onRequest { request in
            guard request.isWrite, let body = try? request.body.json else { return .none }
            return .answer(.model(status, body))
        }
        let result = try await device.context.push()
        #expect(result.applied == 0 && result.remaining == 1)
        #expect(try await device.local("c")?["n"] == 1)
        #expect(device.server.requests.contains { $0.head.method == .get }, "it was read back")
    }

    @Test("a weak ETag is no version", arguments: StoreKind.allCases, [200, 409])
    func weakETag(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await device(kind)
        device.server.seed("todos", [["id": "c", "n": 9]])
        try await device.todos.insert(["id": "c", "n": 1])
        let answer = weakly(status, ["id": "c", "n": 1])
        device.server.onRequest { $0.isWrite ? .answer(answer) : .none }
        let result = try await device.context.push()
        #expect(result.applied == 0 && result.remaining == 1)
        #expect(try await device.local("c")?["n"] == 1)
    }

    @Test("409 or 412 whose record equals the sealed body is done", arguments: StoreKind.allCases, [409, 412])
    func equalRecord(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        let row = try #require(device.server.rows("todos")["a"])
        device.server.onRequest { $0.isWrite ? .answer(.model(status, row)) : .none }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0)
        #expect(try await device.todos.lookup(id: "a") == row)
    }

    @Test(
        "409 to an insert without evidence: the id is read back by list, where the by-id route hides a deleted row",
        arguments: StoreKind.allCases)
    func insertReadBack(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        device.server.softDelete("todos", "a")
        device.server.seed("todos", [["id": "c", "n": 1]])
        device.server.softDelete("todos", "c")
        try await device.todos.insert(["id": "c", "n": 5])
        device.server.onRequest { request in
            request.head.method == .post && request.head.path == "/tables/todos" ? .answer(.model(409, nil)) : .none
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("c") == ["id": "c", "n": 5])
        let reads = device.server.requests.filter { $0.head.method == .get }.compactMap(\.head.path)
        #expect(reads.count == 1 && reads[0].contains("__includeDeleted=true") && !reads[0].contains("/todos/"))
    }

    @Test(
        "404 or 410 to a delete is done if the list shows it no more, and a wrong address does not empty the queue",
        arguments: StoreKind.allCases, [404, 410])
    func deleteOfGone(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await device(kind)
        for id in ["a", "b"] { try await device.todos.delete(id: id) }
        device.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .answer(.model(404, nil)) }
        let wrong = try await device.context.push()
        #expect(wrong.remaining == 2 && wrong.applied == 0)
        device.server.hardDelete("todos", "a")
        device.server.softDelete("todos", "b")
        device.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .none }
        #expect(try await device.context.push().isClean)
    }

    @Test("409 or 412 to a delete that shows deleted: true is done", arguments: StoreKind.allCases, [409, 412])
    func deleteOfDeleted(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await device(kind)
        try await device.todos.delete(id: "a")
        device.server.softDelete("todos", "a")
        let row = try #require(device.server.rows("todos")["a"])
        device.server.onRequest { $0.isWrite ? .answer(.model(status, row)) : .none }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0 && device.server.requests.count == 1)
    }

    @Test(
        "404 or 410 to an update, and 200 that shows deleted: true, are a conflict whose server side is deleted",
        arguments: StoreKind.allCases, [404, 410, 200])
    func updateOfGone(_ kind: StoreKind, _ status: Int) async throws {
        let seen = Recorder<Bool>()
        let handler = ConflictClosure { conflict in
            seen.add(conflict.isDeletedOnServer)
            return .ask
        }
        let device = try await device(kind, handlers: [handler])
        try await device.todos.update(["id": "a", "n": 2])
        device.server.softDelete("todos", "a")
        let row = try #require(device.server.rows("todos")["a"])
        device.server.onRequest { $0.isWrite ? .answer(.model(status, status == 200 ? row : nil)) : .none }
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && seen.all == [true])
        #expect(try await device.local("a")?["n"] == 2, "the edit is not lost")
        #expect(try await device.queue() == ["update a parked"])
    }

    @Test("a 412 whose body is no record stays an error, and the operation waits", arguments: StoreKind.allCases)
    func emptyPreconditionFailed(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .answer(.model(412, ["error": "changed"])) : .none }
        let result = try await device.context.push()
        #expect(result.conflicts == 0 && result.failures.first?.failure?.code == "preconditionFailed")
        #expect(try await device.queue() == ["update a pending"])
    }

    @Test(
        "after a send of unknown outcome a conflict says maybeApplied, so that a rule that adds does not add twice",
        arguments: StoreKind.allCases)
    func maybeApplied(_ kind: StoreKind) async throws {
        let adding = ConflictClosure { conflict in
            guard !conflict.maybeApplied, let mine = conflict.client?["n"]?.int, let base = conflict.base?["n"]?.int,
                let theirs = conflict.server?["n"]?.int
            else { return .ask }
            return .merge(["n": JSON(theirs + mine - base)])
        }
        let device = try await device(kind, handlers: [adding])
        try await device.todos.update(["id": "a", "n": 3])
        // The answer is lost, and another adds 10 on top of what arrived: 1 + 2 + 10.
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.seed("todos", [["id": "a", "n": 13]])
        device.server.onRequest(nil)
        _ = try await device.context.push()
        #expect(device.remote("a")?["n"] == 13, "it was not added twice")
        #expect(try await device.queue() == ["update a parked"])
        // Without a lost answer the rule adds.
        try await device.todos.update(["id": "b", "n": 3])
        device.server.seed("todos", [["id": "b", "n": 11]])
        _ = try await device.context.push()
        #expect(device.remote("b")?["n"] == 13)
    }

    @Test(
        "fields that a filter changed on the way out are not rebased into the local record",
        arguments: StoreKind.allCases)
    func redacted(_ kind: StoreKind) async throws {
        let redact = Tap { request, next in
            var request = request
            if request.isWrite, var body = try? request.body.json, body["secret"] != nil {
                body["secret"] = "***"
                request.body = MessageBody(json: body)
            }
            return try await next(request)
        }
        let device = try await Device(kind, filters: [redact])
        try await device.todos.insert(["id": "a", "n": 1, "secret": "4711"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["secret"] == "***")
        #expect(try await device.local("a")?["secret"] == "4711")
    }
}
