internal import SluiceCore
internal import SluiceLua
internal import SluiceSQLite

/// The work of plugins that is measured.
enum PluginRuns {
    /// The pull of ``PullRuns/sluice(pages:database:)``, with a plugin that reads three fields of each row and writes one.
    static func pull(pages: String, database: String) async throws {
        let plugins = try await Plugins([try plan("page-marker", hook: "after_pull", script: marker)])
        let store = try SQLiteStore(path: database, options: .init(durability: .normal))
        let client = SluiceClient(
            endpoint: try Endpoint("http://loopback.invalid"), transport: LoopbackTransport(directory: pages))
        let context = try await SyncContext(
            client: client, store: store, tables: [PullRuns.schema], options: plugins.added(to: SyncOptions()))
        _ = try await context.pull(Query("movements"), named: "all")
        let marked = try QueryExpression(odata: "quantity lt 0 and active eq false")
        let count = try await store.read { try $0.count(matching: Query("movements", filter: marked)) }
        let wrong = try QueryExpression(odata: "quantity lt 0 and active eq true")
        let left = try await store.read { try $0.count(matching: Query("movements", filter: wrong)) }
        guard count > 0, left == 0 else { throw BenchFailure("the plugin did not do its work") }
        try await store.close()
    }

    /// Loads `count` plugins, and returns after their scripts have run.
    static func load(_ count: Int) async throws {
        let plans = try (0..<count).map { try plan("plugin-\($0)", hook: "request", script: header) }
        let plugins = try await Plugins(plans)
        guard plugins.names.count == count else { throw BenchFailure("not all plugins were loaded") }
    }

    private static let marker = """
        return { after_pull = function(rec, ctx)
          if rec.quantity < 0 and rec.title ~= "" then rec.active = false else rec.active = rec.active end
        end }
        """

    private static let header = """
        return { request = function(req, ctx)
          if req.method ~= "GET" and req.table and req.path ~= "" then req.headers:set("X-Kind", req.table) end
        end }
        """

    private static func plan(_ name: String, hook: String, script: String) throws -> PluginPlan {
        let manifest =
            #"{"name":"\#(name)","version":"1.0.0","description":"measured","api":"1.0","hooks":{"\#(hook)":{}}}"#
        return try PluginPlan(
            PluginBundle(
                files: ["plugin.json": Array(manifest.utf8), "main.lua": Array(script.utf8)], location: name))
    }
}
