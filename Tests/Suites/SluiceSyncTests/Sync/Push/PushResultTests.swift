import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("How a push ends, and what its result tells")
struct PushResultTests {
    /// A device with two inserts that wait.
    private func device(
        handlers: [any ConflictHandler] = [], store: (any LocalStore)? = nil
    ) async throws -> Device {
        let device = try await Device(.memory, handlers: handlers, store: store)
        try await device.todos.insert(["id": "a", "n": 1])
        try await device.todos.insert(["id": "b", "n": 1])
        return device
    }

    @Test("no network: it ends at once, and nothing is said of the operations after")
    func network() async throws {
        let device = try await device()
        device.server.onRequest { _ in .loseRequest }
        let result = try await device.context.push()
        #expect(result.end == .network && result.error?.code == .network)
        #expect(result.failures.map(\.recordID) == ["a"] && result.remaining == 2)
        #expect(device.server.requests.count == 1)
    }

    @Test("401 after one refresh: it ends, and the token was renewed once")
    func unauthorized() async throws {
        let server = ModelServer()
        server.onRequest { _ in .answer(.model(401, nil)) }
        let tokens = RenewedTokens()
        var options = ClientOptions()
        options.retry = .never
        options.tokenProvider = tokens
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server, options: options)
        let context = try await SyncContext(client: client, store: MemoryStore())
        for id in ["a", "b"] { try await context.table("todos").insert(["id": JSON(id)]) }
        let result = try await context.push()
        #expect(result.end == .unauthorized && result.error?.code == .unauthorized && result.remaining == 2)
        #expect(server.requests.count == 2 && tokens.renewals == 1)
    }

    @Test("a store that fails: it ends, and what the server did is recognised by the next push")
    func store() async throws {
        let store = MortalStore(MemoryStore())
        let device = try await device(store: store)
        device.server.onRequest { _ in
            store.die(after: 0)
            return .none
        }
        let result = try await device.context.push()
        #expect(result.end == .store && result.applied == 0)
        store.revive()
        device.server.onRequest(nil)
        let next = try await device.context.push()
        #expect(next.isClean && next.conflicts == 0)
        #expect(device.server.rows("todos").count == 2)
    }

    @Test("a cancelled task: it ends, and the operation that was under way waits")
    func cancelled() async throws {
        let device = try await device()
        let (reached, signal) = AsyncStream<Void>.makeStream()
        device.server.onRequest { _ in
            signal.finish()
            try? await Task.sleep(for: .seconds(60))
            return .loseRequest
        }
        let push = Task { try await device.context.push() }
        for await _ in reached {}
        push.cancel()
        let result = try await push.value
        #expect([.cancelled, .network].contains(result.end) && result.remaining == 2)
        #expect(try await device.queue() == ["insert a pending", "insert b pending"])
    }

    @Test("a handler that says abort: it ends, and that operation is held")
    func aborted() async throws {
        let device = try await device(handlers: [ConflictClosure { _ in .abort }])
        device.server.seed("todos", [["id": "a", "n": 9]])
        let result = try await device.context.push()
        #expect(result.end == .aborted && result.error?.code == .aborted && result.conflicts == 1)
        #expect(try await device.queue() == ["insert a parked", "insert b pending"])
    }

    @Test("completed with errors: all were tried, and those that failed are told")
    func completed() async throws {
        let device = try await device()
        device.server.onRequest { $0.context.recordID == "a" ? .answer(.model(422, ["error": "too short"])) : .none }
        let result = try await device.context.push()
        #expect(result.end == .completed && result.error == nil && result.applied == 1 && !result.isClean)
        #expect(result.failures.map(\.failure?.status) == [422])
    }

    @Test("two thousand operations are pushed without the queue getting slower", .timeLimit(.minutes(10)))
    func many() async throws {
        let device = try await Device(.memory)
        for n in 0..<2000 { try await device.todos.insert(["id": JSON("r\(n)"), "n": JSON(n)]) }
        let result = try await device.context.push()
        #expect(result.isClean && result.applied == 2000)
    }
}

/// A token that each refresh replaces.
private final class RenewedTokens: TokenProvider {
    private let count = Mutex(0)
    var renewals: Int { count.withLock { $0 } }

    func token() async throws -> String? { "token\(renewals)" }

    func refresh(refused: String?) async throws -> String? {
        count.withLock { $0 += 1 }
        return try await token()
    }
}
