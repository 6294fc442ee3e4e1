import Foundation
import SluiceCore
import SluiceOData
import SluiceSQLite
import SluiceStores
import Testing

/// Orders whose numbers the service assigns, and items that refer to them by number.
@Suite("Keys that the service assigns") struct AssignedKeyTests {
    private static let tables = [
        TableSchema(
            "Orders", columns: [.init("Number", .integer), .init("Text", .string)],
            references: [
                .init("Items", toMany: "Items", where: "OrderNumber", column: "Number", isAssigned: true)
            ]),
        TableSchema(
            "Items", columns: [.init("OrderNumber", .integer), .init("Amount", .integer)],
            references: [
                .init("Order", to: "Orders", by: "OrderNumber", targetColumn: "Number", isAssigned: true)
            ]),
    ]

    private struct Device {
        let context: SyncContext
        let online: OnlineStore
        let offline: OfflineStore
        let store: MixedStore
        private let path = NSTemporaryDirectory() + "assigned-\(UUID().uuidString).db"

        init(_ service: AssigningService) async throws {
            var orders = ODataSettings.Table(clientID: "Ref", assignsKey: true, key: [.init("Number", .int32)])
            var items = ODataSettings.Table(key: [.init("Code", .string)])
            (orders.tracksChanges, items.tracksChanges) = (false, false)
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test/svc"),
                dialect: .odata(.v4, ODataSettings(tables: ["Orders": orders, "Items": items])), transport: service,
                options: ClientOptions(retry: .never))
            context = try await SyncContext(
                client: client, store: try SQLiteStore(path: path), tables: tables)
            online = OnlineStore(client: client, tables: tables)
            offline = OfflineStore(context: context, tables: tables)
            store = MixedStore(online: online, offline: offline, mode: .offline)
            try await store.open()
            for name in ["Orders", "Items"] { try await offline.add(DefiningRequest(name, of: name)) }
            try await offline.download()
        }

        func close() async throws {
            try await context.store.close()
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        }

