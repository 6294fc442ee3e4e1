import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A server that writes values otherwise than they were sent")
struct WrittenFormTests {
    /// Writes `n` otherwise before the server sees it.
    private struct Changing: Transport {
        let server: ModelServer
        let change: @Sendable (JSON) -> JSON

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            var request = request
            if request.isWrite, var body = try? request.body.json, let value = body["n"] {
                body["n"] = change(value)
                request.body = MessageBody(json: body)
            }
            return try await server.send(request)
        }
    }

    private static let cases: [(sent: JSON, first: JSON, change: @Sendable (JSON) -> JSON)] = [
        (5, 1, { JSON("\($0)") }), ("5", "1", { JSON(Int64($0.string ?? "") ?? 0) }),
        (9_007_199_254_740_993, 9_007_199_254_740_997, { JSON(($0.int ?? 0) / 4 * 4) }),
    ]

    /// A device with `a`, whose last edit of `n` the server has written in its own way, and whose answer was lost.
    private func device(_ kind: StoreKind, _ index: Int, learns: Bool) async throws -> Device {
        let (sent, first, change) = Self.cases[index]
        let server = ModelServer()
        let device = try await Device(
            kind, server: server, transport: Changing(server: server, change: change))
        server.seed("todos", [["id": "a", "m": 1]])
        try await device.todos.pull()
        if learns {
            try await device.todos.update(["id": "a", "n": first])
            #expect(try await device.context.push().isClean)
        }
        try await device.todos.update(["id": "a", "n": sent])
        server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        server.onRequest(nil)
        return device
    }

    @Test(
        "once an answer has shown how, a change is known again whose answer is lost", arguments: StoreKind.allCases,
        0..<3)
    func learnt(_ kind: StoreKind, _ index: Int) async throws {
        let device = try await device(kind, index, learns: true)
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("before that it is a conflict, which says that the change may have been applied", arguments: 0..<3)
    func unknown(_ index: Int) async throws {
        let device = try await device(.memory, index, learns: false)
        let result = try await device.context.push()
        #expect(result.conflicts == 1 && result.remaining == 1)
        let message = try #require(result.failures.first?.failure?.message)
        let types = ["n: number here, text there", "n: text here, number there", "n: another number there"][index]
        #expect(message.contains("may have been applied") && message.contains(types), "\(message)")
        #expect(message.contains("decide server") && message.contains("client"))
        let held = try #require(result.failures.first)
        try await device.context.queue.resolve(held.id, .server)
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a") == device.remote("a"))
    }

    @Test("another's value is no form of one's own")
    func foreign() async throws {
        let device = try await device(.memory, 0, learns: true)
        device.server.seed("todos", [["id": "a", "n": "6"]])
        #expect(try await device.context.push().conflicts == 1)
        #expect(WrittenForm.allCases.allSatisfy { !$0.leads(from: 5, to: "6") && !$0.leads(from: 5, to: .null) })
        #expect(!WrittenForm.rounded.leads(from: 5, to: 5) && !WrittenForm.rounded.leads(from: 5, to: 6))
    }

    @Test("a time that the server writes with other digits is the one that was sent, from the first answer on")
    func sameInstant() async throws {
        let device = try await Device(.memory)
        try await device.todos.insert(["id": "a", "due": "2026-05-06T07:08:09Z"])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        device.server.seed("todos", [["id": "a", "due": "2026-05-06T07:08:09.000Z"]])
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a")?["due"] == "2026-05-06T07:08:09.000Z")
        #expect(!WrittenForm.sameInstant.leads(from: "2026-05-06T07:08:09Z", to: "2026-05-06T07:08:10Z"))
        #expect(!WrittenForm.sameInstant.leads(from: "1", to: "01"))
    }

    @Test("an edit that the server trims to the value before it is done with its second answer")
    func trimmed() async throws {
        let device = try await Device(.memory)
        device.server.seed("todos", [["id": "a", "text": "milk"]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "text": "milk "])
        let row = try #require(device.server.rows("todos")["a"])
        device.server.onRequest { $0.isWrite ? .answer(.model(200, row)) : .none }
        #expect(try await device.context.push().remaining == 1)
        #expect(try await device.context.push().isClean)
        #expect(try await device.local("a")?["text"] == "milk")
    }

    /// A server that stores texts in lower case, and answers a write without a body.
    private struct Terse: Transport {
        let server: ModelServer
        let hasTag: Bool

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            var request = request
            guard request.isWrite, var body = try? request.body.json, let text = body["text"]?.string else {
                return try await server.send(request)
            }
            body["text"] = JSON(text.lowercased())
            request.body = MessageBody(json: body)
            let answer = try await server.send(request)
            guard 200..<300 ~= answer.status, let version = (try? answer.body.json)?["version"]?.string else {
                return answer
            }
            return .model(answer.status == 201 ? 201 : 204, nil, version: hasTag ? version : nil)
        }
    }

    /// A device of such a server, with a change of that kind whose text comes back otherwise.
    private func terse(hasTag: Bool, _ policy: ConflictPolicy, _ kind: String) async throws -> Device {
        let server = ModelServer()
        let device = try await Device(
            .memory, server: server, policy: policy, transport: Terse(server: server, hasTag: hasTag))
        if kind == "update" {
            server.seed("todos", [["id": "a", "text": "milk"]])
            try await device.todos.pull()
            try await device.todos.update(["id": "a", "text": "BREAD"])
        } else {
            try await device.todos.insert(["id": "a", "text": "BREAD"])
        }
        return device
    }

    @Test(
        "a value that comes back otherwise after an answer without a body is written once where its ETag proves it",
        arguments: [ConflictPolicy.hold, .serverWins, .clientWins], ["insert", "update"])
    func tagged(_ policy: ConflictPolicy, _ kind: String) async throws {
        let device = try await terse(hasTag: true, policy, kind)
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 1 && result.conflicts == 0, "\(result)")
        #expect(device.server.calls.filter { !$0.hasPrefix("GET") }.count == 1)
        #expect(try await device.local("a")?["text"] == "bread")
    }

    @Test("without a tag the client's change is written again once, and the second answer is believed")
    func untagged() async throws {
        for kind in ["insert", "update"] {
            let device = try await terse(hasTag: false, .clientWins, kind)
            #expect(try await device.context.push().isClean)
            let calls = device.server.calls
            #expect(calls.filter { !$0.hasPrefix("GET") }.count == 2, "\(calls)")
            #expect(try await device.local("a")?["text"] == "bread")
        }
    }

    /// Something on the way that sends each insert twice, and passes on what the second is answered.
    private struct Repeating: Transport {
        let server: Changing

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            if request.head.method == .post { _ = try await server.send(request) }
            return try await server.send(request)
        }
    }

    @Test(
        "an insert that is refused with its own record, written otherwise, may have been applied: its delete is kept",
        arguments: StoreKind.allCases)
    func refusedByItsOwn(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let changing = Changing(server: server, change: Self.cases[0].change)
        let device = try await Device(kind, server: server, transport: Repeating(server: changing))
        try await device.todos.insert(["id": "a", "n": 5])
        let result = try await device.context.push()
        #expect(
            result.conflicts == 1 && result.failures.first?.failure?.message.contains("may have been applied") == true)
        try await device.todos.delete(id: "a")
        let held = try #require(try await device.context.push().failures.first)
        #expect(held.kind == .delete && held.failure?.serverRecord?["n"] == "5")
        #expect(try await device.local("a") == nil)
        try await device.context.queue.resolve(held.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == nil)
    }

    @Test("an insert that is refused with another's record is taken back by its delete", arguments: StoreKind.allCases)
    func refusedByAnothers(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let device = try await Device(kind, server: server, transport: server)
        server.seed("todos", [["id": "a", "n": "6"]])
        try await device.todos.insert(["id": "a", "n": 5])
        #expect(try await device.context.push().conflicts == 1)
        try await device.todos.delete(id: "a")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == "6")
    }
}
