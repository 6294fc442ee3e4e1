import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Request ids: a repeat is the same request to the byte, and another request has another id")
struct RequestIDTests {
    /// What a server that remembers requests looks at.
    private struct Seen: Hashable {
        var id: String?
        var firstSent: String?
        var condition: String?
        var body: [UInt8]

        init(_ request: SyncRequest) {
            id = request.head.headerFields[HTTPField.Name("Repeatability-Request-ID")!]
            firstSent = request.head.headerFields[HTTPField.Name("Repeatability-First-Sent")!]
            condition = request.head.headerFields[.ifMatch]
            body = request.body.bytes
        }
    }

    private func seen(_ device: Device) -> [Seen] { device.server.requests.filter(\.isWrite).map(Seen.init) }

    @Test("every push request carries its operation's id and revision", arguments: StoreKind.allCases)
    func everyRequest(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": "a", "n": 1], ["id": "b", "n": 1], ["id": "gone", "n": 1]])
        try await device.todos.pull()
        device.server.softDelete("todos", "gone")
        try await device.todos.pull(named: "all")
        device.server.clearLog()
        try await device.todos.insert(["id": "c", "n": 1])
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.update(["id": "a", "n": 3])
        try await device.todos.delete(id: "b")
        try await device.todos.undelete(id: "gone")
        let expected = try await device.context.queue.operations().map { "\($0.id)-\($0.revision)" }
        #expect(try await device.context.push().isClean)
        #expect(seen(device).map(\.id) == expected)
        #expect(expected[1].hasSuffix("-2"))
        #expect(seen(device).allSatisfy { HTTPDate.timestamp($0.firstSent ?? "") != nil })
        let reads = device.server.requests.filter { !$0.isWrite }
        #expect(reads.allSatisfy { Seen($0).id == nil })
    }

    @Test("the id is stored before the first byte is sent", arguments: StoreKind.allCases)
    func storedFirst(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        let store = device.store
        let stored = Mutex<[String]>([])
        device.server.onRequest { _ in
            let operations = (try? await store.read { try QueueReader($0).all() }) ?? []
            stored.withLock {
                $0 += operations.flatMap { operation in operation.sent.map { "\(operation.id)-\($0.revision)" } }
            }
            return .none
        }
        try await device.context.push()
        #expect(stored.withLock { $0 } == seen(device).map(\.id))
    }

    @Test("a repeat after a lost answer, a crash or an error is the same request", arguments: StoreKind.allCases, 0..<3)
    func repeats(_ kind: StoreKind, _ step: Int) async throws {
        let store = MortalStore(try await kind.make())
        let device = try await Device(kind, store: store)
        device.server.seed("todos", [["id": "a", "n": 1, "m": 1, "text": "old"]])
        try await device.todos.pull()
        device.server.clearLog()
        try await device.todos.update(["id": "a", "text": "new", "n": 2, "z": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        switch step {
        case 0: _ = try await device.context.push()
        case 1:
            device.server.onRequest { _ in .answer(.model(503, nil)) }
            _ = try await device.context.push()
        default:
            device.server.onRequest { request in
                if request.isWrite { store.die(after: 0) }
                return .none
            }
            _ = try? await device.context.push()
            store.revive()
        }
        device.server.onRequest(nil)
        let next = try await Device(kind, server: device.server, store: store)
        #expect(try await next.context.push().isClean)
        let requests = seen(device)
        #expect(requests.count == 2 && Set(requests).count == 1, "\(requests)")
        #expect(requests.first?.condition == "\"v1\"")
    }

    @Test("an edit is another revision and has another id", arguments: StoreKind.allCases)
    func edited(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        _ = try await device.context.push()
        try await device.todos.update(["id": "a", "n": 2])
        device.server.onRequest(nil)
        try await device.context.push()
        #expect(Set(seen(device).map(\.id)).count == 2)
    }

    @Test("a decided conflict is sent under another id, on another condition", arguments: StoreKind.allCases)
    func decided(_ kind: StoreKind) async throws {
        let device = try await Device(kind, policy: .clientWins)
        device.server.seed("todos", [["id": "a", "n": 1]])
        try await device.todos.pull()
        device.server.seed("todos", [["id": "a", "n": 9]])
        device.server.clearLog()
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        let requests = seen(device)
        #expect(requests.count == 2)
        #expect(Set(requests.map(\.id)).count == 2 && Set(requests.map(\.condition)).count == 2)
    }

    @Test("a filter that makes another body of it makes another revision, and nothing is done twice")
    func stampingFilter() async throws {
        struct Stamp: RequestFilter {
            let count = Counter()
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                if request.isWrite, var body = try? request.body.json {
                    body["sentAs"] = JSON(count.next())
                    request.body = MessageBody(json: body)
                }
                return try await next(request)
            }
        }
        let device = try await Device(.memory, filters: [Stamp()])
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseAnswer : .none }
        for _ in 0..<3 { _ = try await device.context.push() }
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.sent.count == 3 && operation.failure?.code == "network")
        device.server.onRequest(nil)
        let result = try await device.context.push()
        #expect(result.isClean && result.conflicts == 0, "\(result)")
        let requests = seen(device)
        #expect(requests.count == 4 && Set(requests.map(\.id)).count == 4)
        #expect(device.remote("a") == ["id": "a", "n": 1, "sentAs": 1])
        #expect(try await device.states() == 0)
    }

    @Test("the evidence of an operation that is stamped anew each time stays bounded")
    func boundedEvidence() async throws {
        struct Stamp: RequestFilter {
            let count = Counter()
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                var request = request
                if request.isWrite { request.body = MessageBody(bytes: Array("\(count.next())".utf8)) }
                return try await next(request)
            }
        }
        let device = try await Device(.memory, filters: [Stamp()])
        try await device.todos.insert(["id": "a", "n": 1])
        device.server.onRequest { $0.isWrite ? .loseRequest : .none }
        for _ in 0..<40 { _ = try await device.context.push() }
        let operation = try #require(try await device.context.queue.operations().first)
        #expect(operation.sent.count == PushCommitter.mostSentBodies && operation.attempts == 40)
    }

    @Test("a server that refuses the id, for its age, is asked again without one", arguments: StoreKind.allCases)
    func refusedID(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let id = HTTPField.Name("Repeatability-Request-ID")!
        let result = HTTPField.Name("Repeatability-Result")!
        device.server.onRequest { request in
            guard request.head.headerFields[id] != nil else { return .none }
            var response = SyncResponse.model(412, ["error": "first sent too long ago"])
            response.head.headerFields[result] = "rejected"
            return .answer(response)
        }
        try await device.todos.insert(["id": "a", "n": 1])
        try await device.todos.insert(["id": "b", "n": 1])
        #expect(try await device.context.push().isClean)
        #expect(seen(device).map { $0.id != nil } == [true, false, true, false])
        #expect(device.server.rows("todos").count == 2)
    }
}
