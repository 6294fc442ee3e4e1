import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Proof of a send: what the server shows is taken for done only if it is")
struct SentRevisionEvidenceTests {
    /// A device with `a` pulled, whose update of `n` to 2 was done by the server while the answer was lost.
    private func lostUpdate(_ kind: StoreKind) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        return device
    }

    @Test("an edit that takes a change of unknown outcome back is not lost", arguments: StoreKind.allCases)
    func takenBack(_ kind: StoreKind) async throws {
        let device = try await lostUpdate(kind)
        try await device.todos.update(["id": "a", "n": 1])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 1, "m": 1])
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("nor is one that takes back a part of it", arguments: StoreKind.allCases)
    func partlyTakenBack(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2, "m": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.update(["id": "a", "n": 1])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 1, "m": 2])
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("a delete after an update of unknown outcome is no conflict with that update", arguments: StoreKind.allCases)
    func deleteAfterLostUpdate(_ kind: StoreKind) async throws {
        let device = try await lostUpdate(kind)
        try await device.todos.delete(id: "a")
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a") == nil)
    }

    @Test("but it is one with what another did on top of it", arguments: StoreKind.allCases)
    func deleteAfterLostUpdateAndEdit(_ kind: StoreKind) async throws {
        let device = try await lostUpdate(kind)
        try await device.todos.delete(id: "a")
        device.server.seed("todos", [["id": "a", "m": 9]])
        let result = try await device.context.push()
        #expect(result.conflicts == 1)
        #expect(device.remote("a")?["m"] == 9)
    }

    @Test(
        "a body that a filter emptied or encoded is evidence of nothing", arguments: StoreKind.allCases,
        ["", "\u{1}\u{2}"])
    func opaqueBody(_ kind: StoreKind, _ text: String) async throws {
        struct Encode: RequestFilter {
            let text: String
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                if request.isWrite { request.body = MessageBody(bytes: Array(text.utf8)) }
                return try await next(request)
            }
        }
        let device = try await Device(kind, filters: [Encode(text: text)])
        device.server.seed("todos", [["id": "a", "text": "old"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "mine"])
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        let result = try await device.context.push()
        #expect(result.applied == 0 && result.conflicts == 1, "\(result)")
        #expect(try await device.queue() == ["update a parked"])
    }

    @Test("a server that ignores the filter of a read-back has not lost the record", arguments: StoreKind.allCases)
    func ignoredFilter(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .serverWins)
        device.server.seed("todos", [["id": "a", "text": "first"], ["id": "b", "text": "old"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "b", "text": "mine"])
        let first = try #require(device.server.rows("todos")["a"])
        device.server.onRequest { request in
            request.isWrite ? .answer(.model(409, nil)) : .answer(.model(200, [first]))
        }
        let result = try await device.context.push()
        #expect(result.conflicts == 0 && result.remaining == 1, "\(result)")
        #expect(try await device.local("b")?["text"] == "mine")
    }

    @Test("a 204 to a change that another overtook says that it may be done", arguments: StoreKind.allCases)
    func noContent(_ kind: StoreKind) async throws {
        let seen = Mutex<Bool?>(nil)
        let handler = ConflictClosure { conflict in
            seen.withLock { $0 = conflict.maybeApplied }
            return .ask
        }
        let device = try await Device(kind, handlers: [handler])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        let server = device.server
        server.onRequest { request in
            guard request.isWrite else {
                server.seed("todos", [["id": "a", "n": 3]])
                return .none
            }
            return .answerAfter(.model(204, nil))
        }
        _ = try await device.context.push()
        #expect(seen.withLock { $0 } == true)
    }

    @Test("an update answered 204 is read back and done", arguments: StoreKind.allCases)
    func noContentDone(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2, "gone": .null])
        device.server.onRequest { $0.isWrite ? .answerAfter(.model(204, nil)) : .none }
        #expect(try await device.context.push().isClean)
        #expect(try await device.todos.lookup(id: "a") == device.server.rows("todos")["a"])
    }

    @Test("a decided conflict is no longer of unknown outcome", arguments: StoreKind.allCases)
    func decidedIsCertain(_ kind: StoreKind) async throws {
        let seen = Mutex<[Bool]>([])
        let handler = ConflictClosure { conflict in
            seen.withLock { $0.append(conflict.maybeApplied) }
            return .client
        }
        let device = try await Device(kind, handlers: [handler])
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        let server = device.server
        server.seed("todos", [["id": "a", "n": 3]])
        let count = Mutex(0)
        server.onRequest { request in
            if request.isWrite,
                count.withLock({
                    $0 += 1
                    return $0
                }) == 2
            {
                server.seed("todos", [["id": "a", "n": 4]])
            }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(seen.withLock { $0 } == [true, false])
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("a filter that sends twice has one effect", arguments: StoreKind.allCases, TableOperation.Kind.allCases)
    func sentTwice(_ kind: StoreKind, _ operation: TableOperation.Kind) async throws {
        struct Twice: RequestFilter {
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                if request.isWrite { _ = try await next(request) }
                return try await next(request)
            }
        }
        let device = try await Device(kind, filters: [Twice()])
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "gone", "n": 1]])
        try await device.todos.pull()
        device.server.softDelete("todos", "gone")
        try await device.todos.pull()
        switch operation {
        case .insert: try await device.todos.insert(["id": "new", "n": 2])
        case .update: try await device.todos.update(["id": "a", "n": 2])
        case .delete: try await device.todos.delete(id: "a")
        case .undelete: try await device.todos.undelete(id: "gone")
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        for id in ["a", "new", "gone"] { #expect(try await device.local(id) == device.remote(id)) }
    }

    @Test("retries within one send are recognised, whatever was lost", arguments: StoreKind.allCases)
    func retries(_ kind: StoreKind) async throws {
        let device = try await Device(kind, retry: RetryPolicy(attempts: 4))
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.insert(["id": "c", "n": 2])
        try await device.todos.delete(id: "b")
        let count = Mutex(0)
        device.server.onRequest { _ in
            switch count.withLock({
                $0 += 1
                return $0 % 3
            }) {
            case 1: .loseAnswer
            case 2: .answer(.model(503, nil))
            default: .none
            }
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 2 && device.remote("b") == nil && device.remote("c")?["n"] == 2)
    }

    @Test("a column that the server keeps itself is no evidence on any wire", arguments: Dialect.all)
    func serverKept(_ dialect: Dialect) throws {
        let columns = dialect.pushColumns
        let base: JSON = ["id": "a", "n": 1, "gone": 1, "by": "bob", columns.version.text: "v1"]
        let whole: JSON = ["id": "a", "n": 2, "by": "bob"]
        let sent: JSON = dialect.patchesUpdates ? ["id": "a", "n": 2, "gone": .null] : whole
        var operation = TableOperation(
            id: "o", sequence: 1, table: "t", recordID: "a", kind: .update, createdAt: Timestamp(ticks: 0))
        operation.sent = [SentBody(revision: 1, request: sent, final: sent, local: whole)]
        operation.isUncertain = true
        let item = PushItem(operation: operation, local: whole, base: base)
        func judged(_ n: Int, gone: JSON) -> PushVerdict {
            let record: JSON = ["id": "a", "n": JSON(n), "gone": gone, "by": "someone", columns.version.text: "v2"]
            return .judge(item, PushAnswer(status: 412, record: record), columns: columns)
        }
        guard case .found = judged(2, gone: .null) else {
            Issue.record("\(judged(2, gone: .null))")
            return
        }
        for other in [judged(1, gone: .null), judged(2, gone: 1)] {
            guard case .conflict = other else {
                Issue.record("\(other)")
                continue
            }
        }
    }
}
