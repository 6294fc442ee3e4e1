import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Mirror: what a pull brought while an operation waited is not forgotten")
struct MirrorTests {
    /// A device whose operation waits while a named pull goes on: the server cannot take it now.
    private func waiting(_ kind: StoreKind, _ edit: (Device) async throws -> Void) async throws -> Device {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "text": "old"]])
        try await device.todos.pull(named: "all")
        try await edit(device)
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        return device
    }

    @Test("an edit taken back shows what the server has by now", arguments: StoreKind.allCases, [false, true])
    func takenBack(_ kind: StoreKind, _ isDeleted: Bool) async throws {
        let device = try await waiting(kind) { try await $0.todos.update(["id": "a", "n": 2]) }
        if isDeleted {
            device.server.softDelete("todos", "a")
        } else {
            device.server.seed("todos", [["id": "a", "text": "theirs"]])
        }
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 1])
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a") == device.remote("a"))
        #expect(try await device.states() == 0)
    }

    @Test(
        "what an undelete finds deleted is not taken for what an earlier answer told of", arguments: StoreKind.allCases)
    func tombstoneRead(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let queue = device.context.queue
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.delete(id: "a")
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        try await device.todos.undelete(id: "a")
        try await queue.discard(try #require(try await queue.operations().first).id)
        // What has been deleted is read, and that it is to come back gets lost.
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        let undelete = try #require(try await queue.operations().first)
        #expect(undelete.kind == .undelete)
        let copies = try await queue.copies(of: undelete)
        #expect(copies.base?["deleted"] == true && copies.mirror == nil)
        // A new record takes its place, and the delete before that is given up.
        try await device.todos.delete(id: "a")
        try await device.todos.insert(["id": "a", "n": 2])
        try await queue.discard(try #require(try await queue.operations().first).id)
        #expect(try await device.queue() == ["insert a pending"], "the server is known not to have it")
        device.server.onRequest(nil)
        #expect(try await device.context.push().conflicts == 1)
        let held = try #require(try await queue.operations().first)
        #expect(held.failure?.serverRecord?["deleted"] == true)
        try await queue.resolve(held.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
        #expect(try await device.local("a")?["n"] == 2)
        #expect(try await device.queue() == [])
        #expect(try await device.states() == 0)
    }

    @Test("a tombstone on which an undelete was made is no conflict; a newer one is", arguments: StoreKind.allCases)
    func tombstoneOfUndelete(_ kind: StoreKind) async throws {
        let device = try await waiting(kind) { device in
            device.server.softDelete("todos", "a")
            try await device.todos.pull(named: "all")
            try await device.todos.undelete(id: "a")
        }
        // The push that a pull begins with reads the tombstone.
        #expect(try await device.todos.pull().conflicts == 0)
        let waiting = try #require(try await device.context.queue.operations().first)
        #expect(waiting.kind == .undelete && waiting.attempts == 1)
        device.server.seed("todos", [["id": "a", "n": 5]])
        device.server.softDelete("todos", "a")
        #expect(try await device.todos.pull().conflicts == 1)
    }

    @Test("an insert taken back shows the server's row of that id", arguments: StoreKind.allCases)
    func insertTakenBack(_ kind: StoreKind) async throws {
        let device = try await waiting(kind) { _ in }
        try await device.todos.insert(["id": "x", "text": "other table waits"])
        device.server.seed("todos", [["id": "b", "text": "theirs"]])
        let todos = device.todos
        device.server.onRequest { request in
            if !request.isWrite { _ = try? await todos.insert(["id": "b", "text": "mine"]) }
            return request.isWrite ? .answer(.model(503, nil)) : .none
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.local("b")?["text"] == "mine")
        device.server.onRequest(nil)
        try await device.todos.delete(id: "b")
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(named: "all")
        #expect(device.remote("b")?["text"] == "theirs")
        #expect(try await device.local("b") == device.remote("b"))
    }

    @Test("a refused insert that is deleted does not delete the server's record", arguments: StoreKind.allCases)
    func refusedInsertDeleted(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "text": "theirs"]])
        try await device.todos.insert(["id": "a", "text": "mine"])
        _ = try await device.context.push()
        #expect(try await device.queue() == ["insert a parked"])
        try await device.todos.delete(id: "a")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["text"] == "theirs")
        #expect(try await device.local("a")?["text"] == "theirs")
        #expect(try await device.states() == 0)
    }

    @Test("discarding an edit of a record that is gone removes it here", arguments: StoreKind.allCases, [false, true])
    func discardOfGone(_ kind: StoreKind, _ isHard: Bool) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 2])
        if isHard { device.server.hardDelete("todos", "a") } else { device.server.softDelete("todos", "a") }
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.state == .parked)
        try await device.context.queue.discard(operation.id)
        #expect(try await device.local("a") == nil)
        #expect(try await device.states() == 0)
    }

    @Test("a refused undelete that is discarded shows no tombstone", arguments: StoreKind.allCases)
    func discardOfUndelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 2])
        device.server.softDelete("todos", "a")
        device.server.onRequest { $0.head.method == .post ? .answer(.model(403, nil)) : .none }
        _ = try await device.context.push()
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.kind == .undelete && operation.state == .parked)
        #expect(try await device.local("a") == ["id": "a", "n": 2])
        #expect(try await device.todos.lookup(id: "a")?["deleted"] != true)
        try await device.context.queue.discard(operation.id)
        #expect(try await device.queue().isEmpty)
        #expect(try await device.local("a") == nil)
        #expect(try await device.audit().contains { $0["local"]?["n"] == 2 })
    }

    @Test(
        "a record deleted and inserted during the delete's send comes back on the server", arguments: StoreKind.allCases
    )
    func insertBehindDelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        let todos = device.todos
        device.server.onRequest { request in
            if request.head.method == .delete { _ = try? await todos.insert(["id": "a", "n": 2]) }
            return .none
        }
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(device.remote("a")?["n"] == 2)
        #expect(device.remote("a")?["m"]?.isNull ?? true)
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("a record deleted and restored here keeps what another changed meanwhile", arguments: StoreKind.allCases)
    func undeleteDuringDelete(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .serverWins)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        let (todos, server) = (device.todos, device.server)
        server.seed("todos", [["id": "a", "m": 9]])
        server.onRequest { request in
            if request.head.method == .delete {
                try? await todos.undelete(id: "a")
                _ = try? await todos.update(["id": "a", "n": 2])
            }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2, "m": 9])
        #expect(try await device.local("a") == device.remote("a"))
    }

    /// A delete of `a` that the server could not do, made on n=1; a pull has brought n=2 since, and the server has n=3.
    private func deletedOnOld(_ kind: StoreKind, _ policy: ConflictPolicy) async throws -> Device {
        let device = try await Device(kind, policy: policy)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.delete(id: "a")
        device.server.onRequest { $0.isWrite ? .answer(.model(503, nil)) : .none }
        _ = try await device.context.push()
        device.server.seed("todos", [["id": "a", "n": 2]])
        _ = try await device.todos.pull()
        device.server.onRequest(nil)
        return device
    }

    @Test(
        "an undelete of a newer record than the delete was made on is no edit of it", arguments: StoreKind.allCases,
        [ConflictPolicy.serverWins, .clientWins])
    func undeleteOfNewer(_ kind: StoreKind, _ policy: ConflictPolicy) async throws {
        for edit in [false, true] {
            let device = try await deletedOnOld(kind, policy)
            try await device.todos.undelete(id: "a")
            #expect(try await device.local("a")?["n"] == 2)
            if edit { try await device.todos.update(["id": "a", "m": 7]) }
            device.server.seed("todos", [["id": "a", "n": 3]])
            #expect(try await device.context.push().isClean)
            #expect(device.remote("a")?["n"] == 3, "the application has not set it")
            #expect(device.remote("a")?["m"] == (edit ? 7 : nil))
            #expect(try await device.local("a") == device.remote("a"))
        }
    }

    @Test("a record that is made again is in no conflict with its own lost update", arguments: StoreKind.allCases)
    func remadeAfterLostUpdate(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .serverWins)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        let lost = Mutex(false)
        device.server.onRequest { request in
            guard request.isWrite, !lost.withLock({ $0 }) else { return .none }
            lost.withLock { $0 = true }
            return .answerAfter(.model(503, nil))
        }
        _ = try? await device.context.push()
        device.server.onRequest { $0.isWrite ? .answer(.model(500, nil)) : .none }
        try await device.todos.delete(id: "a")
        _ = try? await device.context.push()
        device.server.onRequest(nil)
        try await device.todos.insert(["id": "a", "n": 3])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 3, "nobody else has written")
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("ids that Swift takes for equal are two records", arguments: StoreKind.allCases, [nil, "all"] as [String?])
    func canonicalEquivalence(_ kind: StoreKind, _ name: String?) async throws {
        let ids = ["e\u{301}", "\u{E9}"]
        let rows = ids.map { id -> JSON in
            [
                "id": JSON(id), "version": "v1", "updatedAt": "2024-01-01T00:00:00.000Z", "deleted": false,
                "text": JSON("\(id.unicodeScalars.count)"),
            ]
        }
        for pageSize in 1...2 {
            let device = try await Device(kind)
            let sent = Mutex(0)
            device.server.onRequest { _ in
                let start = sent.withLock {
                    $0 += pageSize
                    return $0 - pageSize
                }
                return .answer(.model(200, JSON(Array(rows.dropFirst(start).prefix(pageSize)))))
            }
            try await device.todos.pull(named: name)
            #expect(try await device.todos.count() == 2)
        }
    }

    @Test("a short page of known rows is not the end", arguments: StoreKind.allCases)
    func shrinkingPages(_ kind: StoreKind) async throws {
        let device = try await Device(kind, server: ModelServer(pageSize: 100))
        device.server.seed("todos", (0..<12).map { ["id": JSON("r\(10 + $0)"), "n": 1] })
        device.server.restamp("todos", (2..<12).map { "r\(10 + $0)" }, at: Timestamp("2024-01-01T00:00:00Z")!)
        let rows = device.server.rows("todos")
        let all = (0..<12).compactMap { rows["r\(10 + $0)"] }
        let count = Mutex(0)
        device.server.onRequest { request in
            let n = count.withLock {
                $0 += 1
                return $0
            }
            // The server sends less and less at once.
            let call = ModelCall(request)
            let since = call.parameters["$filter"] == nil ? 0 : 2
            let skip = since + (call.parameters["$skip"].flatMap { Int($0) } ?? 0)
            return .answer(.model(200, JSON(Array(all.dropFirst(skip).prefix(n == 1 ? 8 : 3)))))
        }
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.count() == 12)
    }
}
