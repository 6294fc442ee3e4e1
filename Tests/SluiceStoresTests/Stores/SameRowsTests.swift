import Foundation
import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceStores
import Testing

/// Requests over generated data, asked of all three stores and of a plain evaluator.
@Suite("The same rows from every store") struct SameRowsTests {
    private static let stores = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] == nil ? 8 : 50

    /// 200 requests in each of 8 stores with defining requests of their own; 10,000 in 50 with `SLUICE_ALL_SEEDS`. Half of
    /// the stores are over OData. In the second half of a store's requests there are changes that wait, and the mixed
    /// store answers as if the service had them.
    @Test("wherever an answer says that it is complete, it is the evaluator's", arguments: 0..<stores)
    func sameRows(_ seed: Int) async throws {
        var generator = RequestGenerator(seed: UInt64(seed))
        var data = generator.records()
        let backend = try await Backend(
            BackendConfiguration(
                tables: RequestGenerator.tables.map { table in
                    .init(table.name, seed: .records(Array(data[table.name]!.values)), columns: table.columns)
                }))
        let isOData = seed % 2 == 0
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test\(isOData ? "/odata/v4" : "")"),
            dialect: isOData ? .odataV4 : .azureV2, transport: BackendTransport(backend: backend))
        let context = try await SyncContext(client: client, store: MemoryStore(), tables: RequestGenerator.tables)
        let offline = OfflineStore(context: context, tables: RequestGenerator.tables)
        let online = OnlineStore(client: client, tables: RequestGenerator.tables)
        let mixed = MixedStore(online: online, offline: offline)
        try await mixed.open()
        for request in generator.defining() { try await offline.add(request) }
        try await offline.download()
        var sources: [StoreResult.Source: Int] = [:]
        for index in 0..<200 {
            if index == 100 { try await generator.change(&data, offline) }
            let request = generator.request()
            let wanted = try RequestGenerator.plain(request, data)
            // The service has not heard of the changes, and the offline store's are laid over what it holds.
            let stores: [any DataStore] = index < 100 ? [online, offline, mixed] : [offline, mixed]
            for store in stores {
                let result = try await store.read(request)
                if !(store is OfflineStore) { #expect(result.isComplete) }
                guard result.isComplete else { continue }
                sources[result.source, default: 0] += 1
                let found = RequestGenerator.comparable(result.records)
                let asked = "\(request.path.segments[0].name)?\(request.options.parameters)"
                try #require(found == wanted.records, "\(asked) from \(type(of: store)): \(result.explain)")
                #expect(
                    result.count == (request.options.count == true ? wanted.count : nil), "\(asked): \(result.explain)")
            }
        }
        #expect(sources[.localComplete, default: 0] > 20, "\(sources)")
        try await backend.close()
    }
}
