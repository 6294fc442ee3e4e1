import Foundation
import SluiceCore
import SluiceStores
import SluiceTesting
import Testing

/// Requests over generated data, asked of all three stores and of a plain evaluator.
@Suite("The same rows from every store") struct SameRowsTests {
    /// 10,000 requests in 50 stores, each with defining requests of its own.
    @Test("wherever an answer says that it is complete, it is the evaluator's", arguments: 0..<50)
    func sameRows(_ seed: Int) async throws {
        var generator = RequestGenerator(seed: UInt64(seed))
        let server = ModelServer(pageSize: 1000)
        let records = generator.records()
        for (table, rows) in records { server.seed(table, rows) }
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
        let context = try await SyncContext(client: client, store: MemoryStore(), tables: RequestGenerator.tables)
        let offline = OfflineStore(context: context, tables: RequestGenerator.tables)
        let online = OnlineStore(client: client, tables: RequestGenerator.tables)
        let mixed = MixedStore(online: online, offline: offline)
        try await mixed.open()
        for request in generator.defining() { try await offline.add(request) }
        try await offline.download()
        var complete = 0
        for _ in 0..<200 {
            let request = generator.request()
            let wanted = try RequestGenerator.plain(request, server)
            for store in [online, offline, mixed] as [any DataStore] {
                let result = try await store.read(request)
                if store is OfflineStore, result.isComplete { complete += 1 }
                if !(store is OfflineStore) { #expect(result.isComplete) }
                guard result.isComplete else { continue }
                let found = RequestGenerator.comparable(result.records)
                try #require(
                    found == wanted.records,
                    "\(request.path.segments[0].name)?\(request.options.parameters) from \(type(of: store)): \(result.explain)")
                #expect(result.count == (request.options.count == true ? wanted.count : nil))
            }
        }
        #expect(complete > 5, "the device answers few of the requests")
    }
}
