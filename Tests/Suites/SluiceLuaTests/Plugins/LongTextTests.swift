import Foundation
import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Plugins and records with a long text")
struct LongTextTests {
    static let plugins: [(name: String, config: JSON)] = [
        ("audit-trail", ["app": "x"]), ("schema-bridge", ["tables": ["items": ["n": ["server": "number"]]]]),
        ("pii-redact", ["tables": ["items": ["z": "mask"]]]), ("system-properties", .object),
        ("correlation-id", ["prefix": "a-"]), ("payload-shrink", ["tables": ["items"]]),
    ]

    @Test(
        "a change arrives whole, whichever plugin looks at it", arguments: plugins, [10, 100_000, 400_000, 2_000_000])
    func arrives(plugin: (name: String, config: JSON), size: Int) async throws {
        let folder = BundledPluginsTests.folder.appendingPathComponent(plugin.name).path
        let server = ModelServer()
        let store = MemoryStore()
        var deployment = Deployment()
        deployment.labels = ["user": "ann"]
        let plan = try PluginPlan(PluginBundle(folder: folder), config: plugin.config, deployment: deployment)
        let plugins = try await Plugins([plan], options: PluginOptions(store: store))
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, filters: [plugins.filter])
        let context = try await SyncContext(client: client, store: store, options: plugins.added(to: SyncOptions()))
        let text = String(repeating: "x", count: size)
        try await context.table("items").insert(["id": "a", "t": JSON(text), "n": "other"])
        let push = try await context.push()
        #expect(push.isClean, "\(push.error?.message ?? "") \(push.failures.map { $0.failure?.message ?? "" })")
        #expect(server.rows("items")["a"]?["t"]?.string == text)
    }

    @Test("a script gains nothing by texts of its own making")
    func own() async throws {
        let main = """
            return { request = function(req)
              local text = ("x"):rep(200000)
              for _ = 1, 10 do
                req.body:set_text('"' .. text .. '"')
                text = req.body:json() .. req.body:json()
              end
            end }
            """
        let plugins = try await PluginText(["request"], main).loaded()
        let transport = ScriptedTransport([])
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(.sample(.post, "/tables/todos", body: ["id": "1"], action: .insert), to: transport)
        }
        #expect(error?.message.contains("a string is longer than 262144 bytes") == true, "\(error as Any)")
    }
}