        func ids(_ address: String, from other: (any DataStore)? = nil) async throws -> [String] {
            try await (other ?? store).read(address).records.compactMap { $0["id"]?.string }.sorted()
        }
    }

    @Test("what refers to a new record waits for its key, and has it then")
    func follows() async throws {
        let service = AssigningService()
        let device = try await Device(service)
        let made = try await device.store.create(
            ["Text": "t", "Items": [["id": "i-1", "Amount": 1]]], in: "Orders")
        let id = try #require(made["id"]?.string)
        try await device.store.create(["id": "i-2", "Amount": 2, "OrderNumber": JSON(id)], in: "Items")
        try await device.store.create(["id": "i-3", "Order@odata.bind": JSON("Orders('\(id)')")], in: "Items")
        // The links are there before there is a number.
        func check(_ store: any DataStore) async throws {
            #expect(try await device.ids("Orders('\(id)')/Items", from: store) == ["i-1", "i-2", "i-3"])
            #expect(try await device.ids("Items('i-2')/Order", from: store) == [id])
            let parent = try await store.read("Orders('\(id)')?$expand=Items($orderby=id)")
            #expect(parent.record?["Items"]?.elements?.compactMap { $0["id"]?.string } == ["i-1", "i-2", "i-3"])
            let child = try await store.read("Items('i-1')?$expand=Order($select=Text)")
            #expect(child.record?["Order"]?["Text"] == "t" && child.record?["Order"]?["id"]?.string == id)
        }
        try await check(device.store)
        try await check(device.offline)
        // The order is refused: nothing that refers to it is sent.
        service.next(.refuse)
        try await device.offline.upload()
        #expect(service.changes == ["POST Orders"])
        try await device.offline.errors.retry(try #require(try await device.offline.errors.all().first).id)
        service.clear()
        try await device.offline.upload()
        #expect(service.changes == ["POST Orders", "POST Items", "POST Items", "POST Items"])
        #expect(service.bodies.first?["Ref"]?.string == id)
        #expect(service.bodies.dropFirst().allSatisfy { $0["OrderNumber"] == 4711 })
        #expect(try await device.context.queue.count() == 0)
        // The id stays; the number is in the records, and the links lead where they did.
        #expect(try await device.offline.record(id, in: "Orders")["Number"] == 4711)
        #expect(try await device.offline.record("i-1", in: "Items")["OrderNumber"] == 4711)
        try await check(device.offline)
        try await device.offline.download()
        try await check(device.offline)
        // The id is as good as the number from now on.
        try await device.store.create(["id": "i-4", "OrderNumber": JSON(id)], in: "Items")
        #expect(try await device.store.record("i-4", in: "Items")["OrderNumber"] == 4711)
        try await device.store.patch(["id": "i-3", "OrderNumber": .null], in: "Items")
        try await device.store.link("i-3", in: "Items", along: "Order", to: id)
        #expect(try await device.store.record("i-3", in: "Items")["OrderNumber"] == 4711)
        // Another device knows the order by the same id, and its items by the number.
        try await device.offline.upload()
        let other = try await Device(service)
        #expect(try await other.ids("Orders('\(id)')/Items") == ["i-1", "i-2", "i-3", "i-4"])
        #expect(try await other.ids("Items('i-4')/Order") == [id])
        let order = try await other.store.read("Items('i-4')/Order")
        #expect(order.source == .localComplete, "\(order.explain)")
        try await device.close()
        try await other.close()
    }

    @Test("downloaded records, and changes that wait one behind the other, follow too")
    func queued() async throws {
        let service = AssigningService()
        let device = try await Device(service)
        try await device.online.create(["id": "i-0", "Amount": 0], in: "Items")
        try await device.offline.download()
        try await device.offline.create(["id": "a", "Text": "t", "Items": [["@id": "Items('i-0')"]]], in: "Orders")
        try await device.offline.create(["id": "i-1", "OrderNumber": "a", "Amount": 1], in: "Items")
        try await device.offline.patch(
            ["id": "i-1", "Amount": 2], in: "Items", options: OperationOptions(isMergeable: false))
        try await device.offline.create(["id": "b", "Text": "u"], in: "Orders")
        try await device.offline.patch(
            ["id": "i-1", "OrderNumber": "b"], in: "Items", options: OperationOptions(isMergeable: false))
        #expect(try await device.ids("Items('i-0')/Order") == ["a"])
        service.clear()
        try await device.offline.upload()
        #expect(try await device.offline.errors.all().map(\.message) == [])
        #expect(try await device.context.queue.count() == 0)
        let numbers = try await ["a", "b"].asyncMap { try await device.offline.record($0, in: "Orders")["Number"] }
        #expect(Set(numbers) == [4711, 4712])
        let posted = zip(service.changes, service.bodies).first { $0.0 == "POST Items" }?.1
        #expect(posted?["OrderNumber"] == numbers.first && posted?["Amount"] == 1)
        func item(_ code: String) -> JSON? { service.items.first { $0["Code"]?.string == code } }
        #expect(item("i-0")?["OrderNumber"] == numbers[0])
        #expect(item("i-1")?["OrderNumber"] == numbers[1] && item("i-1")?["Amount"] == 2)
        try await device.close()
    }

    @Test("a number that came with an answer which was lost is found, and followed")
    func lostAnswer() async throws {
        let service = AssigningService()
        let device = try await Device(service)
        try await device.offline.create(["id": "a", "Text": "t", "Items": [["id": "i-1", "Amount": 1]]], in: "Orders")
        service.next(.loseAnswer)
        try await device.offline.upload()
        #expect(service.changes == ["POST Orders"])
        let push = try await device.offline.upload()
        #expect(push.failures.isEmpty, "\(push)")
        // The order was made once.
        #expect(service.changes == ["POST Orders", "POST Items"])
        #expect(service.bodies.last?["OrderNumber"] == 4711)
        #expect(try await device.ids("Orders('a')/Items") == ["i-1"])
        try await device.close()
    }

    @Test("online the number of one is in the next")
    func online() async throws {
        let service = AssigningService()
        let device = try await Device(service)
        try await device.online.create(
            ["id": "i-1", "Amount": 1, "Order": ["id": "a", "Text": "t", "Items": [["id": "i-2"]]]], in: "Items")
        #expect(service.changes == ["POST Orders", "POST Items", "POST Items"])
        #expect(service.items.map { $0["OrderNumber"] } == [4711, 4711])
        try await device.close()
    }

    @Test("with settings that name a property for ids, references of the metadata are by the key that is assigned")
    func metadata() throws {
        let document = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Order"><Key><PropertyRef Name="Number"/></Key>
            <Property Name="Number" Type="Edm.Int32" Nullable="false"/><Property Name="Ref" Type="Edm.String"/>
            <NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/></EntityType>
            <EntityType Name="Item"><Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false"/><Property Name="OrderNumber" Type="Edm.Int32"/>
            <NavigationProperty Name="Order" Type="N.Order" Partner="Items">
            <ReferentialConstraint Property="OrderNumber" ReferencedProperty="Number"/></NavigationProperty></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"/>
            <EntitySet Name="Items" EntityType="N.Item"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try EdmModel(document: Array(document.utf8))
        let settings = ODataSettings(tables: ["Orders": .init(clientID: "Ref", assignsKey: true)])
        func references(_ tables: [TableSchema]) -> [TableSchema.Reference] { tables.flatMap(\.references) }
        #expect(references(model.linkedTables(settings)) == references(Self.tables))
        #expect(
            references(model.linkedTables) == [
                .init("Items", toMany: "Items", where: "OrderNumber"), .init("Order", to: "Orders", by: "OrderNumber"),
            ])
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ change: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await change(element)) }
        return results
    }
}
