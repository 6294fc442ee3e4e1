import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("A plugin around an exchange")
struct LuaFilterTests {
    let transport = ScriptedTransport([], otherwise: .json(200, #"{"id":"1","title":"milk"}"#, ["X-Server": "a"]))

    @Test("request reads fields of the request and sets a header")
    func setsHeader() async throws {
        let plugins = try await PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              req.headers:set("X-Probe", req.method .. " " .. req.table .. " " .. req.query:get("$top"))
            end }
            """
        ).loaded()
        let response = try await plugins.send(.sample(), to: transport)
        #expect(response.status == 200)
        #expect(transport.requests.first?.head.headerFields[HTTPField.Name("X-Probe")!] == "GET todos 1")
        let decision = await plugins.decisions.first
        #expect(decision?.decision == "changed" && decision?.fuel ?? 0 > 0 && decision?.failure == nil)
    }

    @Test("request answers itself, and nothing is sent")
    func responds() async throws {
        let plugins = try await PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              return decide.respond { status = 503, json = { error = "closed" }, headers = { ["Retry-After"] = "7" } }
            end }
            """
        ).loaded()
        let response = try await plugins.send(.sample(), to: transport)
        #expect(response.status == 503 && transport.requests.isEmpty)
        #expect(try response.body.json == ["error": "closed"])
        #expect(response.head.headerFields[HTTPField.Name("Retry-After")!] == "7")
    }

    @Test("filter calls next, and changes request and answer")
    func aroundFilter() async throws {
        let plugins = try await PluginText(
            ["filter"],
            """
            return { filter = function(req, next, ctx)
              local body = req.body:json()
              body.title = body.title:upper()
              req.body:set_json(body)
              req.query:set("tenant", "a&b")
              local res = next(req)
              res.headers:set("X-Status", tostring(res.status))
              local answer = res.body:json()
              answer.seen = true
              res.body:set_json(answer)
              return res
            end }
            """
        ).loaded()
        let response = try await plugins.send(.sample(.post, body: ["title": "milk"]), to: transport)
        #expect(try transport.requests.first?.body.json == ["title": "MILK"])
        #expect(transport.requests.first?.head.path == "/tables/todos?$top=1&tenant=a%26b")
        #expect(response.head.headerFields[HTTPField.Name("X-Status")!] == "200")
        #expect(try response.body.json == ["id": "1", "title": "milk", "seen": true])
    }

    @Test("filter calls next again after a failure of the network")
    func nextAgain() async throws {
        transport.append(.failure(SluiceError(.network, "the cable is cut")))
        let plugins = try await PluginText(
            ["filter"],
            """
            return { filter = function(req, next, ctx)
              local ok, res = pcall(next, req)
              if not ok then
                ctx.log.warn("again: " .. res)
                res = next(req)
              end
              return res
            end }
            """
        ).loaded()
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(transport.requests.count == 2)
        let log = await plugins.decisions.first?.log
        #expect(log?.first?.message.contains("the cable is cut") == true)
    }

    @Test("an error of next that the script does not catch reaches the caller as it is")
    func nextErrorPasses() async throws {
        transport.append(.failure(SluiceError(.network, "the cable is cut")))
        let plugins = try await PluginText(
            ["filter"], "return { filter = function(req, next) return next(req) end }"
        ).loaded()
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        #expect(error?.code == .network && error?.cause == nil)
        #expect(await plugins.metrics.errors.isEmpty)
    }

    @Test("next is called three times at the most")
    func nextIsBounded() async throws {
        let plugins = try await PluginText(
            ["filter"],
            "return { filter = function(req, next) local r for i = 1, 9 do r = next(req) end return r end }"
        ).loaded()
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        #expect(error?.code == .filter && transport.requests.count == 3)
        #expect((error?.cause as? PluginFailure)?.message.contains("three times") == true)
    }

    @Test("response looks at request and answer and has the request sent again, a bounded number of times")
    func responseRetries() async throws {
        let busy = ScriptedTransport([], otherwise: .json(503, "{}"))
        let plugins = try await PluginText(
            ["response"],
            """
            return { response = function(res, ctx)
              if res.status == 503 and res.request.method == "GET" then return decide.retry { after = 0 } end
            end }
            """
        ).loaded()
        #expect(try await plugins.send(.sample(), to: busy).status == 503)
        #expect(busy.requests.count == 4)
    }

    @Test("a plugin that fails to answer a request keeps it from being sent; one after an answer lets it pass")
    func policies() async throws {
        let closed = try await PluginText(["request"], "return { request = function() error('no') end }").loaded()
        let error = await #expect(throws: SluiceError.self) { try await closed.send(.sample(), to: transport) }
        #expect(error?.code == .filter && transport.requests.isEmpty)
        #expect((error?.cause as? PluginFailure)?.kind == .runtime)

        let open = try await PluginText(["response"], "return { response = function() error('no') end }").loaded()
        #expect(try await open.send(.sample(), to: transport).status == 200)

        let told = try await PluginText(
            ["request": ["on_error": "fail_open"]], "return { request = function() error('no') end }"
        ).loaded()
        #expect(try await told.send(.sample(), to: transport).status == 200)
    }

    @Test("request and response of a plugin share a scratch, and plugins of an exchange share a table")
    func shares() async throws {
        let main = """
            return {
              request = function(req, ctx)
                ctx.scratch.begun = req.method
                ctx.shared.path = req.path
              end,
              response = function(res, ctx)
                res.headers:set("X-Seen", ctx.scratch.begun .. " " .. ctx.shared.path)
              end,
            }
            """
        let plugins = try await PluginText(["request", "response"], main).loaded()
        let response = try await plugins.send(.sample(), to: transport)
        #expect(response.head.headerFields[HTTPField.Name("X-Seen")!] == "GET /tables/todos")
    }

    @Test("a plugin is not entered by what its match does not name")
    func matches() async throws {
        let plugins = try await PluginText(
            ["request": ["match": ["tables": ["movies"]]]], "return { request = function() error('no') end }"
        ).loaded()
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(await plugins.decisions.isEmpty)
    }

    @Test("a shadow runs and changes nothing")
    func shadow() async throws {
        var text = PluginText(
            ["filter"],
            """
            return { filter = function(req, next)
              req.headers:set("X-Probe", "1")
              local res = next(req)
              res.status = 500
              return res
            end }
            """)
        text.mode = .shadow
        let plugins = try await text.loaded()
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(transport.requests.count == 1)
        #expect(transport.requests[0].head.headerFields[HTTPField.Name("X-Probe")!] == nil)
        #expect(await plugins.decisions.first?.isShadow == true)
    }

    @Test("a shadow asks nobody to change anything")
    func shadowPosts() async throws {
        let net = ScriptedTransport([], otherwise: .json(200, "{}"))
        var text = PluginText(
            ["request"],
            """
            return { request = function()
              kv.set("a", 1)
              http.request { url = "https://a.example/" }
              http.request { method = "POST", url = "https://a.example/" }
            end }
            """, extra: ["permissions": ["http": ["a.example"], "kv": ["bytes": 100]]])
        text.mode = .shadow
        let storage = MemoryPluginValues()
        let plugins = try await text.loaded(PluginOptions(transport: net, storage: storage))
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(net.requests.map(\.head.method) == [.get])
        #expect(await plugins.metrics.errors == ["permission": 1])
        #expect(try await storage.values(of: "probe").isEmpty)
    }
}
