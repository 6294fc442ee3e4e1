import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceLua

@Suite("What a host does for scripts")
struct HostFunctionTests {
    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
    let net = ScriptedTransport([], otherwise: .json(200, #"{"place":"Oslo"}"#))

    /// What a script answers to: the text it responds with.
    func answer(_ body: String, permissions: JSON = .object, _ options: PluginOptions = PluginOptions()) async throws
        -> String
    {
        let text = PluginText(
            ["request"],
            "return { request = function(req, ctx)\n\(body)\nend }", extra: ["permissions": permissions])
        let plugins = try await text.loaded(options)
        let response = try await plugins.send(.sample(), to: transport)
        return String(decoding: response.body.bytes, as: UTF8.self)
    }

    func respond(_ expression: String) -> String {
        "return decide.respond { status = 200, body = tostring(\(expression)) }"
    }

    @Test(
        "functions without a permission",
        arguments: [
            ("crypto.sha256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "crypto.hmac_sha256('Jefe', 'what do ya want for nothing?')",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            ("crypto.base64('Hello')", "SGVsbG8="), ("crypto.base64_decode('SGVsbG8=')", "Hello"),
            ("crypto.base64_decode('%')", "nil"), ("crypto.hex('AZ')", "415a"),
            ("crypto.open('0123456789abcdef', crypto.seal('0123456789abcdef', 'Ärger', 'r1'), 'r1')", "Ärger"),
            ("crypto.open('0123456789abcdef', crypto.seal('0123456789abcdef', 'x', 'r1'), 'r2')", "nil"),
            ("crypto.open('0123456789abcdeF', crypto.seal('0123456789abcdef', 'x'))", "nil"),
            ("crypto.open('0123456789abcdef', 'AAAA')", "nil"), ("crypto.open('0123456789abcdef', '%')", "nil"),
            ("crypto.seal('0123456789abcdef', 'x') == crypto.seal('0123456789abcdef', 'x')", "true"),
            ("crypto.seal('0123456789abcdef', 'x', 'a') == crypto.seal('0123456789abcdef', 'x', 'b')", "false"),
            ("crypto.seal('0123456789abcdef', 'x') == crypto.seal('0123456789abcdef', 'y')", "false"),
            ("crypto.sha256('abc', 'base64')", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            ("time.format(0)", "1970-01-01T00:00:00.000Z"), ("time.parse('1970-01-02T00:00:00Z')", "86400.0"),
            ("time.parse('soon')", "nil"), ("time.format(time.add(0, 60), 0)", "1970-01-01T00:01:00Z"),
            ("text.trim('  a b ')", "a b"), ("#text.split('a,b,,c', ',')", "4"),
            ("text.starts_with('abc', 'ab')", "true"),
            ("text.ends_with('abc', 'bc')", "true"), ("text.levenshtein('kitten', 'sitting')", "3"),
            ("text.diff3('a\\nb\\nc', 'a\\nb', 'a\\nb')", "a\nb\nc"), ("text.diff3('x', 'y', 'z')", "nil"),
            ("json.encode(json.array {})", "[]"), ("json.encode(json.object {})", "{}"),
            ("json.decode('{\"a\":[1]}').a[1]", "1"), ("json.null == json.decode('null')", "true"),
            ("ctx.deployment.id == json.null", "true"), ("ctx.fuel_left() > 1000", "true"),
            ("ctx.cancelled()", "false"),
            ("ctx.deadline() > 1", "true"), ("ctx.hook", "request"), ("req.query:get('$top')", "1"),
        ])
    func pure(expression: String, result: String) async throws {
        #expect(try await answer(respond(expression)) == result)
    }

    @Test(
        "a body is signed as its bytes, whatever they are",
        arguments: [
            ("crypto.sha256(req.body)", "f9789675a25a87605b0d60387568e25cda7b568653ecdc42e9248588dc70acd5"),
            ("crypto.hmac_sha256('key', req.body, 'base64')", "DtzsbDeeZytnVAYy6pjEAr9XxM5t55yMgJQCeUBp7Uk="),
            ("crypto.base64(req.body)", "/wBh"), ("crypto.hex(req.body)", "ff0061"),
        ])
    func bodyBytes(expression: String, signature: String) async throws {
        let plugins = try await PluginText(
            ["request"],
            "return { request = function(req) req.headers:set('X-Signature', \(expression)) end }"
        ).loaded()
        var request = SyncRequest.sample(.post, "/tables/todos", action: .insert)
        request.body = MessageBody(bytes: [0xFF, 0x00, 0x61])
        _ = try await plugins.send(request, to: transport)
        let sent = try #require(transport.requests.first)
        #expect(sent.head.headerFields[HTTPField.Name("X-Signature")!] == signature)
        #expect(sent.body.bytes == [0xFF, 0x00, 0x61])
    }

    @Test(
        "a module without its permission says which one is missing",
        arguments: [
            ("time.now()", "clock"), ("crypto.uuid()", "random"), ("crypto.random()", "random"),
            ("http.request { url = 'https://a.example' }", "http"), ("kv.get('a')", "kv"),
            ("secrets.get('k')", "secret"),
            ("store.get('todos', '1')", "tables"),
        ])
    func permissions(expression: String, word: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await answer(respond(expression)) }
        let failure = try #require(error?.cause as? PluginFailure)
        #expect(failure.kind == .permission && failure.message.contains(word))
    }

    @Test("http goes to named hosts, in a bounded number of calls, and follows nothing")
    func http() async throws {
        let options = PluginOptions(transport: net)
        let permissions: JSON = ["http": ["api.example.com"]]
        let line = """
            local r = http.request { method = "POST", url = "https://api.example.com/find?q=1", json = { a = 1 },
              headers = { Accept = "text/plain" } }
            """
        #expect(
            try await answer(line + respond("json.decode(r.body).place .. r.status"), permissions: permissions, options)
                == "Oslo200")
        let sent = try #require(net.requests.first)
        #expect(sent.head.path == "/find?q=1" && sent.head.headerFields[.accept] == "text/plain")
        #expect(try sent.body.json == ["a": 1])
        for url in ["https://evil.example/", "http://127.0.0.1/", "https://api.example.com:1@evil.example/"] {
            await #expect(throws: SluiceError.self) {
                try await answer(respond("http.request { url = '\(url)' }"), permissions: permissions, options)
            }
        }
        net.append(.json(302, "", ["Location": "https://evil.example/"]))
        #expect(try await answer(line + respond("r.status"), permissions: permissions, options) == "302")
        let many = "for i = 1, 5 do http.request { url = 'https://api.example.com/' } end"
        let before = net.requests.count
        await #expect(throws: SluiceError.self) { try await answer(many, permissions: permissions, options) }
        #expect(net.requests.count == before + 4)
    }

    @Test("an answer that is too large is an error, not a string")
    func largeAnswer() async throws {
        let big = ScriptedTransport([], otherwise: .json(200, String(repeating: "x", count: 300_000)))
        let error = await #expect(throws: SluiceError.self) {
            try await answer(
                respond("http.request { url = 'https://a.example/' }"), permissions: ["http": ["a.example"]],
                PluginOptions(transport: big))
        }
        #expect(error?.message.contains("more than") == true)
    }

