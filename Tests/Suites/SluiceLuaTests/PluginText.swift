import HTTPTypes
import SluiceCore
import SluiceTesting

@testable import SluiceLua

/// A plugin as text, for tests.
struct PluginText {
    var name = "probe"
    /// The hooks of the manifest, as JSON.
    var hooks: JSON
    var main: String
    var extra: JSON = .object
    var config: JSON = .object
    var mode: PluginMode = .enforce

    /// A plugin that returns those functions: the hook's name, and its body over `(a, b, c)`.
    init(_ hooks: [String], _ main: String, extra: JSON = .object, config: JSON = .object) {
        self.init(JSON(members: hooks.map { ($0, JSON.object) }), main, extra: extra, config: config)
    }

    init(_ hooks: JSON, _ main: String, extra: JSON = .object, config: JSON = .object) {
        self.hooks = hooks
        self.main = main
        self.extra = extra
        self.config = config
    }

    var plan: PluginPlan {
        get throws {
            var manifest: JSON = ["name": JSON(name), "version": "1.0.0", "api": "1.0", "hooks": hooks]
            for (name, value) in extra.members ?? [] { manifest[name] = value }
            let bundle = try PluginBundle(
                files: ["plugin.json": manifest.bytes(), "main.lua": Array(main.utf8)], location: name)
            return try PluginPlan(bundle, config: config, mode: mode)
        }
    }

    /// The plugin alone, loaded.
    func loaded(_ options: PluginOptions = PluginOptions()) async throws -> Plugins {
        try await Plugins([try plan], options: options)
    }
}

extension Plugins {
    /// Sends a request through the plugins to a transport.
    func send(_ request: SyncRequest, to transport: ScriptedTransport) async throws -> SyncResponse {
        try await FilterChain([filter], transport: transport).send(request)
    }
}

extension SyncRequest {
    /// A request of an online table.
    static func sample(
        _ method: HTTPRequest.Method = .get, _ path: String = "/tables/todos?$top=1", body: JSON? = nil,
        _ fields: [(String, String)] = [], action: SyncRequest.Context.Action = .read
    ) -> SyncRequest {
        var head = HTTPRequest(method: method, scheme: "https", authority: "example.net", path: path)
        for (name, value) in fields { head.headerFields[HTTPField.Name(name)!] = value }
        return SyncRequest(
            head, body: body.map { MessageBody(json: $0) } ?? .empty,
            context: SyncRequest.Context(action: action, table: "todos"))
    }
}
