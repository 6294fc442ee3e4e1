import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceStores

/// The three stores before the embedded backend's OData service, made from the service's metadata.
struct ServiceFixture {
    let transport: SwitchedTransport
    let client: SluiceClient
    let tables: [TableSchema]
    let online: OnlineStore
    let offline: OfflineStore
    let store: MixedStore

    init(
        _ version: ODataVersion, transport: SwitchedTransport = SwitchedTransport(),
        local: any LocalStore = MemoryStore(), options: SyncOptions = SyncOptions(batchSize: 20),
        settings: ODataSettings = ODataSettings()
    ) async throws {
        if transport.backend == nil { transport.backend = try await Self.backend() }
        self.transport = transport
        client = try Self.client(version, transport, settings)
        let model = try await client.metadata()
        tables = Self.linked(model.linkedTables, version)
        let context = try await SyncContext(client: client, store: local, tables: tables, options: options)
        online = OnlineStore(client: client, tables: tables, operations: model.operations)
        offline = OfflineStore(context: context, tables: tables, operations: model.operations)
        store = MixedStore(online: online, offline: offline)
        try await store.open()
        transport.clear()
    }

    static func client(
        _ version: ODataVersion, _ transport: some Transport, _ settings: ODataSettings = ODataSettings()
    ) throws -> SluiceClient {
        SluiceClient(
            endpoint: try Endpoint("http://model.test/odata/\(version == .v2 ? "v2" : "v4")"),
            dialect: .odata(version, settings), transport: transport, options: ClientOptions(retry: .never))
    }

    /// What v2's associations say of columns is not read, so the references are declared.
    static func linked(_ tables: [TableSchema], _ version: ODataVersion) -> [TableSchema] {
        guard version == .v2 else { return tables }
        return tables.map { table in
            var table = table
            switch table.name {
            case "customers": table.references = [.init("orders", toMany: "orders", where: "customerId")]
            case "orders": table.references = [.init("customer", to: "customers", by: "customerId")]
            default: break
            }
            return table
        }
    }

    /// Customers and their orders, and operations; `orders` is the name of their set.
    static func backend(orders name: String? = "orders") async throws -> Backend {
        let customers = BackendConfiguration.Table(
            "customers",
            seed: .records([
                ["id": "O'Neil(1)", "name": "O'Neil", "points": 7], ["id": "c2", "name": "Bo", "points": 3],
            ]), columns: [.init("name", .string), .init("points", .integer)])
        var tables = [customers]
        if let name {
            var orders = BackendConfiguration.Table(
                name,
                seed: .records([
                    ["id": "o1", "customerId": "O'Neil(1)", "total": 10],
                    ["id": "o2", "customerId": "c2", "total": 20],
                    ["id": "o3", "customerId": .null, "total": 30],
                ]), columns: [.init("customerId", .string), .init("total", .integer)])
            orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
            tables.append(orders)
        }
        return try await Backend(
            BackendConfiguration(tables: tables),
            operations: [
                .function("Sum", [.init("a", .integer), .init("b", .integer)], returns: .value(.integer)) { call in
                    JSON((call["a"]?.int ?? 0) &+ (call["b"]?.int ?? 0))
                },
                .function("Named", [.init("name", .string)], returns: .records(table: "customers")) { call in
                    var query = TableQuery("customers")
                    query.filter = .binary(.eq, .column("name"), .literal(.string(call["name"]?.string ?? "")))
                    return JSON(try await call.records(matching: query))
                },
                .action("Reset", [.init("hard", .boolean)], access: .anonymous) { call in
                    if call["hard"]?.bool == true { throw HookRefusal(409, "not so hard") }
                    return .null
                },
            ])
    }

    /// Adds defining requests of whole sets, and downloads them.
    func fill(_ names: String...) async throws {
        for name in names { try await offline.add(DefiningRequest(name, of: name)) }
        try await offline.download()
        transport.clear()
    }
}
