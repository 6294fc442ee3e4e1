import Foundation
import HTTPTypes
import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceSQLite
import SluiceStores
import Testing

/// What becomes of a store whose service changes, or is away, between two uses.
@Suite("Metadata that changes, and that is kept") struct MetadataTests {
    @Test(
        "a set that is gone fails by itself; what was downloaded of it is still given, as old as it is",
        arguments: ODataVersion.allCases)
    func gone(_ version: ODataVersion) async throws {
        let local = MemoryStore()
        let service = try await ServiceFixture(version, local: local)
        try await service.fill("customers", "orders")
        let before = try await service.offline.read("orders")
        // The service comes back without orders, and with a customer more.
        let without = try await ServiceFixture.backend(orders: nil)
        service.transport.backend = without
        try await service.online.create(["id": "c9", "name": "Eve"], in: "customers")
        for isFresh in [false, true] {
            let offline =
                isFresh
                ? try await ServiceFixture(version, transport: service.transport, local: local).offline
                : service.offline
            #expect(await code { try await offline.download() } == .notFound, "fresh: \(isFresh)")
            let requests = try await offline.requests()
            #expect(requests.map(\.request.name) == ["customers", "orders"])
            #expect(requests.map { $0.failure == nil } == [true, false])
            #expect(try await offline.read("customers").records.count == 3)
            let orders = try await offline.read("orders?$filter=total gt 15")
            #expect(orders.records.count == 2 && orders.source == .localComplete)
            #expect(orders.asOf == before.asOf)
            #expect(orders.explain.contains("the last download of \"orders\" failed"), "\(orders.explain)")
            #expect(try await !offline.read("customers").explain.contains("failed"))
        }
    }

    @Test(
        "a set that was renamed is read under its new name once its request says so", arguments: ODataVersion.allCases)
    func renamed(_ version: ODataVersion) async throws {
        let local = MemoryStore()
        let service = try await ServiceFixture(version, local: local)
        try await service.fill("customers", "orders")
        service.transport.backend = try await ServiceFixture.backend(orders: "purchases")
        let again = try await ServiceFixture(version, transport: service.transport, local: local)
        #expect(await code { try await again.offline.download() } == .notFound)
        #expect(try await again.offline.read("orders").records.count == 3)
        // With a change that waits, nothing of the old set is let go.
        try await again.offline.patch(["id": "o1", "total": 11], in: "orders")
        let other = DefiningRequest("orders", of: "purchases")
        #expect(await code { try await again.offline.add(other) } == .operationsPending)
        #expect(try await again.offline.requests().map(\.request.table) == ["customers", "orders"])
        #expect(try await again.offline.record("o1", in: "orders")["total"] == 11)
        try await again.offline.undo("o1", in: "orders")
        try await again.offline.add(other)
        #expect(try await again.offline.read("orders").records.isEmpty)
        #expect(try await again.offline.read("purchases").source == .localPartial)
        try await again.offline.download()
        let purchases = try await again.offline.read("purchases")
        #expect(purchases.records.count == 3 && purchases.source == .localComplete)
        #expect(try await again.offline.requests().map { $0.failure == nil } == [true, true])
    }

