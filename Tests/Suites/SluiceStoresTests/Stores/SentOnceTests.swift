import Foundation
import HTTPTypes
import SluiceCore
import SluiceOData
import SluiceSQLite
import SluiceStores
import Testing

/// Orders whose numbers the service assigns, where no property holds the id that an order has on the device.
@Suite("Creations that are sent once") struct SentOnceTests {
    private static let tables = [
        TableSchema("Orders", columns: [.init("Number", .integer), .init("Text", .string)]),
        TableSchema(
            "Items", columns: [.init("OrderNumber", .integer), .init("Amount", .integer)],
            references: [.init("Order", to: "Orders", by: "OrderNumber")]),
    ]

    private static func device(
        _ service: any Transport, store: any LocalStore = MemoryStore(), batchSize: Int? = 1,
        remembers: Bool = false
    ) async throws -> SyncContext {
        var orders = ODataSettings.Table(assignsKey: true, key: [.init("Number", .int32)])
        var items = ODataSettings.Table(key: [.init("Code", .string)])
        (orders.tracksChanges, items.tracksChanges) = (false, false)
        let settings = ODataSettings(tables: ["Orders": orders, "Items": items], remembersRequests: remembers)
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test/svc"), dialect: .odata(.v4, settings), transport: service,
            options: ClientOptions(retry: .never))
        return try await SyncContext(
            client: client, store: store, tables: tables, options: SyncOptions(batchSize: batchSize))
    }

    private func texts(_ context: SyncContext) async throws -> [String: String] {
        let records = try await context.table("Orders").records()
        return Dictionary(uniqueKeysWithValues: records.map { ($0["id"]?.string ?? "", $0["Text"]?.string ?? "") })
    }

    @Test("the key that comes with the answer is the record's id from then on, and what refers to it follows")
    func assigned() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        let made = try await device.table("Orders").insert(["id": "a", "Text": "t"])
        try await device.table("Items").insert(["id": "i-1", "OrderNumber": made["id"] ?? .null, "Amount": 1])
        #expect(try await device.push().isClean)
        #expect(service.bodies.map { $0["OrderNumber"] } == [nil, 4711])
        #expect(service.bodies.first?["Number"] == nil)
        #expect(try await texts(device) == ["4711": "t"])
        #expect(try await device.table("Items").lookup(id: "i-1")?["OrderNumber"] == 4711)
        // A pull brings the same record, and a change reaches it.
        try await device.table("Orders").pull()
        #expect(try await texts(device) == ["4711": "t"])
        try await device.table("Orders").update(["id": "4711", "Text": "u"])
        service.clear()
        try await device.push()
        #expect(service.changes == ["PATCH Orders(4711)"])
    }

    @Test("what is edited and deleted while the answer is on its way follows too", arguments: [false, true])
    func editedMeanwhile(isDeleted: Bool) async throws {
        let service = AssigningService()
        let pausing = PausingTransport(service)
        let device = try await Self.device(pausing)
        let orders = try device.table("Orders")
        try await orders.insert(["id": "a", "Text": "t"])
        pausing.beforeAnswer = {
            if isDeleted {
                try await orders.delete(id: "a")
            } else {
                try await orders.update(["id": "a", "Text": "u"])
            }
        }
        service.clear()
        try await device.push()
        try await device.push()
        #expect(service.changes == ["POST Orders", "\(isDeleted ? "DELETE" : "PATCH") Orders(4711)"])
        #expect(try await texts(device) == (isDeleted ? [:] : ["4711": "u"]))
    }

    @Test(
        "one whose answer was lost is held, and never sent again by itself",
        arguments: [
            AssigningService.Fault.loseAnswer, .fail(500), .fail(504), .fail(503), .fail(408), .doneBut(500),
            .doneBut(204), .doneBut(201),
        ])
    func held(_ fault: AssigningService.Fault) async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(fault)
        let push = try await device.push()
        #expect(push.failures.map(\.failure?.reason) == [.maybeApplied])
        let operation = try #require(try await device.queue.operations().first)
        #expect(operation.state == .parked && operation.isUncertain)
        #expect(operation.failure?.request?.method == "POST")
        #expect(try await device.status().needsAttention == 1)
        // Neither a push, nor trying all again, nor an edit sends it.
        try await device.push()
        #expect(try await device.queue.retryAll() == 0)
        try await device.table("Orders").update(["id": "a", "Text": "u"])
        try await device.push()
        try await device.push()
        #expect(service.changes == ["POST Orders"])
        #expect(try await device.queue.operations().map(\.failure?.reason) == [.maybeApplied])
        #expect(try await texts(device) == ["a": "u"])
    }

    @Test(
        "one that was certainly not carried out is sent again",
        arguments: [AssigningService.Fault.fail(503, retryAfter: "1"), .fail(429), .refuse])
    func refused(_ fault: AssigningService.Fault) async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(fault)
        try await device.push()
        try await device.queue.retryAll()
        #expect(try await device.push().isClean)
        #expect(try await texts(device) == ["4711": "t"])
        #expect(service.orders.count == 1)
    }

    @Test("the address that comes without a body has the key")
    func address() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(.doneBut(204, entityID: true))
        #expect(try await device.push().isClean)
        #expect(try await texts(device) == ["4711": "t"])
    }

    @Test("a held creation is sent again on somebody's word, under the same request id; it may then be there twice")
    func retried() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(.loseAnswer)
        try await device.push()
        try await device.queue.retry(try #require(try await device.queue.operations().first).id)
        #expect(try await device.push().isClean)
        #expect(Set(service.requestIDs).count == 1 && service.requestIDs.count == 2)
        #expect(service.orders.count == 2)
        #expect(try await texts(device) == ["4712": "t"])
        // Lost again, it is held again.
        try await device.table("Orders").insert(["id": "b", "Text": "v"])
        for _ in 0..<2 {
            service.next(.loseAnswer)
            try await device.push()
            let held = try #require(try await device.queue.operations().first)
            #expect(held.failure?.reason == .maybeApplied)
            try await device.queue.retry(held.id)
        }
    }

    @Test("a held creation is given up, and a pull shows the row that it made")
    func discarded() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(.loseAnswer)
        try await device.push()
        try await device.table("Orders").pull()
        #expect(try await texts(device) == ["a": "t", "4711": "t"])
        try await device.queue.discard(try #require(try await device.queue.operations().first).id)
        #expect(try await texts(device) == ["4711": "t"])
        try await device.push()
        try await device.table("Orders").pull()
        #expect(try await texts(device) == ["4711": "t"])
        #expect(service.changes == ["POST Orders"])
    }

    @Test("a held creation whose record is deleted here sends nothing")
    func deleted() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        service.next(.loseAnswer)
        try await device.push()
        try await device.table("Orders").delete(id: "a")
        try await device.push()
        #expect(try await device.queue.count() == 0)
        #expect(service.changes == ["POST Orders"])
    }

    @Test("a process that ended between the send and the answer counts as a lost answer")
    func killed() async throws {
        let path = NSTemporaryDirectory() + "once-\(UUID().uuidString).db"
        let copy = path + ".copy"
        defer {
            for file in [path, copy] {
                for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
            }
        }
        let service = AssigningService()
        let pausing = PausingTransport(service)
        let store = try SQLiteStore(path: path)
        let device = try await Self.device(pausing, store: store)
        try await device.table("Orders").insert(["id": "a", "Text": "t"])
        // What a process leaves that ends now.
        pausing.beforeAnswer = {
            for end in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
        }
        try await device.push()
        try await store.close()
        let other = try SQLiteStore(path: copy)
        let next = try await Self.device(service, store: other)
        #expect(try await next.queue.operations().map(\.state) == [.inFlight])
        try await next.push()
        #expect(try await next.queue.operations().map(\.failure?.reason) == [.maybeApplied])
        #expect(service.changes == ["POST Orders"])
        try await other.close()
    }

    @Test("online, records that are made with such a one refer to its key")
    func online() async throws {
        let service = AssigningService()
        let device = try await Self.device(service)
        let store = OnlineStore(client: try #require(device.client), tables: Self.tables)
        try await store.open()
        try await store.create(["id": "i-1", "Amount": 1, "Order": ["Text": "t"]], in: "Items")
        #expect(service.changes == ["POST Orders", "POST Items"])
        #expect(service.items.map { $0["OrderNumber"] } == [4711])
    }

    @Test("a service that remembers the ids of requests is asked again", arguments: [false, true])
    func repeatable(_ isConfigured: Bool) async throws {
        let service = AssigningService()
        service.remember()
        let device = try await Self.device(service, remembers: isConfigured)
        let orders = try device.table("Orders")
        if !isConfigured {
            // Its first answer says that it does.
            try await orders.insert(["id": "a", "Text": "t"])
            #expect(try await device.push().isClean)
        }
        try await orders.insert(["id": "b", "Text": "u"])
        service.next(.loseAnswer)
        #expect(try await device.push().end == .network)
        #expect(try await device.push().isClean)
        #expect(service.orders.count == (isConfigured ? 1 : 2))
        #expect(try await texts(device) == (isConfigured ? ["4711": "u"] : ["4711": "t", "4712": "u"]))
    }

    @Test("where changes go together they go alone, and one that is lost loses none of the others")
    func together() async throws {
        let service = AssigningService()
        let device = try await Self.device(service, batchSize: 10)
        for id in ["a", "b", "c"] { try await device.table("Orders").insert(["id": JSON(id), "Text": JSON(id)]) }
        service.next(.loseAnswer)
        let push = try await device.push()
        #expect(push.failures.map(\.failure?.reason) == [.maybeApplied])
        #expect(service.orders.count == 3)
        #expect(try await texts(device).count == 3)
        #expect(Set(try await texts(device).keys) == ["a", "4712", "4713"])
        // A group is all or nothing, and its answer can be lost.
        try await device.group { group in
            try group.insert(["id": "d", "Text": "d"], in: "Orders")
            try group.insert(["id": "i", "Amount": 1], in: "Items")
        }
        try await device.push()
        let members = try await device.queue.operations().filter { $0.group != nil }
        #expect(members.contains { $0.failure?.message.contains("it goes in no group") == true })
        #expect(service.orders.count == 3 && service.items.isEmpty)
    }

    /// Refuses every batch as a whole.
    private struct NoBatches: Transport {
        let service: AssigningService
        let status: Int

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            guard request.head.path?.hasSuffix("$batch") == true else { return try await service.send(request) }
            return SyncResponse(HTTPResponse(status: .init(code: status)))
        }
    }

    @Test("a batch that is refused as a whole leaves what went before it alone as it is", arguments: [404, 501, 503])
    func refusedBatch(_ status: Int) async throws {
        let service = AssigningService()
        let device = try await Self.device(NoBatches(service: service, status: status), batchSize: 10)
        try await device.table("Items").insert(["id": "i", "Amount": 1])
        try await device.table("Orders").insert(["id": "a", "Text": "a"])
        try await device.table("Items").insert(["id": "j", "Amount": 2])
        for _ in 0..<3 { _ = try? await device.push() }
        #expect(service.orders.count == 1, "it is not sent again")
        #expect(try await texts(device) == ["4711": "a"])
        let waiting = try await device.queue.operations().map(\.recordID.text)
        #expect(waiting == (status == 503 ? ["i", "j"] : []))
    }
}
