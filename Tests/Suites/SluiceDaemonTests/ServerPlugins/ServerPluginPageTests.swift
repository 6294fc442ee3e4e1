import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceBackend
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceLua
@testable import SluicePluginTools

/// The part of docs/plugins-policy.md about servers, done as it says.
@Suite(.timeLimit(.minutes(10))) struct ServerPluginPageTests {
    private let folder = "/tmp/sluice-page-\(UUID().uuidString)"

    /// Writes each block to the file of its first line.
    private func write() throws {
        let page = try String(contentsOfFile: Repository.path("docs/plugins-policy.md"), encoding: .utf8)
        let part = try #require(page.components(separatedBy: "\n## Plugins on a server\n").dropFirst().first)
        for block in part.components(separatedBy: "\n```").filter({ !$0.isEmpty }) {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            guard ["yaml", "json", "lua"].contains(String(lines[0])), let title = lines.dropFirst().first else {
                continue
            }
            let name = title.drop { "/-# ".contains($0) }
            let path = "\(folder)/\(name)"
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            let text = lines.dropFirst(lines[0] == "json" ? 2 : 1).joined(separator: "\n")
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    @Test("the plugin of the page is good, its fixtures pass, and it serves as the page says")
    func page() async throws {
        try write()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let plugin = "\(folder)/order-rules"
        let check = await PluginCheck(folder: plugin).run()
        #expect(check.isGood, "\(check.lines)")
        let fixtures = await FixtureRunner(try PluginBundle(folder: plugin)).run()
        #expect(fixtures.isGood && fixtures.results.count == 3, "\(fixtures.lines)")

        var configuration = try BackendConfiguration(file: "\(folder)/backend.yaml")
        configuration.database = .memory
        #expect(configuration.plugins == .init(policy: "\(folder)/plugins.yaml"))
        await #expect(throws: SluiceError.self) { _ = try await Backend(configuration) }
        let meters = MeterRegistry()
        let hooks = try await ServerPlugins(of: &configuration, metrics: meters).hooks
        let server = try await PluginBackend(Backend(configuration, hooks: hooks))
        #expect(await server.send(.post, "/tables/orders", #"{"id":"1"}"#).error == "An order needs a customer.")
        let made = await server.send(.post, "/tables/orders", #"{"id":"1","customer":" Ann ","cost":5,"quantity":2}"#)
        #expect(made.status == 201 && made.json["customer"] == "Ann" && made.json["cost"] == nil, "\(made.text)")
        _ = await server.send(.post, "/tables/orders", #"{"id":"2","customer":"Ben","draft":true}"#)
        #expect(await server.send(.get, "/tables/orders").ids == ["1"])
        let merged = await server.send(
            .patch, "/tables/orders/1", #"{"quantity":1,"state":"sent"}"#, [("If-Match", "\"AAAAAAAAAAA=\"")])
        #expect(
            merged.status == 200 && merged.json["quantity"] == 2 && merged.json["state"] == "sent", "\(merged.text)")
        #expect(await server.send(.patch, "/tables/orders/1", #"{"quantity":9}"#).status == 403)
        #expect(PrometheusText.of(meters).contains(/sluice_plugin_calls\S*\{[^}]*order-rules[^}]*\} [1-9]/))
    }

    @Test("a mistake in the configuration or the policy is told with its place, and stops the start")
    func mistakes() async throws {
        func refusal(_ yaml: String) async -> String {
            do {
                var configuration = try BackendConfiguration(yaml: yaml, file: "backend.yaml", directory: folder)
                _ = try await ServerPlugins(of: &configuration).hooks
                return ""
            } catch {
                return (error as? SluiceError)?.message ?? "\(error)"
            }
        }
        let start = "database: \"sqlite::memory:\"\ntables: { t: {} }\n"
        #expect(await refusal(start + "secrets: here\n").hasPrefix("backend.yaml:3:"))
        #expect(await refusal(start + "plugin: plugins.yaml\n").contains("plugins"))
        #expect(await refusal(start + "plugins: none.yaml\n").contains("\(folder)/none.yaml"))
        #expect(await refusal(start) == "")
    }
}
