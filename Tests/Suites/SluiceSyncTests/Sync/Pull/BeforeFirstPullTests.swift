import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Rows that came before their query's first pull has ended, and leave before the next begins")
struct BeforeFirstPullTests {
    private func device(_ kind: StoreKind, _ server: ServerKind) async throws -> (Device, TableQuery) {
        let device = try await Device(kind, server: server.make(pageSize: 20))
        device.server.seed("todos", (0..<10).map { ["id": JSON("r\($0)"), "n": JSON($0)] })
        let query = TableQuery("todos", filter: try QueryExpression(odata: "n lt 6"))
        device.server.onRequest { _ in .answer(.model(500, nil)) }
        await #expect(throws: SluiceError.self) { try await device.todos.pull(query, named: "q") }
        device.server.onRequest(nil)
        return (device, query)
    }

    private func checkLeft(_ device: Device, _ query: TableQuery) async throws {
        device.server.seed("todos", [["id": "r1", "n": 99]])
        device.server.hardDelete("todos", "r2")
        try await device.todos.pull(query, named: "q")
        #expect(try await device.todos.records().compactMap { $0["n"]?.int }.sorted() == [0, 3, 4, 5])
        device.server.clearLog()
        #expect(try await device.todos.pull(query, named: "q").reconcile == nil, "it is looked for once")
    }

    @Test("a reconcile brought them", arguments: StoreKind.allCases, ServerKind.sorting)
    func reconciled(_ kind: StoreKind, _ server: ServerKind) async throws {
        let (device, query) = try await device(kind, server)
        #expect(try await device.todos.reconcile(query, named: "q").stored == 6)
        try await checkLeft(device, query)
    }

    @Test("a reconcile that broke off brought some", arguments: StoreKind.allCases, ServerKind.sorting)
    func brokenReconcile(_ kind: StoreKind, _ server: ServerKind) async throws {
        let (device, query) = try await device(kind, server)
        device.server.seed("todos", (0..<60).map { ["id": JSON("s\($0)"), "n": 0] })
        device.server.onRequest { request in
            let path = PercentEncoding.decoded(request.head.path ?? "")
            return path.contains("id eq 's9'") ? .answer(.model(500, nil)) : .none
        }
        await #expect(throws: SluiceError.self) {
            try await device.todos.reconcile(query, named: "q")
        }
        #expect(try await device.local("r1") != nil)
        device.server.onRequest(nil)
        for id in 0..<60 { device.server.hardDelete("todos", "s\(id)") }
        try await checkLeft(device, query)
    }

    @Test("a first pull broke off while it read rows again", arguments: StoreKind.allCases, [false, true])
    func brokenPull(_ kind: StoreKind, _ isOfAll: Bool) async throws {
        let store = try await kind.make()
        let (writer, query) = try await device(kind, .tokens)
        let other = try await Device(kind, server: writer.server, store: store)
        let slow = SlowTransport(writer.server)
        let reader = try await Device(kind, server: writer.server, store: store, transport: slow)
        slow.afterFirstAnswer {
            // What happened to one row since the page was asked for makes it stale.
            _ = try? await other.todos.insert(["id": "r0", "n": 0])
            for operation in (try? await other.context.queue.operations()) ?? [] {
                try? await other.context.queue.discard(operation.id)
            }
            writer.server.onRequest { _ in .answer(.model(500, nil)) }
        }
        let client = try reader.context.requireClient()
        var driver = PullDriver(
            client: client, store: store, options: reader.context.options, query: isOfAll ? TableQuery("todos") : query,
            owner: reader.context.owner(of: "todos", named: "q", client))
        await #expect(throws: SluiceError.self) { try await driver.run() }
        #expect(try await other.local("r1") != nil)
        writer.server.onRequest(nil)
        writer.server.seed("todos", isOfAll ? [] : [["id": "r1", "n": 99]])
        writer.server.hardDelete("todos", isOfAll ? "r1" : "r2")
        try await other.todos.pull(isOfAll ? TableQuery("todos") : query, named: "q")
        let left: [Int64] = isOfAll ? [0, 2, 3, 4, 5, 6, 7, 8, 9] : [0, 3, 4, 5]
        let here = try await other.todos.records()
        #expect(here.compactMap { $0["n"]?.int }.sorted() == left, "\(here)")
    }
}
