import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Batch push: many operations in one request, each with its own outcome")
struct BatchPushTests {
    private func device(
        _ kind: StoreKind, size: Int = 10, concurrency: Int = 1, server: ModelServer = ModelServer(),
        filters: [any RequestFilter] = [], handlers: [any ConflictHandler] = [], store: (any LocalStore)? = nil,
        retry: RetryPolicy = .never, dependencies: [TableDependency] = []
    ) async throws -> Device {
        server.offer([.batches])
        return try await Device(
            kind, server: server, handlers: handlers, filters: filters, store: store, retry: retry
        ) {
            $0.batchSize = size
            $0.concurrency = concurrency
            $0.dependencies = dependencies
        }
    }

    /// The requests of the batches that were sent, by method and address.
    private func batches(_ server: ModelServer) throws -> [[String]] {
        try server.requests.filter { $0.head.path == "/tables/$batch" }.map { request in
            try (request.body.json["requests"]?.elements ?? []).map {
                "\($0["method"]?.string ?? "") \($0["url"]?.string ?? "")"
            }
        }
    }

    @Test(
        "operations on different records go in one request, and each has its own answer", arguments: StoreKind.allCases)
    func together(_ kind: StoreKind) async throws {
        let device = try await device(kind)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1], ["id": "c", "n": 1]])
        try await device.todos.pull()
        device.server.seed("todos", [["id": "c", "n": 9]])
        device.server.clearLog()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        try await device.todos.update(["id": "c", "n": 2])
        try await device.todos.insert(["id": "d", "n": 2])
        let result = try await device.context.push()
        #expect(result.applied == 3 && result.conflicts == 1 && result.end == .completed)
        #expect(
            try batches(device.server)
                == [["PATCH tables/todos/a", "DELETE tables/todos/b", "PATCH tables/todos/c", "POST tables/todos"]])
        #expect(device.server.requests.count == 1)
        #expect(try await device.queue() == ["update c parked"])
        #expect(try await device.todos.lookup(id: "d") == device.server.rows("todos")["d"])
        #expect(device.remote("b") == nil && device.remote("a")?["n"] == 2)
    }

    @Test("each request passes the whole chain by itself, and carries its own id")
    func chain() async throws {
        struct Note: RequestFilter {
            let seen = Recorder<String>()
            let takesPages = true

            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                let response = try await next(request)
                if request.isWrite { seen.add("\(request.context.recordID ?? "") \(response.status)") }
                return response
            }
        }
        let note = Note()
        let device = try await device(.memory, filters: [note])
        for id in ["a", "b", "c"] { try await device.todos.insert(["id": JSON(id)]) }
        let ids = try await device.context.queue.operations().map(\.requestID)
        #expect(try await device.context.push().isClean)
        #expect(Set(note.seen.all) == ["a 201", "b 201", "c 201"])
        let parts = try #require(device.server.requests.first?.body.json["requests"]?.elements)
        #expect(parts.map { $0["headers"]?["repeatability-request-id"]?.string } == ids)
    }

    @Test("credentials stand on the batch and not in it")
    func credentials() async throws {
        let server = ModelServer()
        server.offer([.batches])
        var options = ClientOptions()
        options.tokenProvider = CountingTokens(prefix: "secret-token")
        options.retry = .never
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: options)
        let context = try await SyncContext(client: client, store: MemoryStore(), options: SyncOptions(batchSize: 5))
        for id in ["a", "b"] { try await context.table("todos").insert(["id": JSON(id)]) }
        #expect(try await context.push().isClean)
        let batch = try #require(server.requests.first)
        #expect(batch.head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] == "secret-token0")
        #expect(!String(decoding: batch.body.bytes, as: UTF8.self).contains("secret-token"))
    }

    @Test("no batch is larger than it may be, and two changes of a record never share one", arguments: [1, 2])
    func size(_ concurrency: Int) async throws {
        let device = try await device(.memory, size: 3, concurrency: concurrency)
        device.server.seed("todos", [["id": "x", "n": 1]])
        try await device.todos.pull()
        device.server.clearLog()
        for n in 0..<8 { try await device.todos.insert(["id": JSON("r\(n)"), "n": JSON(n)]) }
        #expect(try await device.context.push().isClean)
        #expect(try batches(device.server).map(\.count).allSatisfy { $0 <= 3 })
        #expect(try batches(device.server).flatMap(\.self).count == 8)
        #expect(device.server.rows("todos").count == 9)
    }

    @Test("a server that knows no batches gets single requests from then on", arguments: [404, 405, 410, 501])
    func fallback(_ status: Int) async throws {
        let device = try await device(.memory)
        device.server.onRequest { $0.head.path == "/tables/$batch" ? .answer(.model(status, nil)) : .none }
        for id in ["a", "b", "c"] { try await device.todos.insert(["id": JSON(id)]) }
        #expect(try await device.context.push().isClean)
        try await device.todos.insert(["id": "d"])
        try await device.todos.insert(["id": "e"])
        #expect(try await device.context.push().isClean)
        #expect(device.server.calls == ["POST /tables/$batch"] + Array(repeating: "POST /tables/todos", count: 5))
    }

    @Test("a lost batch answer is recognised part by part", arguments: StoreKind.allCases, [true, false])
    func lostAnswer(_ kind: StoreKind, _ remembers: Bool) async throws {
        let device = try await device(kind)
        if remembers { device.server.offer([.batches, .requestIDs]) }
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        try await device.todos.insert(["id": "c", "n": 2])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        let first = try await device.context.push()
        #expect(first.end == .network && first.remaining == 3)
        let rows = device.server.rows("todos")
        device.server.onRequest(nil)
        let second = try await device.context.push()
        #expect(second.isClean && second.conflicts == 0 && second.applied == 3, "\(second)")
        #expect(device.server.rows("todos") == rows, "nothing was done twice")
    }

    @Test(
        "where a batch was carried out and its answer replaced, repeats that go alone prove nothing of it",
        arguments: [401, 429, 503])
    func replacedAnswer(_ status: Int) async throws {
        let device = try await device(.memory)
        for id in ["a", "b"] { try await device.todos.insert(["id": JSON(id), "n": 1]) }
        device.server.onRequest { request in
            request.head.path == "/tables/$batch"
                ? .answerAfter(.model(200, ["ok": true])) : .answer(.model(status, nil))
        }
        let result = try await device.context.push()
        #expect(result.applied == 0)
        #expect((result.end == .unauthorized) == (status == 401))
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest(nil)
        let second = try await device.context.push()
        #expect(second.isClean && second.conflicts == 0, "\(second)")
        #expect(device.server.rows("todos").mapValues { $0["n"] } == ["a": 2, "b": 1])
    }

    @Test("a part that the answer leaves out is of unknown outcome and waits")
    func missingPart() async throws {
        let device = try await device(.memory)
        try await device.todos.insert(["id": "a"])
        try await device.todos.insert(["id": "b"])
        let id = try await device.context.queue.operations()[0].id
        device.server.onRequest { _ in
            .answerAfter(
                .model(
                    200,
                    ["responses": [["id": JSON(id), "status": 201, "body": ["id": "a", "version": "v1"]]]]))
        }
        let result = try await device.context.push()
        #expect(result.applied == 1 && result.failures.map(\.recordID) == ["b"])
        #expect(try await device.context.queue.operations().first?.isUncertain == true)
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
    }

    @Test("a part that was skipped stays pending, and the next push sends it")
    func skipped() async throws {
        let device = try await device(.memory)
        try await device.todos.insert(["id": "a"])
        try await device.todos.insert(["id": "b"])
        let ids = try await device.context.queue.operations().map(\.id)
        device.server.onRequest { request in
            guard request.head.path == "/tables/$batch" else { return .answer(.model(424, nil)) }
            return .answer(
                .model(
                    200,
                    ["responses": JSON(ids.map { ["id": JSON($0), "status": JSON($0 == ids[0] ? 400 : 424)] })]))
        }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 0)
        #expect(try await device.queue() == ["insert a parked", "insert b pending"])
        #expect(try await device.context.queue.operations().last?.isUncertain == false)
        device.server.onRequest(nil)
        #expect(try await device.context.push().applied == 1)
    }

    @Test(
        "a part of a group that was skipped beside a success may be done",
        arguments: [(422, false), (409, false), (200, true)])
    func skippedInGroup(_ status: Int, _ isUncertain: Bool) async throws {
        let device = try await device(.memory)
        try await device.context.group { group in
            try group.insert(["id": "a"], in: "todos")
            try group.insert(["id": "b"], in: "todos")
        }
        let ids = try await device.context.queue.operations().map(\.id)
        device.server.onRequest { request in
            guard request.head.path == "/tables/$batch" else { return .answer(.model(503, nil)) }
            return .answer(
                .model(
                    200,
                    ["responses": JSON(ids.map { ["id": JSON($0), "status": JSON($0 == ids[0] ? status : 424)] })]))
        }
        _ = try await device.context.push()
        let skipped = try #require(try await device.context.queue.operations().last)
        #expect(skipped.state == .pending && skipped.isUncertain == isUncertain)
    }

    @Test("after a 401 the batch goes again as one, with a token that was renewed once")
    func unauthorized() async throws {
        let server = ModelServer()
        server.offer([.batches])
        let tokens = CountingTokens(prefix: "token")
        var options = ClientOptions()
        options.retry = .never
        options.tokenProvider = tokens
        server.onRequest { request in
            request.head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] == "token0" ? .answer(.model(401, nil)) : .none
        }
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server, options: options)
        let context = try await SyncContext(client: client, store: MemoryStore(), options: SyncOptions(batchSize: 5))
        for id in ["a", "b", "c"] { try await context.table("todos").insert(["id": JSON(id)]) }
        #expect(try await context.push().isClean)
        #expect(try batches(server).map(\.count) == [3, 3] && tokens.renewals == 1)
    }

    @Test("a push that dies with a batch under way is made good by the next", arguments: StoreKind.allCases, 0..<14)
    func crash(_ kind: StoreKind, _ step: Int) async throws {
        let store = MortalStore(try await kind.make())
        let device = try await device(kind, store: store)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        try await device.todos.insert(["id": "c", "n": 2])
        store.die(after: step)
        _ = try? await device.context.push()
        store.revive()
        let next = try await self.device(kind, server: device.server, store: store)
        let result = try await next.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        #expect(next.remote("a")?["n"] == 2 && next.remote("b") == nil && next.remote("c")?["n"] == 2)
        #expect(try await next.states() == 0)
    }

    @Test("a filter that answers, fails or empties one of them does not hold up the others")
    func filters() async throws {
        struct Odd: RequestFilter {
            struct Boom: Error {}
            let takesPages = true

            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                switch request.context.recordID {
                case "fails": throw Boom()
                case "answered": return .model(403, nil)
                case "opaque": request.body = MessageBody(bytes: [1, 2, 3])
                default: break
                }
                return try await next(request)
            }
        }
        let device = try await device(.memory, filters: [Odd()])
        for id in ["fails", "answered", "opaque", "a", "b"] { try await device.todos.insert(["id": JSON(id)]) }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.applied == 2)
        #expect(try batches(device.server) == [["POST tables/todos", "POST tables/todos"]])
        #expect(
            Set(try await device.queue()) == ["insert fails pending", "insert answered parked", "insert opaque parked"])
    }

    @Test("a push cancelled while its batch is under way ends, and nothing is lost")
    func cancelled() async throws {
        let device = try await device(.memory)
        for n in 0..<5 { try await device.todos.insert(["id": JSON("r\(n)")]) }
        let (reached, signal) = AsyncStream<Void>.makeStream()
        device.server.onRequest { _ in
            signal.finish()
            try? await Task.sleep(for: .seconds(60))
            return .loseAnswer
        }
        let push = Task { try await device.context.push() }
        for await _ in reached {}
        push.cancel()
        let result = try await push.value
        #expect(result.remaining == 5 && result.end != .completed)
        device.server.onRequest(nil)
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("todos").count == 5)
    }

    @Test(
        "a refusal of the whole batch that could be one of a record says nothing of its parts: they go by themselves",
        arguments: [404, 409, 410, 412, 413, 422, 424])
    func refusedAsWhole(_ status: Int) async throws {
        let device = try await device(.memory)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1], ["id": "c", "n": 1]])
        try await device.todos.pull()
        device.server.onRequest { $0.head.path == "/tables/$batch" ? .answer(.model(status, nil)) : .none }
        try await device.todos.delete(id: "a")
        try await device.todos.delete(id: "b")
        try await device.todos.update(["id": "c", "n": 2])
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 3, "\(result)")
        #expect(device.remote("a") == nil && device.remote("b") == nil && device.remote("c")?["n"] == 2)
    }

    @Test("a group whose batch is refused as a whole waits, whole", arguments: [404, 409, 410, 412, 424])
    func groupRefusedAsWhole(_ status: Int) async throws {
        let device = try await device(.memory)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1]])
        try await device.todos.pull()
        device.server.onRequest { $0.isWrite ? .answer(.model(status, nil)) : .none }
        try await device.context.group { group in
            try group.delete(id: "a", in: "todos")
            try group.delete(id: "b", in: "todos")
        }
        let result = try await device.context.push()
        #expect(result.applied == 0 && result.conflicts == 0, "\(result)")
        #expect(try await device.context.queue.operations().count == 2)
        #expect(device.remote("a") != nil && device.remote("b") != nil)
    }
}

/// Tokens with a number that grows each time one was refused.
private final class CountingTokens: TokenProvider {
    private let prefix: String
    private let count = Mutex(0)

    init(prefix: String) { self.prefix = prefix }

    var renewals: Int { count.withLock { $0 } }

    func token() async throws -> String? { "\(prefix)\(renewals)" }

    func refresh(refused: String?) async throws -> String? {
        count.withLock { $0 += 1 }
        return try await token()
    }
}
