internal import SluiceCore
internal import SluiceLua
internal import SluiceSQLite

/// The pull of ``PullRuns/sluice(pages:database:options:)`` with a plugin that looks at every row.
enum PageRuns {
    static func withHook(pages: String, database: String) async throws -> Measurement {
        let plugins = try await Plugins([try PluginPlans.pulled()])
        let options = plugins.added(to: SyncOptions())
        return try await Measurement.of {
            try await PullRuns.sluice(pages: pages, database: database, options: options)
        }
    }

    /// Sees that the plugin has done its work: each row is as it is without, but for the quantity.
    static func check(_ database: String, against other: String) async throws {
        func records(_ path: String) async throws -> [JSON] {
            let store = try SQLiteStore(path: path)
            let found = try await store.read { try $0.records(matching: TableQuery("movements", order: [.init("id")])) }
            try await store.close()
            return found
        }
        let (with, without) = (try await records(database), try await records(other))
        guard with.count == without.count, !with.isEmpty else { throw BenchFailure("not all rows were stored") }
        for (row, came) in zip(with, without) {
            let added = came["title"]?.string?.utf8.count ?? 0
            var expected = came
            expected["quantity"] = JSON((came["quantity"]?.int ?? 0) + Int64(added))
            guard row == expected else { throw BenchFailure("the plugin has made \(row) and not \(expected)") }
        }
    }
}
