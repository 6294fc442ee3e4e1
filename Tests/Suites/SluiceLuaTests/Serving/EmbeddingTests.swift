import Foundation
import HTTPTypes
import MetricsTestKit
import SluiceCore
import SluiceLua
import SluiceTesting
import Testing

@Suite("Plugins in an application")
struct EmbeddingTests {
    struct RequestLog: RequestFilter {
        func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
            try await next(request)
        }
    }

    @Test("the page's Swift does what the page says")
    func embedded() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (policy, kept) = (folder.appending(path: "policy.yaml").path, folder.appending(path: "kept.json").path)
        try "plugins: {}".write(toFile: policy, atomically: true, encoding: .utf8)
        let (store, transport, endpoint) = (MemoryStore(), ModelServer(), try Endpoint("http://model.test"))
        let secrets: [String: String] = [:]

        let plugins = try await Plugins(policy: policy, options: PluginOptions(store: store))
        let client = SluiceClient(endpoint: endpoint, transport: transport, filters: [plugins.filter])
        let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))

        var options = PluginOptions(transport: transport, store: store, storage: try await StoredPluginValues(store))
        options.secret = { name in secrets[name] }
        options.tables = [TableSchema("todos", columns: [.init("title", .string)])]
        options.filters = [Placed(RequestLog(), placement: Placement("log", band: .observe))]
        options.lastGood = kept
        let (decisions, factory) = (folder.appending(path: "decisions.jsonl").path, TestMetrics())
        options.decisionLog = DecisionLog(decisions, hasInputs: true, hidden: ["email"])
        options.metrics = factory
        _ = try await Plugins(policy: policy, options: options)
        #expect(FileManager.default.fileExists(atPath: decisions))
        #expect(FileManager.default.fileExists(atPath: kept))

        do {
            try await plugins.reload()
        } catch {
            print("the plugins from before go on: \(error)")
        }

        let telling = Task { await plugins.tell(of: context) }
        try await context.table("todos").insert(["title": "milk"])
        _ = try await context.push()
        #expect(transport.rows("todos").count == 1)
        telling.cancel()
        await telling.value

        for decision in await plugins.decisions where decision.failure != nil {
            print(decision.plugin, decision.hook, decision.reason ?? "", decision.fuel)
        }
        let figures = await plugins.metrics
        print(figures.errors, figures.setVersion, figures.memory)
        #expect(figures.setVersion == 2)
    }
}
