import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Batches that nobody has asked for, and queues that are read in parts")
struct BatchOfferTests {
    private func batches(_ server: ModelServer) throws -> [[JSON]] {
        try server.requests.filter { $0.head.path == "/tables/$batch" }.map {
            try $0.body.json["requests"]?.elements ?? []
        }
    }

    @Test("batches are used without being asked for, where the server says that it takes them")
    func offered() async throws {
        let server = ModelServer()
        server.offer([.batches])
        var traits = ModelServer.Traits()
        traits.saysBatchSize = 3
        server.set(traits)
        let device = try await Device(.memory, server: server) { $0.batchSize = nil }
        for number in 0..<8 { try await device.todos.insert(["id": JSON("r\(number)")]) }
        #expect(try await device.context.push().isClean)
        // The first answer says so.
        #expect(server.calls.first == "POST /tables/todos")
        #expect(try batches(server).map(\.count) == [3, 3])
        #expect(server.requests.count == 4 && server.rows("todos").count == 8)
        // The next push knows it from the beginning, and asked for none there are none.
        for number in 10..<12 { try await device.todos.insert(["id": JSON("r\(number)")]) }
        server.clearLog()
        #expect(try await device.context.push().isClean)
        #expect(server.calls == ["POST /tables/$batch"])
        let single = try await Device(.memory, server: server) { $0.batchSize = 1 }
        for number in 20..<23 { try await single.todos.insert(["id": JSON("r\(number)")]) }
        server.clearLog()
        #expect(try await single.context.push().isClean)
        #expect(server.calls == Array(repeating: "POST /tables/todos", count: 3))
    }

    @Test("a filter that lets requests through one by one only is no trap for batches that nobody has asked for")
    func serialFilter() async throws {
        actor Turnstile: RequestFilter {
            private var isTaken = false
            private var waiting: [CheckedContinuation<Void, Never>] = []

            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                while isTaken { await withCheckedContinuation { waiting.append($0) } }
                isTaken = true
                defer {
                    isTaken = false
                    for waiter in waiting { waiter.resume() }
                    waiting = []
                }
                return try await next(request)
            }
        }
        let server = ModelServer()
        server.offer([.batches])
        var traits = ModelServer.Traits()
        traits.saysBatchSize = 100
        server.set(traits)
        let device = try await Device(.memory, server: server, filters: [Turnstile()]) { $0.batchSize = nil }
        for number in 0..<5 { try await device.todos.insert(["id": JSON("r\(number)")]) }
        #expect(try await device.context.push().isClean)
        #expect(server.rows("todos").count == 5)
    }

    @Test(
        "a queue that is read in parts is sent whole, in order, and what is held holds back its own record alone",
        arguments: StoreKind.allCases, [1, 3])
    func parts(_ kind: StoreKind, _ size: Int) async throws {
        let device = try await Device(kind, maximumAttempts: 1) {
            $0.batchSize = size
            $0.queuePart = 2
        }
        device.server.offer([.batches])
        for number in 0..<9 { try await device.todos.insert(["id": JSON("r\(number)"), "n": 1]) }
        // Two operations on one record, far apart.
        try await device.todos.update(["id": "r1", "n": 2], options: OperationOptions(isMergeable: false))
        try await device.todos.update(["id": "r3", "n": 2], options: OperationOptions(isMergeable: false))
        device.server.onRequest {
            let isRefused = $0.head.path == "/tables/todos" && (try? $0.body.json["id"]) == "r3"
            return isRefused ? .answer(.model(400, ["error": "no"])) : .none
        }
        let result = try await device.context.push()
        if size == 1 {
            #expect(result.applied == 9 && result.failures.map(\.recordID) == ["r3"] && result.remaining == 2)
            #expect(device.server.rows("todos")["r1"]?["n"] == 2 && device.server.rows("todos")["r3"] == nil)
            #expect(try await device.queue() == ["insert r3 parked", "update r3 pending"])
        } else {
            #expect(result.isClean && result.applied == 11)
            #expect(device.server.rows("todos").values.filter { $0["n"] == 2 }.count == 2)
        }
    }
}
