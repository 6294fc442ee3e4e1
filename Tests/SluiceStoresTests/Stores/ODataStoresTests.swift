import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceStores
import Testing

/// The stores before the embedded backend's OData services.
@Suite("Stores on OData services") struct ODataStoresTests {
    /// The stores, made from the service's metadata.
    private struct Service {
        let backend: Backend
        let tables: [TableSchema]
        let online: OnlineStore
        let offline: OfflineStore
        let store: MixedStore

        init(_ version: ODataVersion) async throws {
            let customers = BackendConfiguration.Table(
                "customers",
                seed: .records([
                    ["id": "O'Neil(1)", "name": "O'Neil", "points": 7], ["id": "c2", "name": "Bo", "points": 3],
                ]), columns: [.init("name", .string), .init("points", .integer)])
            var orders = BackendConfiguration.Table(
                "orders",
                seed: .records([
                    ["id": "o1", "customerId": "O'Neil(1)", "total": 10],
                    ["id": "o2", "customerId": "c2", "total": 20],
                    ["id": "o3", "customerId": .null, "total": 30],
                ]), columns: [.init("customerId", .string), .init("total", .integer)])
            orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
            backend = try await Backend(
                BackendConfiguration(tables: [customers, orders]),
                operations: [
                    .function("Sum", [.init("a", .integer), .init("b", .integer)], returns: .value(.integer)) { call in
                        JSON((call["a"]?.int ?? 0) &+ (call["b"]?.int ?? 0))
                    },
                    .function("Named", [.init("name", .string)], returns: .records(table: "customers")) { call in
                        var query = Query("customers")
                        query.filter = .binary(.eq, .column("name"), .literal(.string(call["name"]?.string ?? "")))
                        return JSON(try await call.records(matching: query))
                    },
                    .action("Reset", [.init("hard", .boolean)], access: .anonymous) { call in
                        if call["hard"]?.bool == true { throw HookRefusal(409, "not so hard") }
                        return .null
                    },
                ])
            let root = version == .v2 ? "v2" : "v4"
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test/odata/\(root)"), dialect: .odata(version),
                transport: BackendTransport(backend: backend), options: ClientOptions(retry: .never))
            let known = try await client.metadata().linkedTables
            // What v2's associations say of columns is not read, so the references are declared.
            tables =
                version == .v4
                ? known
                : known.map { table in
                    var table = table
                    table.references =
                        table.name == "customers"
                        ? [.init("orders", toMany: "orders", where: "customerId")]
                        : [.init("customer", to: "customers", by: "customerId")]
                    return table
                }
            let context = try await SyncContext(
                client: client, store: MemoryStore(), tables: tables, options: SyncOptions(batchSize: 20))
            online = OnlineStore(client: client, tables: tables)
            offline = OfflineStore(context: context, tables: tables)
            store = MixedStore(online: online, offline: offline)
            try await store.open()
        }
    }

    @Test("v4's navigation properties with a constraint are references of the tables")
    func metadata() async throws {
        let service = try await Service(.v4)
        let customers = try #require(service.tables.first { $0.name == "customers" })
        let orders = try #require(service.tables.first { $0.name == "orders" })
        #expect(customers.reference("orders") == .init("orders", toMany: "orders", where: "customerId"))
        #expect(orders.reference("customer") == .init("customer", to: "customers", by: "customerId"))
        #expect(customers.column("points")?.type == .integer)
    }

    @Test("links, expansions, counts and properties are the same online and offline", arguments: ODataVersion.allCases)
    func reading(_ version: ODataVersion) async throws {
        let service = try await Service(version)
        let base = "http://model.test/odata/\(version == .v2 ? "v2" : "v4")"
        for name in ["customers", "orders"] { try await service.offline.add(DefiningRequest(name, of: name)) }
        try await service.offline.download()
        for store in [service.online, service.offline] as [any DataStore] {
            let orders = try await store.read("customers('O''Neil%281)')/orders")
            #expect(orders.records.map { $0["id"] } == ["o1"] && orders.isComplete)
            let whole = try await store.read("\(base)/customers('O%27%27Neil(1)')/orders/$count")
            #expect(whole.value == 1)
            #expect(try await store.read("orders('o2')/customer/name").value == "Bo")
            #expect(try await store.read("orders('o3')/customer").records.isEmpty)
            let expanded = try await store.read(
                "customers?$orderby=name&$expand=orders($filter=total gt 5;$select=total)&$count=true")
            #expect(expanded.count == 2)
            #expect(expanded.records[0]["orders"] == [["total": 20, "id": "o2"]])
            #expect(expanded.records[1]["name"] == "O'Neil")
            #expect(try await store.read("customers?$select=name&$orderby=points").records[0]["name"] == "Bo")
        }
    }

    @Test("functions and actions are called online, by address and by value", arguments: ODataVersion.allCases)
    func operations(_ version: ODataVersion) async throws {
        let service = try await Service(version)
        let sum = try await service.store.call(OperationCall("Sum", ["a": 2, "b": 3]))
        #expect(sum == 5 || sum == "5")
        let read = try await service.store.read("Sum(a=2,b=@x)?@x=40")
        #expect(read.value == 42 || read.value == "42")
        #expect(read.source == .remote)
        let named = try await service.store.call(OperationCall("Named", ["name": "O'Neil"]))
        #expect(named.elements?.count == 1)
        _ = try await service.store.call(OperationCall("Reset", ["hard": false], isAction: true))
        #expect(
            await code { try await service.store.call(OperationCall("Reset", ["hard": true], isAction: true)) }
                == .conflict)
        #expect(await code { try await service.store.call(OperationCall("../admin")) } == .invalidArgument)
        service.store.mode = .offline
        #expect(await code { try await service.store.read("Sum(a=2,b=3)") } == .notAvailableOffline)
    }

    @Test("raw values are read by their address, and none outside of the service", arguments: ODataVersion.allCases)
    func media(_ version: ODataVersion) async throws {
        let service = try await Service(version)
        let bytes = try await service.store.media("customers('c2')/name/$value")
        #expect(String(decoding: bytes, as: UTF8.self) == "Bo")
        for address in ["../../tables/customers", "http://other.test/odata/v4/x", "customers('c2')/%2e%2e/x"] {
            #expect(await code { try await service.store.media(address) } != nil)
        }
        #expect(await code { try await service.store.media("customers('nobody')/name/$value") } == .notFound)
    }

    @Test("waiting changes are counted in the service's answers", arguments: ODataVersion.allCases)
    func counts(_ version: ODataVersion) async throws {
        let service = try await Service(version)
        try await service.offline.add(
            DefiningRequest("bo", of: "customers", try ODataOptions("$filter=name eq 'Bo'")))
        try await service.offline.download()
        try await service.store.patch(["id": "c2", "points": 9], in: "customers")
        try await service.store.create(["id": "c3", "name": "Cy", "points": 8], in: "customers")
        let high = try await service.store.read("customers?$filter=points gt 5&$count=true&$top=1&$orderby=points desc")
        #expect(high.source == .merged && high.count == 3 && high.records.map { $0["id"] } == ["c2"])
        #expect(try await service.store.read("customers/$count?$filter=points lt 5").value == 0)
        try await service.store.delete("c2", in: "customers")
        #expect(try await service.store.count(Query("customers")) == 2)
        try await service.offline.upload()
        #expect(try await service.online.count(Query("customers")) == 2)
    }

    @Test("a deep insert made on the device is at the service after the upload", arguments: ODataVersion.allCases)
    func deepInsert(_ version: ODataVersion) async throws {
        let service = try await Service(version)
        for name in ["customers", "orders"] { try await service.offline.add(DefiningRequest(name, of: name)) }
        try await service.offline.download()
        try await service.store.create(
            [
                "id": "new", "name": "Dee",
                "orders": [["total": 1], ["__metadata": ["uri": "http://elsewhere/orders('o3')"]]],
            ], in: "customers")
        let push = try await service.offline.upload()
        #expect(push.failures.isEmpty)
        #expect(try await service.offline.errors.all().isEmpty)
        let orders = try await service.online.read("customers('new')/orders?$orderby=total")
        #expect(orders.records.map { $0["total"] } == [1, 30])
    }
}
