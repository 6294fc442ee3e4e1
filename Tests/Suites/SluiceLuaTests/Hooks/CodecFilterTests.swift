import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

extension PluginText {
    /// A plugin that writes the field `title` of a table as `w:VALUE` on the wire.
    static func codec(of table: String = "todos", _ extra: String = "", hooks: [String] = []) -> PluginText {
        PluginText(
            ["to_wire", "from_wire"] + hooks,
            """
            return {
              to_wire = function(value, field, ctx)
                assert(field == "title" and ctx.table == "\(table)")
                return "w:" .. value
              end,
              from_wire = function(value, field, ctx)
                if value:sub(1, 2) ~= "w:" then error("no prefix: " .. value) end
                return value:sub(3)
              end,
              \(extra)
            }
            """, extra: ["codec": ["fields": JSON(members: [(table, ["title"] as JSON)])]])
    }
}

@Suite("A codec around an exchange")
struct CodecFilterTests {
    private func transport(_ status: Int, _ text: String) -> ScriptedTransport {
        ScriptedTransport([], otherwise: .json(status, text))
    }

    private func filtered(_ text: String) -> SyncRequest {
        .sample(.get, "/tables/todos?$filter=\(PercentEncoding.query(text))")
    }

    @Test(
        "a body has the server's values, and the answer the local ones",
        arguments: [HTTPRequest.Method.post, .patch, .put])
    func bodies(method: HTTPRequest.Method) async throws {
        let plugins = try await PluginText.codec().loaded()
        let transport = transport(200, #"{"id":"1","title":"w:tea","note":"x"}"#)
        let request = SyncRequest.sample(
            method, "/tables/todos", body: ["id": "1", "title": "milk", "note": "x"],
            action: method == .post ? .insert : .update)
        let response = try await plugins.send(request, to: transport)
        #expect(try transport.requests.first?.body.json == ["id": "1", "title": "w:milk", "note": "x"])
        #expect(transport.requests.first?.context.untranslated == ["title": "milk"])
        #expect(try response.body.json == ["id": "1", "title": "tea", "note": "x"])
    }

    @Test("null is null on both sides, and other tables pass")
    func nulls() async throws {
        let plugins = try await PluginText.codec().loaded()
        let transport = transport(200, #"{"id":"1","title":null}"#)
        var request = SyncRequest.sample(.put, "/tables/todos/1", body: ["id": "1", "title": .null], action: .update)
        #expect(try await plugins.send(request, to: transport).body.json == ["id": "1", "title": .null])
        request.context.table = "others"
        request.body = MessageBody(json: ["id": "1", "title": "milk"])
        _ = try await plugins.send(request, to: transport)
        let titles = try transport.requests.map { try $0.body.json["title"] }
        #expect(titles == [JSON.null, "milk"])
    }

    @Test(
        "a filter compares with the server's values",
        arguments: [
            ("title eq 'milk'", "title eq 'w:milk'"), ("title in ('a','b')", "title in ('w:a','w:b')"),
            ("'a' ne title and n gt 1 or not (title eq 'b')", "'w:a' ne title and n gt 1 or not (title eq 'w:b')"),
            ("title eq null", "title eq null"), ("n gt 1", "n gt 1"),
        ])
    func filters(text: String, expected: String) async throws {
        let plugins = try await PluginText.codec().loaded()
        let transport = transport(200, "[]")
        _ = try await plugins.send(filtered(text), to: transport)
        let path = try #require(transport.requests.first?.head.path)
        let sent = try QueryExpression(odata: try #require(QueryString(ofPath: path)["$filter"]))
        let wanted = try QueryExpression(odata: expected)
        #expect(sent.odata(.v3) == wanted.odata(.v3))
    }

    @Test(
        "a query that the server cannot answer is refused with the plugin and the field",
        arguments: [
            "$filter=title gt 'a'", "$filter=startswith(title,'a')", "$filter=title eq note", "$orderby=title desc",
            "$filter=length(title) eq 2",
        ])
    func refusedQueries(query: String) async throws {
        let plugins = try await PluginText.codec().loaded()
        let transport = transport(200, "[]")
        let path = "/tables/todos?" + query.replacing(" ", with: "%20")
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(.sample(.get, path), to: transport)
        }
        #expect(error?.code == .invalidQuery && transport.requests.isEmpty)
        #expect(error?.message.contains("plugin probe") == true && error?.message.contains("field title") == true)
    }

    @Test("a codec without filters refuses constants, and a server's own link has them already")
    func filtersOff() async throws {
        var text = PluginText.codec()
        text.extra["codec"]?["filters"] = false
        let plugins = try await text.loaded()
        let transport = transport(200, "[]")
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(filtered("title eq 'milk'"), to: transport)
        }
        #expect(error?.code == .invalidQuery)
        _ = try await plugins.send(filtered("title ne null"), to: transport)
        var linked = filtered("title eq 'w:milk'")
        linked.context.isLinked = true
        _ = try await plugins.send(linked, to: transport)
        #expect(transport.requests.last?.head.path == linked.head.path)
    }

    @Test(
        "rows of a page have local values, tombstones too",
        arguments: [
            #"[{"id":"1","title":"w:a"},{"id":"2","deleted":true}]"#,
            #"{"results":[{"id":"1","title":"w:a"},{"id":"2","deleted":true}],"count":2}"#,
            #"{"items":[{"id":"1","title":"w:a"},{"id":"2","deleted":true}],"count":2}"#,
        ])
    func pages(text: String) async throws {
        let response = try await PluginText.codec().loaded().send(.sample(), to: transport(200, text))
        let expected = try JSON(parsing: text.replacing("w:a", with: "a"))
        #expect(try response.body.json == expected)
    }

    @Test("the record of a refusal has local values", arguments: [409, 412])
    func conflicts(status: Int) async throws {
        let request = SyncRequest.sample(.patch, "/tables/todos/1", body: ["title": "milk"], action: .update)
        let response = try await PluginText.codec().loaded().send(
            request, to: transport(status, #"{"id":"1","title":"w:tea"}"#))
        #expect(try response.body.json["title"] == "tea")
    }
}
