import HTTPTypes
import SluiceCore
import SluiceStores
import SluiceTesting
import Synchronization

/// Agencies and bookings at a server in memory, with the three stores before them.
struct StoresFixture {
    static let tables = [
        TableSchema(
            "Agencies",
            columns: [
                .init("Country", .string), .init("City", .string), .init("Rank", .integer), .init("OwnerID", .string),
            ],
            references: [
                .init("Bookings", toMany: "Bookings", where: "AgencyID"), .init("Owner", to: "People", by: "OwnerID"),
            ]),
        TableSchema(
            "Bookings", columns: [.init("AgencyID", .string), .init("Price", .integer)],
            references: [.init("Agency", to: "Agencies", by: "AgencyID")]),
        TableSchema(
            "People", columns: [.init("Name", .string), .init("BossID", .string)],
            references: [.init("Boss", to: "People", by: "BossID"), .init("Staff", toMany: "People", where: "BossID")]),
    ]

    let server = ModelServer(pageSize: 3)
    let local: any LocalStore
    let context: SyncContext
    let offline: OfflineStore
    let online: OnlineStore
    let store: MixedStore
    private let network = Network()

    /// The network between the stores and the server.
    final class Network: Sendable {
        let isUp = Mutex(true)
    }

    init(
        local: any LocalStore = MemoryStore(), options: SyncOptions = SyncOptions(),
        offline: OfflineOptions = OfflineOptions()
    ) async throws {
        self.local = local
        server.seed(
            "Agencies",
            [
                ["id": "us-1", "Country": "US", "City": "Boston", "Rank": 2, "OwnerID": "p-1"],
                ["id": "us-2", "Country": "US", "City": "Oakland", "Rank": 4, "OwnerID": .null],
                ["id": "us-3", "Country": "US", "City": "Portland", "Rank": 5, "OwnerID": "p-2"],
                ["id": "cn-1", "Country": "CN", "City": "Beijing", "Rank": 6, "OwnerID": "p-3"],
                ["id": "cn-2", "Country": "CN", "City": "Beijing", "Rank": 7, "OwnerID": .null],
            ])
        server.seed(
            "Bookings",
            [
                ["id": "b-1", "AgencyID": "us-1", "Price": 120], ["id": "b-2", "AgencyID": "us-1", "Price": 80],
                ["id": "b-3", "AgencyID": "us-2", "Price": 300], ["id": "b-4", "AgencyID": "cn-1", "Price": 210],
            ])
        server.seed(
            "People",
            [
                ["id": "p-1", "Name": "Ada", "BossID": "p-2"], ["id": "p-2", "Name": "Bo", "BossID": "p-1"],
                ["id": "p-3", "Name": "Cy", "BossID": .null],
            ])
        server.onRequest { [network] _ in network.isUp.withLock { $0 } ? .none : .loseRequest }
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: ClientOptions(retry: .never))
        context = try await SyncContext(client: client, store: local, tables: Self.tables, options: options)
        self.offline = OfflineStore(context: context, tables: Self.tables, options: offline)
        online = OnlineStore(client: client, tables: Self.tables)
        store = MixedStore(online: online, offline: self.offline)
        try await store.open()
    }

    /// Whether the server can be reached.
    var isUp: Bool {
        get { network.isUp.withLock { $0 } }
        nonmutating set { network.isUp.withLock { $0 = newValue } }
    }

    /// Adds a defining request of an address's table and options, and downloads it.
    func fill(_ name: String, _ address: String) async throws {
        try await define(name, address)
        try await offline.download([name])
    }

    func define(_ name: String, _ address: String) async throws {
        let request = try StoreRequest(odata: address)
        try await offline.add(DefiningRequest(name, of: request.path.segments[0].name, request.options))
    }

    /// A read's ids and source.
    func ask(
        _ address: String, from other: (any DataStore)? = nil, _ options: ReadOptions = ReadOptions()
    ) async throws -> Answer {
        let result = try await (other ?? store).read(address, options)
        return Answer(result.records.compactMap { $0["id"]?.string }, result.source)
    }

    struct Answer: Equatable, CustomStringConvertible {
        var ids: [String]
        var source: StoreResult.Source
        init(_ ids: [String], _ source: StoreResult.Source) { (self.ids, self.source) = (ids.sorted(), source) }
        var description: String { "\(source): \(ids.joined(separator: ", "))" }
    }
}

/// The code of the error that the body throws.
func code(_ body: () async throws -> some Any) async -> SluiceError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? SluiceError)?.code
    }
}
