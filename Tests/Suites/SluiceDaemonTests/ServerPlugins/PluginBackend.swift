import Foundation
import HTTPTypes
import Logging
import SluiceBackend
import SluiceCore
import Synchronization

@testable import SluiceDaemon
@testable import SluiceLua
@testable import SluicePostgres

/// A backend with plugins around its tables, and short ways to ask it.
struct PluginBackend {
    static let seed: [JSON] = [["id": "a", "n": 1, "t": "x"], ["id": "b", "n": 2, "t": "y"]]

    let backend: Backend
    let plugins: Plugins

    /// A backend that was made elsewhere.
    init(_ backend: Backend) async throws {
        self.backend = backend
        plugins = try await Plugins([])
    }

    /// - Parameters:
    ///   - scripts: for each plugin what its `main.lua` is, and its hooks with what the manifest says of them.
    init(
        _ scripts: (main: String, hooks: JSON)..., extra: JSON = .object, mode: PluginMode = .enforce,
        config: JSON = .object, options: PluginOptions = PluginOptions(),
        seed: [JSON] = Self.seed
    ) async throws {
        var plans: [PluginPlan] = []
        for (index, script) in scripts.enumerated() {
            var manifest: JSON = [
                "name": JSON("p\(index + 1)"), "version": "1.0.0", "api": "1.0", "hooks": script.hooks,
            ]
            for (name, value) in extra.members ?? [] { manifest[name] = value }
            let bundle = try PluginBundle(
                files: ["plugin.json": manifest.bytes(), "main.lua": Array(script.main.utf8)], location: "p")
            plans.append(try PluginPlan(bundle, config: config, mode: mode))
        }
        plugins = try await Plugins(plans, options: options)
        let configuration = try BackendConfiguration(
            database: Self.database(),
            tables: [
                .init("t", seed: .records(seed), pageSize: 1000, columns: [.init("n", .integer), .init("t", .string)]),
                .init("other", seed: .records([["id": "o"]])),
            ])
        let hooks = try ServerPlugins.hooks(
            plugins, for: ["t", "other"], Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        backend = try await Backend(configuration, hooks: hooks)
    }

    /// One plugin, with the function of each hook over `(req, next, ctx)`, or `(c, ctx)`.
    init(_ hooks: [String: String], onError: String? = nil, extra: JSON = .object, seed: [JSON] = Self.seed)
        async throws
    {
        let names = hooks.keys.sorted()
        let main = names.map { name in
            let parameters = name == "on_conflict" ? "c, ctx" : "req, next, ctx"
            return "\(name) = function(\(parameters))\n\(hooks[name] ?? "")\nend"
        }
        var declared = JSON.object
        for name in names {
            declared[PropertyName(name)] = onError.map { ["on_error": JSON($0)] } ?? .object
        }
        try await self.init(("return { \(main.joined(separator: ",\n")) }", declared), extra: extra, seed: seed)
    }

    /// In memory; or an empty schema on the PostgreSQL server that `.ci/postgres` has started, that of a role of its name.
    private static func database() throws -> BackendConfiguration.Database {
        let environment = ProcessInfo.processInfo.environment
        guard let server = environment["SLUICE_TEST_POSTGRES"] else { return .memory }
        let name = "plugins_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        let connection = try PostgresConnection(
            PostgresAddress(environment["SLUICE_TEST_ADMINISTRATOR"] ?? server))
        try connection.execute(
            "CREATE ROLE \(name) LOGIN; ALTER ROLE \(name) SET search_path = \(name); "
                + "CREATE SCHEMA \(name) AUTHORIZATION \(name)")
        let pooler = environment["SLUICE_TEST_ADMINISTRATOR"] == nil ? "" : "&pooler=transaction"
        return .postgres(
            try PostgresDatabase(url: "\(server.replacing("://sluice@", with: "://\(name)@"))?readers=2\(pooler)"))
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", _ headers: [(String, String)] = [],
        version: String? = "2.0.0"
    ) async -> Reply {
        let path = path.replacing(" ", with: "%20")
        var head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:8080", path: path)
        if !body.isEmpty { head.headerFields[.contentType] = "application/json" }
        if let version { head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = version }
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        return Reply(await backend.respond(to: SyncRequest(head, body: MessageBody(bytes: Array(body.utf8)))))
    }
}

/// An answer, with what tests look at.
struct Reply {
    let response: SyncResponse
    init(_ response: SyncResponse) { self.response = response }

    var status: Int { response.status }
    var text: String { String(decoding: response.body.bytes, as: UTF8.self) }
    var json: JSON { (try? response.body.json) ?? .null }
    var error: String { json["error"]?.string ?? json["error"]?["message"]?.string ?? "" }
    var ids: [String] { (json["results"] ?? json["value"] ?? json).elements?.compactMap { $0["id"]?.string } ?? [] }
}
