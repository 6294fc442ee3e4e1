import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("What a plugin may make of a request")
struct RequestRulesTests {
    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    func send(_ body: String, permissions: JSON = .object, _ request: SyncRequest = .sample()) async throws
        -> SyncResponse
    {
        let text = PluginText(
            ["request"], "return { request = function(req, ctx)\n\(body)\nend }", extra: ["permissions": permissions])
        return try await text.loaded().send(request, to: transport)
    }

    @Test(
        "a line end, a NUL or a space where none can be is refused, and nothing is sent",
        arguments: [
            #"req.headers:set("X-A", "a\r\nX-B: b")"#, #"req.headers:add("X-A", "a\nb")"#,
            #"req.headers:set("X-A", "a\0b")"#, #"req.headers:set("X A", "b")"#, #"req.headers:set("X-A:", "b")"#,
            #"req.headers:set("", "b")"#, #"req.headers:set("Host", "evil.example")"#,
            #"req.headers:set("Content-Length", "3")"#, #"req.headers:set("Transfer-Encoding", "chunked")"#,
            #"req.query:set_text("a=b c\r\n")"#, #"req.query:set_text("a#b")"#,
        ])
    func brokenFields(line: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await send(line) }
        #expect(error?.code == .filter && transport.requests.isEmpty)
    }

    @Test(
        "another method, host, scheme or path needs a permission",
        arguments: [
            "req.method = 'DELETE'", "req.host = 'evil.example'", "req.scheme = 'http'", "req.path = '/tables/users'",
            "req.url = 'https://evil.example/'",
        ])
    func closedByDefault(line: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await send(line) }
        #expect((error?.cause as? PluginFailure)?.kind == .permission && transport.requests.isEmpty)
    }

    @Test(
        "even with the permission a request goes to named hosts alone",
        arguments: [
            "https://evil.example/", "http://api.example.com/", "https://127.0.0.1/", "https://localhost/",
            "https://169.254.169.254/latest/meta-data", "https://[::1]/", "https://0x7f000001/", "https://2130706433/",
            "https://api.example.com@evil.example/", "https://api.example.com.evil.example/", "file:///etc/passwd",
            "https://evil.example/?https://api.example.com",
        ])
    func otherHosts(url: String) async throws {
        let permissions: JSON = ["change": ["request.url"], "http": ["*.example.com"]]
        let error = await #expect(throws: SluiceError.self) {
            try await send("req.url = '\(url)'", permissions: permissions)
        }
        #expect(error?.code == .filter && transport.requests.isEmpty)
    }

    @Test("a request that goes to another host leaves its credentials behind")
    func moved() async throws {
        let request = SyncRequest.sample(
            .get, "/a", body: nil,
            [
                ("Authorization", "Bearer hush"), ("X-Plain", "1"),
            ])
        let permissions: JSON = ["change": ["request.url"], "http": ["*.example.com"]]
        _ = try await send("req.url = 'https://api.example.com/b?c=d'", permissions: permissions, request)
        let sent = try #require(transport.requests.first?.head)
        #expect(sent.authority == "api.example.com" && sent.path == "/b?c=d")
        #expect(sent.headerFields[.authorization] == nil && sent.headerFields[HTTPField.Name("X-Plain")!] == "1")
    }

    @Test("credentials are not readable without a permission, and go on as they came")
    func credentials() async throws {
        let request = SyncRequest.sample(
            .get, "/a", body: nil, [("Authorization", "Bearer hush"), ("X-ZUMO-AUTH", "t")])
        let read = "req.headers:set('X-Seen', tostring(req.headers:get('authorization')))"
        _ = try await send(read, request)
        _ = try await send(read, permissions: ["read_headers": ["Authorization"]], request)
        let seen = transport.requests.map { $0.head.headerFields[HTTPField.Name("X-Seen")!] }
        #expect(seen == ["nil", "Bearer hush"])
        #expect(transport.requests.allSatisfy { $0.head.headerFields[.authorization] == "Bearer hush" })
    }

    @Test("cookies of an answer are not readable without a permission")
    func cookies() async throws {
        let transport = ScriptedTransport([], otherwise: .json(200, "{}", ["Set-Cookie": "session=hush"]))
        let plugins = try await PluginText(
            ["response"],
            "return { response = function(res) res.headers:set('X-Seen', tostring(res.headers:get('set-cookie'))) end }"
        ).loaded()
        let response = try await plugins.send(.sample(), to: transport)
        #expect(response.head.headerFields[HTTPField.Name("X-Seen")!] == "nil")
        #expect(response.head.headerFields[.setCookie] == "session=hush")
    }

    @Test(
        "objects are dead after their call, for other calls and under another class's methods",
        arguments: [
            ("kept = kept or {} kept.req = kept.req or req return kept.req.method and nil", false),
            ("local get = req.headers.get req.headers.get({}, 'X')", true),
            ("local set = req.query.set set(req, 'a', 'b')", true),
            ("req.body.len('x')", true), ("getmetatable(req).__index = nil", true), ("req.body.slot = 9", true),
            ("req.table = 'users'", true), ("setmetatable(req, {})", true),
        ])
    func handles(line: String, fails: Bool) async throws {
        let text = PluginText(
            ["request"], "local kept = {}\nreturn { request = function(req, ctx)\n\(line)\nend }")
        let plugins = try await text.loaded()
        if fails {
            await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        } else {
            _ = try await plugins.send(.sample(), to: transport)
            let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
            #expect((error?.cause as? PluginFailure)?.message.contains("after its call") == true)
        }
    }

    @Test(
        "nothing that answers a request may be anything else",
        arguments: [
            "return 5", "return 'no'", "return req", "return { decision = 'merge' }", "return decide.respond {}",
            "return decide.respond { status = 99 }", "return decide.respond { status = 200, body = {} }",
            "return decide.retry { after = -1 }", "return decide.retry { after = 301 }",
            "return decide.retry { after = 1e308 }", "return decide.retry { after = 'soon' }", "return decide.fail()",
            "return decide.respond { status = 200, headers = { ['X\\r\\n'] = '1' } }", "return function() end",
        ])
    func badAnswers(line: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await send(line) }
        #expect(error?.code == .filter && transport.requests.isEmpty)
        #expect(error?.cause is PluginFailure)
    }
}
