import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Dependencies: parents reach the server before their children")
struct DependentPushTests {
    private func device(
        _ kind: StoreKind, concurrency: Int = 1, column: String? = "list"
    ) async throws -> (device: Device, lists: SyncTable<JSON>, items: SyncTable<JSON>) {
        let device = try await Device(kind) {
            $0.concurrency = concurrency
            $0.dependencies = [TableDependency("items", on: "lists", by: column)]
        }
        return (device, try device.context.table("lists"), try device.context.table("items"))
    }

    @Test(
        "children wait for their parents, wherever they stand in the queue", arguments: StoreKind.allCases,
        [(1, "list"), (8, "list"), (1, nil), (8, nil)])
    func order(_ kind: StoreKind, _ how: (concurrency: Int, column: String?)) async throws {
        let (device, lists, items) = try await device(kind, concurrency: how.concurrency, column: how.column)
        for n in 0..<6 { try await items.insert(["id": JSON("i\(n)"), "list": JSON("l\(n % 3)")]) }
        for n in 0..<3 { try await lists.insert(["id": JSON("l\(n)")]) }
        let server = device.server
        let orphans = Recorder<String>()
        server.onRequest { request in
            let body = (try? request.body.json) ?? .null
            if request.head.path == "/tables/items", let list = body["list"]?.string,
                server.rows("lists")[RecordID(list)] == nil
            {
                orphans.add(list)
            }
            for _ in 0..<20 { await Task.yield() }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(orphans.all == [] && server.rows("items").count == 6)
    }

    @Test("a parent whose change becomes a delete is deleted after its children", arguments: [true, false])
    func changeBecomesDelete(clientWins: Bool) async throws {
        let device = try await Device(.memory, policy: clientWins ? .clientWins : .serverWins) {
            $0.dependencies = [TableDependency("items", on: "lists", by: "list")]
        }
        let (lists, items) = (try device.context.table("lists"), try device.context.table("items"))
        device.server.seed("lists", [["id": "l", "n": 0]])
        device.server.seed("items", [["id": "i", "list": "l"]])
        try await lists.pull()
        try await items.pull()
        try await lists.update(["id": "l", "n": 1])
        device.server.seed("lists", [["id": "l", "n": 9]])
        device.server.clearLog()
        device.server.onRequest { request in
            guard request.head.method == .patch else { return .none }
            try? await items.delete(id: "i")
            try? await lists.delete(id: "l")
            return .none
        }
        for _ in 0..<3 { _ = try await device.context.push() }
        let deletes = device.server.calls.filter { $0.hasPrefix("DELETE") }
        #expect(deletes == ["DELETE /tables/items/i", "DELETE /tables/lists/l"], "\(device.server.calls)")
        #expect(try await device.queue() == [])
    }

    @Test("so is one whose insert may have been done", arguments: StoreKind.allCases)
    func insertBecomesDelete(_ kind: StoreKind) async throws {
        let (device, lists, items) = try await device(kind, concurrency: 1)
        try await lists.insert(["id": "l"])
        device.server.onRequest { $0.head.method == .post ? .loseAnswer : .none }
        _ = try await device.context.push()
        device.server.onRequest(nil)
        device.server.seed("items", [["id": "i", "list": "l"]])
        try await items.pull()
        try await items.delete(id: "i")
        try await lists.delete(id: "l")
        device.server.clearLog()
        _ = try await device.context.push()
        let deletes = device.server.calls.filter { $0.hasPrefix("DELETE") }
        #expect(deletes == ["DELETE /tables/items/i", "DELETE /tables/lists/l"], "\(device.server.calls)")
    }

    @Test("a parent is deleted after its children", arguments: StoreKind.allCases, [1, 8])
    func deletes(_ kind: StoreKind, _ concurrency: Int) async throws {
        let (device, lists, items) = try await device(kind, concurrency: concurrency)
        device.server.seed("lists", [["id": "l"]])
        device.server.seed("items", (0..<4).map { ["id": JSON("i\($0)"), "list": "l"] })
        try await lists.pull()
        try await items.pull()
        for n in 0..<4 { try await items.delete(id: "i\(n)") }
        try await lists.delete(id: "l")
        let server = device.server
        let left = Recorder<Int>()
        server.onRequest { request in
            if request.head.method == .delete, request.head.path == "/tables/lists/l" {
                left.add(server.rows("items").values.filter { $0["deleted"] != true }.count)
            }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(left.all == [0])
    }

    @Test(
        "a parent is deleted after a child that another change in the queue puts there",
        arguments: StoreKind.allCases, [true, false])
    func deletesBehindInserts(_ kind: StoreKind, _ isMoved: Bool) async throws {
        let (device, lists, items) = try await device(kind, concurrency: 8)
        let server = device.server
        server.seed("lists", [["id": "l"], ["id": "other"]])
        try await lists.pull()
        // Each goes out as it was made, so that the insert stands before what follows.
        let alone = OperationOptions(isMergeable: false)
        try await items.insert(["id": "i", "list": "l"], options: alone)
        if isMoved {
            try await items.update(["id": "i", "list": "other"], options: alone)
        } else {
            try await items.delete(id: "i", options: alone)
        }
        try await lists.delete(id: "l")
        let left = Recorder<Int>()
        server.onRequest { request in
            if request.context.recordID == "i", request.head.method != .post {
                // Time enough for the parent's delete, if nothing holds it back.
                for _ in 0..<50 where left.all.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
            }
            if request.head.method == .delete, request.head.path == "/tables/lists/l" {
                left.add(server.rows("items").values.filter { $0["list"] == "l" && $0["deleted"] != true }.count)
            }
            return .none
        }
        #expect(try await device.context.push().isClean)
        #expect(left.all == [0], "\(server.calls)")
        #expect(try await device.queue() == [])
    }

    @Test(
        "a failed operation parks its successors and its dependents, and nothing else", arguments: StoreKind.allCases,
        [1, 4])
    func failed(_ kind: StoreKind, _ concurrency: Int) async throws {
        let (device, lists, items) = try await device(kind, concurrency: concurrency)
        try await lists.insert(["id": "bad"])
        try await lists.insert(["id": "good"])
        try await items.insert(["id": "1", "list": "bad"])
        try await items.insert(["id": "2", "list": "good"])
        device.server.onRequest { $0.context.recordID == "bad" ? .answer(.model(400, nil)) : .none }
        let result = try await device.context.push()
        #expect(result.applied == 2 && result.failures.map(\.recordID) == ["bad"])
        #expect(try await device.queue() == ["insert bad parked", "insert 1 pending"])
        device.server.onRequest(nil)
        #expect(try await device.context.push().applied == 0, "the parent is still parked, so the child waits")
        let bad = try #require(try await device.context.queue.operations().first)
        try await device.context.queue.retry(bad.id)
        #expect(try await device.context.push().isClean)
    }

    @Test(
        "a child that is moved to another parent during the push waits for that one", arguments: StoreKind.allCases,
        [true, false])
    func moved(_ kind: StoreKind, _ isParentKnown: Bool) async throws {
        let (device, lists, items) = try await device(kind)
        if isParentKnown { try await lists.insert(["id": "late"]) }
        try await lists.insert(["id": "early"])
        try await items.insert(["id": "1", "list": "early"])
        let hasMoved = Recorder<Bool>()
        device.server.onRequest { request in
            guard request.context.recordID != "late" else { return .answer(.model(400, nil)) }
            if request.context.recordID == "early", hasMoved.all.isEmpty {
                hasMoved.add(true)
                if !isParentKnown { _ = try? await lists.insert(["id": "late"]) }
                _ = try? await items.update(["id": "1", "list": "late"])
            }
            return .none
        }
        #expect(try await device.context.push().applied == 1)
        #expect(device.server.rows("items").isEmpty, "its parent is not on the server")
        #expect(try await device.queue().contains("insert 1 pending"))

        device.server.onRequest(nil)
        for operation in try await device.context.queue.operations() where operation.state == .parked {
            try await device.context.queue.retry(operation.id)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.server.rows("items")["1"]?["list"] == "late")
    }
}
