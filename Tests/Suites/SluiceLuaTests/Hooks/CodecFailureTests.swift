import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A codec that fails, or is none")
struct CodecFailureTests {
    private let hidden = "a private text"

    @Test("a page with a value that cannot be read fails, with the row and the field and without the value")
    func page() async throws {
        let plugins = try await PluginText.codec().loaded()
        let transport = ScriptedTransport(
            [], otherwise: .json(200, #"[{"id":"1","title":"w:a"},{"id":"2","title":"\#(hidden)"}]"#))
        for _ in 0..<8 {
            let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
            let failure = error?.cause as? PluginFailure
            #expect(error?.code == .filter && error?.recordID == "2" && failure?.kind == .runtime)
            #expect(failure?.message.contains("the field title of 2") == true)
            #expect(error.map { "\($0)" }?.contains(hidden) == false)
        }
        for decision in await plugins.decisions { #expect(!decision.json.description.contains(hidden)) }
    }

    @Test("a value that cannot be translated is not sent, and neither is a body that is no JSON")
    func body() async throws {
        let plugins = try await PluginText.codec().loaded(PluginOptions(keepsInputs: true))
        let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
        var request = SyncRequest.sample(
            .post, "/tables/todos", body: ["id": "1", "title": ["text": JSON(hidden)]], action: .insert)
        var error = await #expect(throws: SluiceError.self) { try await plugins.send(request, to: transport) }
        #expect(error?.code == .filter && error.map { "\($0)" }?.contains(hidden) == false)
        for decision in await plugins.decisions { #expect(!decision.json.description.contains(hidden)) }
        request.body = MessageBody(bytes: Array("title=milk".utf8))
        error = await #expect(throws: SluiceError.self) { try await plugins.send(request, to: transport) }
        #expect(error?.code == .filter && transport.requests.isEmpty)
    }

    @Test("a hook that returns nothing has failed")
    func nothing() async throws {
        let text = PluginText(
            ["to_wire", "from_wire"], "return { to_wire = function() end, from_wire = function(v) return v end }",
            extra: ["codec": ["fields": ["*": ["title"]]]])
        let plugins = try await text.loaded()
        let request = SyncRequest.sample(.post, "/tables/todos", body: ["id": "1", "title": "x"], action: .insert)
        let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(request, to: transport) }
        #expect((error?.cause as? PluginFailure)?.kind == .badResult && transport.requests.isEmpty)
    }

    @Test("a shadow translates nothing")
    func shadow() async throws {
        var text = PluginText.codec()
        text.mode = .shadow
        let transport = ScriptedTransport([], otherwise: .json(200, #"{"id":"1","title":"tea"}"#))
        let request = SyncRequest.sample(.post, "/tables/todos", body: ["id": "1", "title": "milk"], action: .insert)
        let response = try await text.loaded().send(request, to: transport)
        #expect(try transport.requests.first?.body.json["title"] == "milk")
        #expect(try response.body.json["title"] == "tea")
    }

    private func refusal(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return ""
        } catch {
            return (error as? SluiceError)?.message ?? "\(error)"
        }
    }

    @Test("half a codec, one without fields, and fields without a codec are refused")
    func manifests() async {
        let fields: JSON = ["codec": ["fields": ["todos": ["title"]]]]
        let half = await refusal { _ = try PluginText(["to_wire"], "return {}", extra: fields).plan }
        #expect(half.contains("/hooks/to_wire") && half.contains("from_wire is missing"), "\(half)")
        let bare = await refusal { _ = try PluginText(["to_wire", "from_wire"], "return {}").plan }
        #expect(bare.contains("expected a member codec"), "\(bare)")
        let idle = await refusal { _ = try PluginText(["request"], "return {}", extra: fields).plan }
        #expect(idle.contains("/codec") && idle.contains("to_wire and from_wire are missing"), "\(idle)")
        let empty: JSON = ["codec": ["fields": ["todos": .array]]]
        let none = await refusal { _ = try PluginText(["to_wire", "from_wire"], "return {}", extra: empty).plan }
        #expect(none.contains("/codec/fields/todos") && none.contains("at least one field"), "\(none)")
    }

    @Test("a field of the server's has no codec, and no field has two", arguments: ["id", "version", "updatedAt"])
    func fields(name: String) async throws {
        var text = PluginText.codec()
        text.extra["codec"]?["fields"] = ["*": JSON([JSON(name)])]
        let system = try text.plan
        let systemField = await refusal { _ = try await Plugins([system]) }
        #expect(systemField.contains("field \(name) is the server's"), "\(systemField)")
        var other = PluginText.codec()
        other.name = "other"
        let plans = [try PluginText.codec().plan, try other.plan]
        let twice = await refusal { _ = try await Plugins(plans) }
        #expect(twice.contains("the field title has two codecs, of the plugins probe and other"), "\(twice)")
    }

    @Test("the fields may stand in the configuration, as a list or as the members of an object")
    func configured() async throws {
        let tables: JSON = ["type": "object", "additionalProperties": true]
        let schema: JSON = ["type": "object", "properties": ["tables": tables]]
        for fields in [["title"] as JSON, ["title": "any"]] {
            var text = PluginText.codec()
            text.extra = ["codec": ["fields": "{tables}"], "config_schema": schema]
            text.config = ["tables": ["todos": fields]]
            let transport = ScriptedTransport([], otherwise: .json(200, #"[{"id":"1","title":"w:a"}]"#))
            let response = try await text.loaded().send(.sample(), to: transport)
            #expect(try response.body.json[0]?["title"] == "a")
        }
    }
}