    @Test("a store is opened again without a network, by the metadata that it keeps", arguments: ODataVersion.allCases)
    func kept(_ version: ODataVersion) async throws {
        let path = NSTemporaryDirectory() + "metadata-\(UUID().uuidString).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let transport = SwitchedTransport(try await ServiceFixture.backend())
        func opened() async throws -> (OfflineStore, SQLiteStore) {
            let local = try SQLiteStore(path: path)
            let client = try ServiceFixture.client(version, transport)
            let model = try await client.metadata(keptIn: local)
            let tables = ServiceFixture.linked(model.linkedTables, version)
            let context = try await SyncContext(client: client, store: local, tables: tables)
            let offline = OfflineStore(context: context, tables: tables, operations: model.operations)
            try await offline.open()
            return (offline, local)
        }
        transport.isUp = false
        #expect(await code { try await opened() } == .network)
        transport.isUp = true
        var (offline, local) = try await opened()
        for name in ["customers", "orders"] { try await offline.add(DefiningRequest(name, of: name)) }
        try await offline.download()
        let expected = try await offline.read("customers?$expand=orders&$orderby=name").records
        try await local.close()
        transport.isUp = false
        transport.clear()
        (offline, local) = try await opened()
        #expect(transport.requests.count == 1)
        let result = try await offline.read("customers?$expand=orders&$orderby=name")
        #expect(result.records == expected && result.source == .localComplete)
        #expect(await code { try await offline.read("Sum?a=1&b=2") } == .notAvailableOffline)
        try await offline.patch(["id": "c2", "points": 5], in: "customers")
        // Once the network is there, all goes on.
        transport.isUp = true
        try await offline.upload()
        try await offline.download()
        #expect(try await offline.record("c2", in: "customers")["points"] == 5)
        #expect(try await offline.errors.all().isEmpty)
        try await local.close()
    }

    @Test("each service has a document of its own")
    func services() async throws {
        let transport = SwitchedTransport(try await ServiceFixture.backend())
        let local = MemoryStore()
        let client = try ServiceFixture.client(.v4, transport)
        let first = try await client.metadata(keptIn: local)
        let old = try await ServiceFixture.client(.v2, transport).metadata(keptIn: local)
        #expect(first != old)
        // The service's new document takes the old one's place.
        transport.backend = try await ServiceFixture.backend(orders: "purchases")
        let second = try await client.metadata(keptIn: local)
        #expect(second.sets.map(\.name).contains("purchases") && second != first)
        transport.isUp = false
        #expect(try await client.metadata(keptIn: local) == second)
        #expect(try await ServiceFixture.client(.v2, transport).metadata(keptIn: local) == old)
        // A service that answers, and refuses, is not away.
        transport.isUp = true
        transport.onRequest { _ in SyncResponse(.init(status: .forbidden)) }
        #expect(await code { try await client.metadata(keptIn: local) } == .forbidden)
    }

    @Test("a dozen stores of two services work side by side, and none sees another's data")
    func manyStores() async throws {
        let folder = NSTemporaryDirectory() + "stores-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let backends = [
            SwitchedTransport(try await ServiceFixture.backend()),
            SwitchedTransport(try await ServiceFixture.backend()),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask {
                    let local = try SQLiteStore(path: "\(folder)/\(index).db")
                    let service = try await ServiceFixture(
                        index % 4 < 2 ? .v2 : .v4, transport: backends[index % 2], local: local)
                    try await service.fill("customers", "orders")
                    for round in 0..<3 {
                        let id = "s\(index)-\(round)"
                        try await service.offline.create(
                            ["id": JSON(id), "name": JSON("of \(index)"), "orders": [["total": JSON(index)]]],
                            in: "customers")
                        try await service.offline.upload()
                        try await service.offline.patch(["id": JSON(id), "points": JSON(round)], in: "customers")
                        try await service.offline.upload()
                        try await service.offline.download()
                    }
                    #expect(try await service.offline.errors.all().isEmpty)
                    let own = try await service.offline.read("customers?$filter=name eq 'of \(index)'&$expand=orders")
                    #expect(own.source == .localComplete && own.records.count == 3)
                    #expect(own.records.allSatisfy { $0["orders"]?.elements?.first?["total"] == JSON(index) })
                    try await local.close()
                }
            }
            try await group.waitForAll()
        }
        for (number, transport) in backends.enumerated() {
            let service = try await ServiceFixture(.v4, transport: transport)
            let names = try await service.online.read("customers?$filter=startswith(name,'of ')").records
                .compactMap { $0["name"]?.string }
            #expect(names.count == 18)
            #expect(Set(names) == Set((0..<12).filter { $0 % 2 == number }.map { "of \($0)" }))
        }
    }
}
