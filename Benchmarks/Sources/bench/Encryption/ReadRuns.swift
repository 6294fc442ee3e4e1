internal import SluiceCore
internal import SluiceSQLite

/// Reads of single records, as an application makes them.
enum ReadRuns {
    /// What the encrypted stores of a benchmark are encrypted with; they keep no secrets.
    static func encryption() throws -> StoreEncryption { .key(try StoreKey((0..<32).map { UInt8($0) })) }

    /// Reads records by their ids, in an order that leads all over the table. Finding the ids is not measured.
    static func points(_ count: Int, database: String, _ encryption: StoreEncryption?) async throws -> Measurement {
        let store = try SQLiteStore(path: database, encryption: encryption)
        let table = try await SyncContext(store: store, tables: [PullRuns.schema]).table(PullRuns.schema.name)
        var ids = try await table.records(matching: TableQuery(PullRuns.schema.name, select: ["id"]))
            .compactMap { $0["id"]?.string }
        var random = SplitMix64(state: 0xCAFE)
        ids.shuffle(using: &random)
        let wanted = (0..<count).map { ids[$0 % ids.count] }
        let measurement = try await Measurement.of {
            for id in wanted {
                guard try await table.lookup(id: id) != nil else { throw BenchFailure("\(id) is not there") }
            }
        }
        try await store.close()
        return measurement
    }
}
