import Foundation
import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceSQLite
import SluiceStores
import Testing

/// Requests over generated data, asked of all three stores and of a plain evaluator.
@Suite("The same rows from every store") struct SameRowsTests {
    private static let stores = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] == nil ? 8 : 50

    /// 200 requests in each of 8 stores with defining requests of their own; 10,000 in 50 with `SLUICE_ALL_SEEDS`. Half of
    /// the stores are over OData, half of those over v2, and half of all are SQLite. In the second half of a store's
    /// requests there are changes that wait, and the mixed store answers as if the service had them.
    @Test("wherever an answer says that it is complete, it is the evaluator's", arguments: 0..<stores)
    func sameRows(_ seed: Int) async throws {
        let (dialect, root): (Dialect, String) =
            switch seed % 4 {
            case 0: (.odataV4, "/odata/v4")
            case 2: (.odataV2, "/odata/v2")
            default: (.azureV2, "")
            }
        let path = NSTemporaryDirectory() + "rows-\(UUID().uuidString).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        // With each wire as often as not.
        let isSQLite = seed.nonzeroBitCount % 2 == 1
        let local: any LocalStore = isSQLite ? try SQLiteStore(path: path) : MemoryStore()
        var generator = RequestGenerator(seed: UInt64(seed))
        var data = generator.records()
        let backend = try await Backend(
            BackendConfiguration(
                tables: RequestGenerator.tables.map { table in
                    .init(table.name, seed: .records(Array(data[table.name]!.values)), columns: table.columns)
                }))
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test\(root)"), dialect: dialect,
            transport: BackendTransport(backend: backend))
        let context = try await SyncContext(client: client, store: local, tables: RequestGenerator.tables)
        let offline = OfflineStore(context: context, tables: RequestGenerator.tables)
        let online = OnlineStore(client: client, tables: RequestGenerator.tables)
        let mixed = MixedStore(online: online, offline: offline)
        try await mixed.open()
        for request in generator.defining() { try await offline.add(request) }
        try await offline.download()
        var sources: [StoreResult.Source: Int] = [:]
        var (records, numbers) = (0, 0)
        for index in 0..<200 {
            if index == 100 { try await generator.change(&data, offline) }
            let request = generator.request()
            let asked = "\(request.path.segments)?\(request.options.parameters)"
            let wanted = try RequestGenerator.plain(request, data)
            // The service has not heard of the changes, and the offline store's are laid over what it holds.
            let stores: [any DataStore] = index < 100 ? [online, offline, mixed] : [offline, mixed]
            for store in stores {
                let result: StoreResult
                do {
                    result = try await store.read(request)
                } catch let error as SluiceError where error.code == .notFound {
                    try #require(wanted?.records.isEmpty ?? true, "\(asked) from \(type(of: store)): \(error)")
                    continue
                }
                if !(store is OfflineStore) { #expect(result.isComplete) }
                guard result.isComplete else { continue }
                sources[result.source, default: 0] += 1
                let wanted = try #require(wanted, "\(asked) from \(type(of: store)): \(result.explain)")
                if request.path.segments.last?.name == "$count" {
                    numbers += 1
                    try #require(
                        result.value == JSON(wanted.count), "\(asked) from \(type(of: store)): \(result.explain)")
                    continue
                }
                if request.path.segments.count > 1 || request.path.segments[0].arguments != nil { records += 1 }
                let found = RequestGenerator.comparable(result.records)
                try #require(found == wanted.records, "\(asked) from \(type(of: store)): \(result.explain)")
                #expect(
                    result.count == (request.options.count == true ? wanted.count : nil), "\(asked): \(result.explain)")
            }
        }
        #expect(sources[.localComplete, default: 0] > 20, "\(sources)")
        #expect(records > 20 && numbers > 10, "\(records), \(numbers)")
        try await backend.close()
        try await local.close()
    }
}