    @Test("a secret leaves in headers to where it may go, and shows nowhere else")
    func secrets() async throws {
        let value = "s3cr3t-value"
        let options = PluginOptions(transport: net, keepsInputs: true)
        var withSecret = options
        withSecret.secret = { $0 == "geo.key" ? value : nil }
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              local key = secrets.get("geo.key")
              ctx.log.info("key is " .. key, { key = key })
              req.headers:set("X-Key", "Bearer " .. key)
              local r = http.request { url = "https://a.example/", headers = { Authorization = key } }
              ctx.log.info("echo " .. r.body)
              if req.query:get("fail") then error("with " .. r.body .. key) end
              return decide.respond { status = 200, body = crypto.hmac_sha256(key, "x") .. " " .. key .. r.body }
            end }
            """, extra: ["permissions": ["http": ["a.example"], "secrets": ["geo.key"]]])
        net.append(.json(200, "you said \(value)"))
        let plugins = try await text.loaded(withSecret)
        let response = try await plugins.send(.sample(), to: transport)
        let shown = String(decoding: response.body.bytes, as: UTF8.self)
        #expect(net.requests.first?.head.headerFields[.authorization] == value)
        #expect(shown.hasPrefix("b") || shown.count > 64)
        let decision = try #require(await plugins.decisions.first)
        #expect(!"\(decision)".contains(value))
        #expect(decision.log.count == 2 && decision.log[1].message == "echo you said (hidden)")
        net.append(.json(200, "you said \(value)"))
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(.sample(.get, "/a?fail=1"), to: transport)
        }
        #expect(error.map { !"\($0)".contains(value) } == true)
    }

    @Test("a header with a secret's value hides it from the plugins after")
    func secretBehind() async throws {
        let editor = RequestEditor(
            request: .sample(.get, "/a", body: nil, [("X-Key", "s3cr3t-value")]), permissions: PluginPermissions(),
            secrets: SecretBook(["k": "s3cr3t-value"]))
        #expect(editor.given["headers"] == [])
    }

    @Test("kv keeps what a call that ended well has written, within its bytes")
    func keyValues() async throws {
        let storage = MemoryPluginValues()
        let options = PluginOptions(storage: storage)
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              local n = kv.incr("n")
              kv.set("last", { path = req.path })
              kv.set("short", 1, 0.001)
              if req.query:get("fail") then error("no") end
              if req.query:get("flood") then for i = 1, 1000 do kv.set("k" .. i, ("x"):rep(1000)) end end
              if req.query:get("key") then kv.set(req.query:get("key"), 1) end
              return decide.respond { status = 200, body = n .. " " .. kv.get("last").path }
            end }
            """, extra: ["permissions": ["kv": ["bytes": 400]]])
        let plugins = try await text.loaded(options)
        for count in 1...3 {
            let response = try await plugins.send(.sample(), to: transport)
            #expect(String(decoding: response.body.bytes, as: UTF8.self) == "\(count) /tables/todos")
        }
        for query in ["fail=1", "flood=1", "key=..%2F..%2Fetc", "key=%0D%0A"] {
            await #expect(throws: SluiceError.self) {
                try await plugins.send(.sample(.get, "/a?\(query)"), to: transport)
            }
        }
        #expect(try await storage.values(of: "probe")["n"]?["v"] == 3)
        let again = try await text.loaded(options)
        let response = try await again.send(.sample(), to: transport)
        #expect(String(decoding: response.body.bytes, as: UTF8.self) == "4 /tables/todos")
    }

    @Test("kv is kept in a table of the local store")
    func storedValues() async throws {
        let store = MemoryStore()
        let values = try await StoredPluginValues(store)
        try await values.save(["a": ["v": 1], "b": ["v": "x"]], of: "one")
        try await values.save(["a": ["v": 2]], of: "two")
        try await values.save(["b": nil], of: "one")
        #expect(try await values.values(of: "one") == ["a": ["v": 1]])
        #expect(try await values.values(of: "two") == ["a": ["v": 2]])
    }

    @Test("store reads tables that the plugin may read")
    func store() async throws {
        let store = MemoryStore()
        try await store.write { try $0.put(["id": "1", "title": "milk"], in: "todos") }
        let options = PluginOptions(store: store)
        let permissions: JSON = ["tables": ["todo*": "r"]]
        #expect(try await answer(respond("store.get('todos', '1').title"), permissions: permissions, options) == "milk")
        #expect(
            try await answer(respond("store.count('todos', \"title eq 'milk'\")"), permissions: permissions, options)
                == "1")
        for call in ["store.get('users', '1')", "store.get('sluice_audit', '1')", "store.count('todos', 'title eq')"] {
            await #expect(throws: SluiceError.self) {
                try await answer(respond(call), permissions: permissions, options)
            }
        }
    }

    @Test("a filter of any depth is read or refused, and ends nothing", arguments: [50, 2000, 20_000])
    func deepFilter(_ depth: Int) async throws {
        let store = MemoryStore()
        try await store.write { try $0.put(["id": "1", "n": 1], in: "todos") }
        let call = "store.count('todos', string.rep('not (', \(depth)) .. 'n eq 2' .. string.rep(')', \(depth)))"
        let plain = "store.count('todos', string.rep('(', \(depth)) .. 'n eq 1' .. string.rep(')', \(depth)))"
        for call in [call, plain] {
            _ = try? await answer(
                respond(call), permissions: ["tables": ["todo*": "r"]], PluginOptions(store: store))
        }
        // That the process is still there is what counts.
        #expect(
            try await answer(
                respond("store.count('todos', 'n eq 1')"), permissions: ["tables": ["todo*": "r"]],
                PluginOptions(store: store)) == "1")
    }

    @Test("a deterministic plugin has one clock, seeded chance and no network")
    func deterministic() async throws {
        let ticks = Mutex<Int64>(1_000_000_000)
        let environment = SyncEnvironment(
            now: {
                Timestamp(
                    ticks: ticks.withLock {
                        $0 -= 50_000_000
                        return $0
                    })
            }, makeID: { "id" })
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              local a, b = time.now(), time.now()
              assert(a == b)
              return decide.respond { status = 200, body = crypto.uuid() .. math.random(1000000) }
            end }
            """,
            extra: ["deterministic": true, "permissions": ["clock": true, "random": true]])
        var seen: Set<String> = []
        for _ in 0..<3 {
            let plugins = try await text.loaded(PluginOptions(environment: environment))
            seen.insert(String(decoding: try await plugins.send(.sample(), to: transport).body.bytes, as: UTF8.self))
        }
        #expect(seen.count == 1)
    }

    @Test("a flood of log lines is cut")
    func logFlood() async throws {
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              ctx.log.info(("x"):rep(4000))
              for i = 1, 150 do ctx.log.info("x") end
            end }
            """)
        let plugins = try await text.loaded()
        _ = try await plugins.send(.sample(), to: transport)
        let log = try #require(await plugins.decisions.first?.log)
        #expect(log.count == 101 && log.allSatisfy { $0.message.utf8.count <= 2048 })
        #expect(log.last?.message.contains("51 lines") == true)
    }

    @Test("print writes lines into the log at debug, under the log's bounds and without secrets")
    func printed() async throws {
        var options = PluginOptions()
        options.secret = { _ in "s3cr3t-value" }
        let text = PluginText(
            ["request"],
            """
            print("while it loads")
            return { request = function(req, ctx)
              print()
              print("a", nil, 1, 2.5, true, json.null == json.null)
              print("the secret", "s3cr3t-value", nil)
              print(setmetatable({}, { __tostring = function() return "by its own words" end }))
              if req.query:get("many") then for i = 1, 200 do print(("x"):rep(4096)) end end
            end }
            """, extra: ["permissions": ["secrets": ["key"]]])
        let plugins = try await text.loaded(options)
        _ = try await plugins.send(.sample(), to: transport)
        let lines = try #require(await plugins.decisions.first).log
        #expect(
            lines.map(\.message) == ["", "a\tnil\t1\t2.5\ttrue\ttrue", "the secret\t(hidden)\tnil", "by its own words"])
        #expect(lines.allSatisfy { $0.level == "debug" && $0.fields == nil })
        _ = try await plugins.send(.sample(.get, "/a?many=1"), to: transport)
        let many = try #require(await plugins.decisions.last).log
        #expect(many.count == 101 && many[99].message.utf8.count == 2048)
        #expect(many[100].message == "left out 104 lines more")
    }
}
