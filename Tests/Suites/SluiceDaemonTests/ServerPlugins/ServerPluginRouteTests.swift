import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceLua

/// That no route leads past the plugins.
@Suite(.timeLimit(.minutes(10))) struct ServerPluginRouteTests {
    private func server() async throws -> PluginBackend {
        try await PluginBackend([
            "read": "local a = next(req); for _, r in a:rows() do r.t = 'hidden' end; return a",
            "insert": "req.record.t = 'in'; local a = next(req); a.record.t = 'out'; return a",
            "update":
                "if (req.record or {}).n == 13 then return decide.refuse { status = 422, message = 'no 13' } end; return next(req)",
            "delete": "return decide.refuse { status = 403, message = 'never' }",
        ])
    }

    @Test("OData v2 and v4 read, make, change and delete with the plugins around", arguments: ["v2", "v4"])
    func odata(version: String) async throws {
        let server = try await server()
        let path = "/odata/\(version)/t"
        let json = [("Accept", "application/json")]
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") async -> Reply {
            await server.send(method, path, body, json, version: nil)
        }
        let list = await send(.get, path)
        #expect(list.status == 200 && list.text.contains("hidden") && !list.text.contains("\"x\""), "\(list.text)")
        #expect(await send(.get, "\(path)('a')").text.contains("hidden"))
        let made = await send(.post, path, #"{"id":"c","n":3,"t":"mine"}"#)
        #expect(made.status == 201 && made.text.contains("out"), "\(made.text)")
        let method: HTTPRequest.Method = version == "v2" ? .init("MERGE")! : .patch
        let refused = await server.send(method, "\(path)('a')", #"{"n":13}"#, json + [("If-Match", "*")], version: nil)
        #expect(refused.status == 422 && refused.text.contains("no 13"), "\(refused.text)")
        let deleted = await server.send(.delete, "\(path)('a')", "", [("If-Match", "*")], version: nil)
        #expect(deleted.status == 403 && deleted.text.contains("never"))
        #expect(await send(.get, "\(path)?$filter=n eq 13").text.contains("'a'") == false)
    }

    @Test("an atomicity group of a tables batch is rolled back by a plugin's refusal; alone, other parts stand")
    func batch() async throws {
        let server = try await server()
        let body = """
            {"requests": [
              {"id": "1", "method": "POST", "url": "tables/t", "body": {"id": "g1"}, "atomicityGroup": "g"},
              {"id": "2", "method": "PATCH", "url": "tables/t/a", "body": {"n": 13}, "atomicityGroup": "g"},
              {"id": "3", "method": "POST", "url": "tables/t", "body": {"id": "alone"}},
              {"id": "4", "method": "DELETE", "url": "tables/t/b"},
              {"id": "5", "method": "GET", "url": "tables/t/b"}
            ]}
            """
        let answer = await server.send(.post, "/tables/$batch", body)
        let parts = answer.json["responses"]?.elements ?? []
        #expect(parts.map { $0["status"] } == [424, 422, 201, 403, 200], "\(answer.text)")
        #expect(parts.last?["body"]?["t"] == "hidden" && parts[2]["body"]?["t"] == "out")
        #expect(await server.send(.get, "/tables/t").ids.sorted() == ["a", "alone", "b"])
    }

    @Test("a group in which all is well is written together, each part with its plugins")
    func group() async throws {
        let server = try await server()
        let body = """
            {"requests": [
              {"id": "1", "method": "POST", "url": "tables/t", "body": {"id": "g1"}, "atomicityGroup": "g"},
              {"id": "2", "method": "PATCH", "url": "tables/t/a", "body": {"n": 12}, "atomicityGroup": "g"}
            ]}
            """
        let answer = await server.send(.post, "/tables/$batch", body)
        #expect(answer.json["responses"]?.elements?.map { $0["status"] } == [201, 200], "\(answer.text)")
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 12)
    }

    @Test("a change set of an OData batch is one as well")
    func changeSet() async throws {
        let server = try await server()
        let body = """
            {"requests": [
              {"id": "1", "method": "POST", "url": "t", "headers": {"content-type": "application/json"},
               "body": {"id": "g1"}, "atomicityGroup": "g"},
              {"id": "2", "method": "DELETE", "url": "t('b')", "headers": {"if-match": "*"}, "atomicityGroup": "g"},
              {"id": "3", "method": "GET", "url": "t('a')"}
            ]}
            """
        let answer = await server.send(
            .post, "/odata/v4/$batch", body, [("Prefer", "continue-on-error")], version: nil)
        #expect(answer.text.contains("never") && answer.text.contains("hidden"), "\(answer.text)")
        #expect(await server.send(.get, "/tables/t").ids == ["a", "b"])
    }

    @Test("change tokens and digests: a script that narrows by rules of its own gives none away")
    func changes() async throws {
        let server = try await PluginBackend([
            "read": "req.filter = 'n gt 1'; local a = next(req); for _, r in a:rows() do r.t = 'hidden' end; return a"
        ])
        let list = await server.send(.get, "/tables/t", "", [("Prefer", "odata.track-changes")])
        #expect(list.ids == ["b"] && list.text.contains("hidden"))
        #expect(await server.send(.get, "/tables/t/$digest").json["count"] == 1)
    }

    @Test("a change that comes again with its id is done once, and its answer is what it was")
    func repeats() async throws {
        let server = try await PluginBackend([
            "insert":
                "req.record.n = (req.record.n or 0) + 1; local a = next(req); a.record.t = 'out'; return a"
        ])
        let id = [
            ("Repeatability-Request-ID", "r-1"), ("Repeatability-First-Sent", "Mon, 06 May 2124 07:08:09 GMT"),
        ]
        let first = await server.send(.post, "/tables/t", #"{"id":"c","n":5}"#, id)
        #expect(first.status == 201 && first.json["n"] == 6 && first.json["t"] == "out", "\(first.text)")
        let again = await server.send(.post, "/tables/t", #"{"id":"c","n":5}"#, id)
        #expect(again.status == 201 && again.json == first.json, "\(again.text)")
        #expect(await server.plugins.decisions.count == 1)
    }

    @Test("an answer that was not finished is made anew by the script, which writes nothing then")
    func unfinished() async throws {
        let server = try await PluginBackend([
            "insert": """
            local a = next(req)
            if not req.repeated then error('the first time') end
            a.record.t = 'again ' .. req.record.n
            return a
            """
        ])
        let id = [
            ("Repeatability-Request-ID", "r-2"), ("Repeatability-First-Sent", "Mon, 06 May 2124 07:08:09 GMT"),
        ]
        #expect(await server.send(.post, "/tables/t", #"{"id":"c","n":5}"#, id).status == 500)
        let again = await server.send(.post, "/tables/t", #"{"id":"c","n":5}"#, id)
        #expect(again.status == 201 && again.json["t"] == "again 5", "\(again.text)")
        #expect(await server.send(.get, "/tables/t").ids == ["a", "b", "c"])
    }
}
