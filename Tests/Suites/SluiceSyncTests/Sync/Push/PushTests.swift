import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Push: what waits reaches the server once")
struct PushTests {
    @Test(
        "inserts, updates and deletes reach the server in order, and the records settle", arguments: StoreKind.allCases)
    func happyPath(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"], ["id": "b", "text": "old"]])
        try await device.todos.pull()
        device.server.clearLog()
        try await device.todos.insert(["id": "c", "text": "new"])
        try await device.todos.update(["id": "a", "text": "changed"])
        try await device.todos.delete(id: "b")
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 3)
        #expect(device.server.calls == ["POST /tables/todos", "PATCH /tables/todos/a", "DELETE /tables/todos/b"])
        #expect(device.remote("a")?["text"] == "changed")
        #expect(device.remote("b") == nil)
        #expect(device.remote("c")?["text"] == "new")
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
        #expect(try await device.todos.lookup(id: "c") == device.server.rows("todos")["c"])
        #expect(try await device.states() == 0)
    }

    @Test("an update sends what changed, with the version it was made on", arguments: StoreKind.allCases)
    func updateSendsChanges(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old", "price": JSON(JSON.Number(text: "1.10")!), "n": 1]])
        try await device.todos.pull()
        let version = try #require(try await device.todos.lookup(id: "a")?["version"]?.string)
        try await device.todos.update(["id": "a", "text": "changed", "n": 1])
        try await device.context.push()
        let patch = try #require(device.server.requests.last)
        #expect(patch.head.headerFields[.ifMatch] == "\"\(version)\"")
        #expect(try patch.body.json == ["id": "a", "text": "changed"])
        #expect(device.server.rows("todos")["a"]?["price"]?.number?.description == "1.10")
    }

    @Test("an edit that is taken back before the push says nothing to the server", arguments: StoreKind.allCases)
    func revertedEdit(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"]])
        try await device.todos.pull()
        device.server.clearLog()
        try await device.todos.update(["id": "a", "text": "new"])
        try await device.todos.update(["id": "a", "text": "old"])
        #expect(try await device.context.push().isClean)
        #expect(device.server.calls.isEmpty)
    }

    @Test("a write during the send becomes a successor and is rebased under the answer", arguments: StoreKind.allCases)
    func successor(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old", "done": false]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "first"])
        let todos = device.todos
        let edited = Mutex(false)
        device.server.onRequest { request in
            if request.isWrite,
                edited.withLock({
                    let was = $0
                    $0 = true
                    return !was
                })
            {
                _ = try? await todos.update(["id": "a", "done": true])
            }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 2 && result.conflicts == 0)
        #expect(device.remote("a") == ["id": "a", "text": "first", "done": true])
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
        let bodies = try device.server.requests.filter(\.isWrite).map { try $0.body.json }
        #expect(bodies == [["id": "a", "text": "first"], ["id": "a", "done": true]])
    }

    @Test("a delete during the send of an insert follows it", arguments: StoreKind.allCases)
    func deleteDuringInsert(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "new"])
        let todos = device.todos
        device.server.onRequest { request in
            if request.head.method == .post { try? await todos.delete(id: "a") }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
        #expect(try await device.local("a") == nil)
        #expect(device.server.calls == ["POST /tables/todos", "DELETE /tables/todos/a"])
    }

    @Test(
        "a lost answer is recognised, whatever the operation", arguments: StoreKind.allCases,
        TableOperation.Kind.allCases)
    func lostAnswer(_ kind: StoreKind, _ operation: TableOperation.Kind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"], ["id": "gone", "text": "x"]])
        try await device.todos.pull()
        device.server.softDelete("todos", "gone")
        try await device.todos.pull(named: "all")
        switch operation {
        case .insert: try await device.todos.insert(["id": "new", "text": "mine"])
        case .update: try await device.todos.update(["id": "a", "text": "mine"])
        case .delete: try await device.todos.delete(id: "a")
        case .undelete: try await device.todos.undelete(id: "gone")
        }
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        let first = try await device.context.push()
        #expect(first.end == .network && first.remaining == 1)
        device.server.onRequest(nil)
        let versions = device.server.rows("todos").mapValues { $0["version"] }
        let second = try await device.context.push()
        #expect(second.isClean && second.conflicts == 0, "\(second)")
        if operation != .undelete {
            #expect(device.server.rows("todos").mapValues { $0["version"] } == versions, "nothing was done twice")
        }
        #expect(try await device.states() == 0)
        let id = operation == .insert ? "new" : operation == .undelete ? "gone" : "a"
        #expect(try await device.local(id) == device.remote(id))
    }

    @Test("an edit after a lost answer goes on top of what arrived", arguments: StoreKind.allCases)
    func editAfterLostAnswer(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "text": "two"])
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0)
        #expect(device.remote("a") == ["id": "a", "text": "two", "n": 1])
    }

    @Test("an insert that was sent and deleted is deleted on the server too", arguments: StoreKind.allCases)
    func insertSentThenDeleted(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.delete(id: "a")
        #expect(try await device.queue() == ["delete a pending"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
    }

    @Test("without network the push ends and everything waits", arguments: StoreKind.allCases)
    func offline(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        try await device.todos.insert(["id": "b", "text": "two"])
        device.server.onRequest { _ in .loseRequest }
        let result = try await device.context.push()
        #expect(result.end == .network && result.applied == 0 && result.remaining == 2)
        #expect(device.server.requests.count == 1)
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos").count == 2)
    }

    @Test("credentials that are refused end the push", arguments: StoreKind.allCases)
    func unauthorized(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        try await device.todos.insert(["id": "b", "text": "two"])
        device.server.onRequest { _ in .answer(.model(401, nil)) }
        let result = try await device.context.push()
        #expect(result.end == .unauthorized && result.remaining == 2)
        #expect(device.server.requests.count == 1)
    }

    @Test(
        "what the server refuses is parked with the reason, and the others go on", arguments: StoreKind.allCases,
        [400, 403, 404, 413, 422])
    func refused(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "bad", "text": "one"])
        try await device.todos.insert(["id": "good", "text": "two"])
        device.server.onRequest { request in
            (try? request.body.json["id"]) == "bad" ? .answer(.model(status, ["error": "no such thing"])) : .none
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 1 && result.failures.map(\.recordID) == ["bad"])
        let failed = try #require(try await device.context.queue.operations().first)
        #expect(failed.state == .parked && failed.failure?.status == status)
        #expect(failed.failure?.message.contains("no such thing") == true)
        #expect(try await device.local("bad") != nil)
    }

    @Test("what the server cannot do now waits for the next push", arguments: StoreKind.allCases, [500, 503])
    func serverFailure(_ kind: StoreKind, _ status: Int) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        device.server.onRequest { _ in .answer(.model(status, nil)) }
        let result = try await device.context.push()
        #expect(result.failures.count == 1)
        #expect(try await device.queue() == ["insert a pending"])
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
    }

    @Test("an answer of 500 after the server did it is recognised", arguments: StoreKind.allCases)
    func failureAfterApply(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        device.server.onRequest { _ in .answerAfter(.model(500, nil)) }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos").count == 1)
    }

    @Test("a 409 that echoes the request proves nothing: the record is read back", arguments: StoreKind.allCases)
    func echo(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        try await device.todos.insert(["id": "a", "text": "mine"])
        device.server.onRequest { request in
            guard request.isWrite, let body = try? request.body.json else { return .none }
            return .answer(.model(409, body))
        }
        let result = try await device.context.push()
        #expect(result.conflicts == 1)
        #expect(device.remote("a")?["text"] == "theirs")
        #expect(try await device.local("a")?["text"] == "mine")
        let failure = try #require(try await device.context.queue.operations().first?.failure)
        #expect(failure.serverRecord?["text"] == "theirs")
    }

    @Test("a 412 without a record stays an error, and the operation stays", arguments: StoreKind.allCases)
    func emptyPreconditionFailed(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        for body in [nil, JSON("text"), ["error": "changed"]] as [JSON?] {
            device.server.onRequest { $0.isWrite ? .answer(.model(412, body)) : .none }
            let result = try await device.context.push()
            #expect(result.failures.count == 1 && result.remaining == 1)
            #expect(try await device.local("a")?["text"] == "mine")
        }
    }

    @Test("a 404 to a delete is done only if the table itself answers", arguments: StoreKind.allCases)
    func deleteOfGone(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "old"]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        device.server.onRequest { _ in .answer(.model(404, nil)) }
        let wrongAddress = try await device.context.push()
        #expect(wrongAddress.remaining == 1 && wrongAddress.failures.count == 1)
        device.server.onRequest(nil)
        device.server.hardDelete("todos", "a")
        #expect(try await device.context.push().isClean)
    }

    @Test("a field that a filter changed on the way out keeps its local value", arguments: StoreKind.allCases)
    func redaction(_ kind: StoreKind) async throws {
        struct Redact: RequestFilter {
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                if request.isWrite, var body = try? request.body.json, body["secret"] != nil {
                    body["secret"] = "***"
                    request.body = MessageBody(json: body)
                }
                return try await next(request)
            }
        }
        let device = try await Device(kind, filters: [Redact()])
        try await device.todos.insert(["id": "a", "text": "one", "secret": "4711"])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["secret"] == "***")
        #expect(try await device.local("a")?["secret"] == "4711")
        #expect(try await device.todos.lookup(id: "a")?["version"] == device.server.rows("todos")["a"]?["version"])
    }

    @Test("a filter that fails keeps the operation and names itself", arguments: StoreKind.allCases)
    func failingFilter(_ kind: StoreKind) async throws {
        struct Broken: RequestFilter {
            struct Boom: Error {}
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse { throw Boom() }
        }
        let device = try await Device(kind, filters: [Broken()])
        try await device.todos.insert(["id": "a", "text": "one"])
        let result = try await device.context.push()
        #expect(result.failures.first?.failure?.message.contains("Broken") == true)
        #expect(try await device.queue() == ["insert a pending"])
        #expect(device.server.requests.isEmpty)
    }

    @Test(
        "answers that are not the protocol lose nothing", arguments: StoreKind.allCases,
        ["<html>welcome</html>", "", "{\"id\":", "[]", "{\"id\":\"other\",\"version\":\"v9\"}"])
    func brokenAnswers(_ kind: StoreKind, _ text: String) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "text": "one"])
        device.server.onRequest { request in
            request.isWrite
                ? .answer(SyncResponse(HTTPResponse(status: .ok), body: MessageBody(bytes: Array(text.utf8)))) : .none
        }
        let result = try await device.context.push()
        #expect(result.remaining == 1 && result.failures.count == 1)
        #expect(try await device.local("a")?["text"] == "one")
        device.server.onRequest(nil)
        if let parked = try await device.context.queue.operations().first {
            try await device.context.queue.retry(parked.id)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos").count == 1)
    }
}

extension PushTests {
    @Test("an echo under a strong ETag proves nothing either", arguments: StoreKind.allCases)
    func strongEcho(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        try await device.todos.insert(["id": "a", "text": "mine"])
        device.server.onRequest { request in
            guard request.isWrite, let body = try? request.body.json else { return .none }
            return .answer(.model(409, body, version: "hash-of-the-body"))
        }
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && result.remaining == 1)
        #expect(try await device.local("a")?["text"] == "mine")
    }
}
