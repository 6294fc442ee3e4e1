import Foundation
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("The plugins of a policy's file")
struct PolicyFileTests {
    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    /// A folder with a policy and one plugin that answers with a text.
    struct Folder: ~Copyable {
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        var policy: String { url.appending(path: "policy.yaml").path }
        var kept: String { url.appending(path: "kept.json").path }

        init() throws {
            try FileManager.default.createDirectory(
                at: url.appending(path: "bundles/greeter"), withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ main: String, config: String = "{}", mode: String = "enforce") throws {
            let bundle = url.appending(path: "bundles/greeter")
            let manifest = """
                {"name": "greeter", "version": "1.0.0", "api": "1.0", "hooks": {"request": {}},
                 "config_schema": {"type": "object", "properties": {"text": {"type": "string", "default": "hi"}}}}
                """
            try manifest.write(to: bundle.appending(path: "plugin.json"), atomically: true, encoding: .utf8)
            try main.write(to: bundle.appending(path: "main.lua"), atomically: true, encoding: .utf8)
            try """
            plugins:
              greeter:
                path: bundles/greeter
                mode: \(mode)
                config: \(config)
            """.write(toFile: policy, atomically: true, encoding: .utf8)
        }
    }

    static let main =
        "return { request = function(req, ctx) return decide.respond { status = 200, body = ctx.config.text } end }"

    func answer(_ plugins: Plugins) async throws -> String {
        String(decoding: try await plugins.send(.sample(), to: transport).body.bytes, as: UTF8.self)
    }

    @Test("a policy is loaded, and read anew on demand")
    func reloaded() async throws {
        let folder = try Folder()
        try folder.write(Self.main)
        let plugins = try await Plugins(policy: folder.policy)
        #expect(try await answer(plugins) == "hi")
        try folder.write(Self.main, config: "{ text: hello }")
        try await plugins.reload()
        #expect(try await answer(plugins) == "hello")
        try folder.write(Self.main, mode: "off")
        try await plugins.reload()
        #expect(try await answer(plugins) == "{}" && plugins.names.isEmpty)
    }

    @Test(
        "a policy, a configuration or a script that is wrong leaves what serves, and is told",
        arguments: [
            (main, "{ text: 5 }", "text"), (main, "{ txet: a }", "txet"), ("return {", "{}", "main"),
            ("error('no')", "{}", "no"),
        ])
    func refused(main: String, config: String, word: String) async throws {
        let folder = try Folder()
        try folder.write(Self.main)
        let plugins = try await Plugins(policy: folder.policy)
        try folder.write(main, config: config)
        let error = await #expect(throws: SluiceError.self) { try await plugins.reload() }
        #expect(error.map { "\($0)".contains(word) } == true)
        #expect(plugins.refusal?.message == error?.message)
        #expect(try await answer(plugins) == "hi")
        try folder.write(Self.main)
        try await plugins.reload()
        #expect(plugins.refusal == nil)
    }

    @Test("a process that begins with plugins that do not load begins with those that served last")
    func lastGood() async throws {
        let folder = try Folder()
        try folder.write(Self.main, config: "{ text: good }")
        var options = PluginOptions()
        await #expect(throws: SluiceError.self) { try await Plugins(policy: folder.policy + "x", options: options) }
        options.lastGood = folder.kept
        _ = try await Plugins(policy: folder.policy, options: options)
        try folder.write("return {")
        let again = try await Plugins(policy: folder.policy, options: options)
        #expect(try await answer(again) == "good")
        #expect(again.refusal?.message.contains("greeter") == true)
        try folder.write(Self.main, config: "{ text: better }")
        try await again.reload()
        #expect(try await answer(again) == "better" && again.refusal == nil)
        try "x".write(toFile: folder.kept, atomically: true, encoding: .utf8)
        try folder.write("return {")
        await #expect(throws: SluiceError.self) { try await Plugins(policy: folder.policy, options: options) }
    }
}
