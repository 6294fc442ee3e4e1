import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceStores
import Testing

/// Requests over generated data, asked of all three stores and of a plain evaluator.
@Suite("The same rows from every store") struct SameRowsTests {
    /// 10,000 requests in 50 stores, each with defining requests of its own; half of them over OData. In the second half
    /// of each store's requests there are changes that wait, and the mixed store answers as if the service had them.
    @Test("wherever an answer says that it is complete, it is the evaluator's", arguments: 0..<50)
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
                // A page without an order is the service's to cut.
                if result.source == .merged, request.options.order.isEmpty,
                    request.options.top != nil || request.options.skip != nil
                {
                    continue
                }
                var found = RequestGenerator.comparable(result.records)
                if result.source == .merged, request.options.order.isEmpty {
                    found.sort { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }
                }
                let asked = "\(request.path.segments[0].name)?\(request.options.parameters)"
                try #require(found == wanted.records, "\(asked) from \(type(of: store)): \(result.explain)")
                #expect(result.count == (request.options.count == true ? wanted.count : nil), "\(asked): \(result.explain)")
            }
        }
        #expect(sources[.localComplete, default: 0] > 20, "\(sources)")
        try await backend.close()
    }
}
