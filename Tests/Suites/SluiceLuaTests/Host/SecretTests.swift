import Foundation
import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Secrets of a deployment")
struct SecretTests {
    let net = ScriptedTransport([], otherwise: .json(200, "{}"))

    private func run(_ body: String, hosts: JSON = ["*.example.com"]) async throws -> PluginFailure? {
        var options = PluginOptions(transport: net)
        options.secret = { $0 == "key" ? "s3cr3t value/+?" : $0 == "empty" ? "" : nil }
        let text = PluginText(
            ["request"], "return { request = function(req, ctx)\n\(body)\nend }",
            extra: ["permissions": ["http": hosts, "secrets": ["key", "gone", "empty"]]])
        do {
            let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
            _ = try await text.loaded(options).send(.sample(), to: transport)
            return nil
        } catch let error as SluiceError {
            return try #require(error.cause as? PluginFailure)
        }
    }

    @Test("a secret is a file: a pipe that nobody writes to is refused, and waits for nobody")
    func pipe() throws {
        let folder = try TemporaryFolder()
        try folder.write("value\n", to: "good")
        try folder.write("", to: "empty")
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        let secrets = SecretFolder(path: folder.path)
        #expect(try secrets.secret("good") == "value" && secrets.secret("none") == nil)
        for name in ["pipe", "empty"] { #expect(throws: SluiceError.self) { try secrets.secret(name) } }
    }

    @Test("a secret that is not there is an error; the optional form returns nil")
    func missing() async throws {
        let failure = try await run("local s = secrets.get('gone')")
        #expect(failure?.kind == .runtime && failure?.message.contains("has no secret gone") == true)
        #expect(
            try await run("assert(secrets.find('gone') == nil and secrets.find('key') == secrets.get('key'))") == nil)
        #expect(try await run("secrets.find('other')")?.kind == .permission)
        #expect(try await run("local t = 'Bearer ' .. secrets.find('gone')")?.kind == .runtime)
    }

    @Test(
        "a value of the wrong type is an error, and never the empty key, the first encoding or all records",
        arguments: [
            "crypto.hmac_sha256(nil, 'x')", "crypto.hmac_sha256('', 'x')", "crypto.hmac_sha256(json.null, 'x')",
            "crypto.hmac_sha256(true, 'x')", "crypto.hmac_sha256({1}, 'x')", "crypto.hmac_sha256('k', nil)",
            "crypto.hmac_sha256('k', 'x', true)", "crypto.sha256(nil)", "crypto.sha256('x', {1})", "crypto.hex(nil)",
            "crypto.seal('short', 'x')", "crypto.seal(nil, 'x')", "crypto.open('0123456789abcdef', nil)",
            "crypto.seal('0123456789abcdef', 'x', true)", "crypto.base64(false)", "crypto.base64_decode(nil)",
            "secrets.get(nil)", "secrets.get({1})",

            "time.format('soon')", "time.format(0, 'x')", "req.query:get(nil)", "req.query:set('a', {1})",
            "req.body:sub('x')", "req.body:set_text(nil)", "req.body:set_text(true)", "text.levenshtein(nil, 'a')",
            "http.request { url = 'https://a.example.com', headers = { A = true } }",
            "http.request { url = 'https://a.example.com', body = true }",
            "http.request { url = 'https://a.example.com', method = 5 }",
            "return decide.respond { status = 200, headers = { A = true } }",
        ])
    func wrongTypes(call: String) async throws {
        let failure = try await run(call.hasPrefix("return") ? call : "local v = \(call)")
        #expect(failure != nil, "\(call)")
        #expect(net.requests.isEmpty)
    }

    @Test(
        "the fields that say how bytes travel are the transport's",
        arguments: [
            "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer", "Keep-Alive",
            "Proxy-Connection", "Expect",
        ])
    func framing(name: String) async throws {
        let failure = try await run("http.request { url = 'https://a.example.com/', headers = { ['\(name)'] = 'x' } }")
        #expect(failure?.message.contains("transport's") == true && net.requests.isEmpty)
    }

    @Test("a secret leaves over TLS, and over plain http to this machine alone")
    func plain() async throws {
        let hosts: JSON = ["a.example.com", "127.0.0.1:8080", "localhost", "127.0.0.1.example.com"]
        let line = "http.request { url = '%', headers = { A = secrets.get('key') } }"
        for url in ["http://a.example.com/", "http://127.0.0.1.example.com/"] {
            let failure = try await run(line.replacing("%", with: url), hosts: hosts)
            #expect(failure?.kind == .permission && failure?.message.contains("TLS") == true, "\(url)")
        }
        #expect(net.requests.isEmpty)
        for url in ["https://a.example.com/", "http://127.0.0.1:8080/", "http://localhost/"] {
            #expect(try await run(line.replacing("%", with: url), hosts: hosts) == nil, "\(url)")
        }
        #expect(
            try await run("http.request { url = 'http://a.example.com/', headers = { A = 'b' } }", hosts: hosts) == nil)
        #expect(net.requests.count == 4)
    }

    static let secret = "s3cr3t value/+?"

    static var shapes: [String] {
        let bytes = Array(secret.utf8)
        return [
            secret, String(decoding: bytes.reversed(), as: UTF8.self), Base16.text(bytes),
            Base16.text(bytes).uppercased(),
            "s3cr3t%20value%2F%2B%3F", "s3cr3t%20value%2f%2b%3f", "s3cr3t+value%2F%2B%3F",
        ]
            + (0..<3).flatMap { offset -> [String] in
                let text = Base64.text(Array("abc".utf8.prefix(offset)) + bytes + Array("xy".utf8))
                return [text, text.replacing("+", with: "-").replacing("/", with: "_")]
            }
    }

    @Test(
        "a secret is hidden in a text as it is, reversed, in base64, in hexadecimal and in an address",
        arguments: shapes)
    func hidden(text: String) {
        let redact = Redactor([Self.secret])
        #expect(redact("<\(text)>").contains("(hidden)"), "\(text)")
        #expect(redact.finds(in: text))
        let json = redact(["a": [JSON(text)], text: 1] as JSON)
        #expect(json["(hidden)"] != nil || "\(json)".contains("(hidden)"))
    }

    @Test("what is left of base64 says less than a character of the secret")
    func base64Rest() {
        let text = Base64.text(Array("user:\(Self.secret)!".utf8))
        let shown = Redactor([Self.secret])(text)
        #expect(shown.contains("(hidden)") && shown.utf8.count < "(hidden)".utf8.count + 13)
    }

    @Test("a secret with a mark after its last letter is found all the same")
    func combined() {
        #expect(Redactor(["s3cr3t"])("s3cr3t\u{301}").utf8.starts(with: "(hidden)".utf8))
        #expect(Redactor(["abcd"])("xabcdabcdx") == "x(hidden)(hidden)x")
        #expect(Redactor(["abc"])("abc") == "abc")
        #expect(Redactor(["a\"bc\\d"])(#"{"a":"a\"bc\\d"}"#).contains("hidden"))
    }

    @Test("a script cannot show a secret that a server sends back by turning or encoding it")
    func echoed() async throws {
        net.append(.json(200, JSON(Self.secret).description))
        var options = PluginOptions(transport: net)
        options.secret = { _ in Self.secret }
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              local s = json.decode(http.request { url = "https://a.example.com/" }.body)
              for _, t in ipairs { s, crypto.hex(s), crypto.hex(s):upper(), crypto.base64("a" .. s), crypto.base64("ab" .. s) } do
                ctx.log.info(t)
              end
              ctx.log.info(("s3cr3t value"):reverse())
            end }
            """, extra: ["permissions": ["http": ["a.example.com"], "secrets": ["key"]]])
        let plugins = try await text.loaded(options)
        _ = try await plugins.send(.sample(), to: ScriptedTransport([], otherwise: .json(200, "{}")))
        let log = try #require(await plugins.decisions.first?.log)
        #expect(log.count == 6 && log.prefix(5).allSatisfy { $0.message.contains("(hidden)") })
    }

    @Test("what one plugin signs with is hidden from the others, in fields, logs and traces")
    func secretsOfOthers() async throws {
        var options = PluginOptions(transport: net)
        options.secret = { $0 == "key" ? Self.secret : nil }
        var signs = PluginText(
            ["request"], "return { request = function(req) req.headers:set('X-Signed', secrets.get('key')) end }",
            extra: ["permissions": ["secrets": ["key"]]])
        signs.name = "signs"
        var looks = PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              local seen = req.headers:get("X-Signed")
              req.headers:set("X-Seen", tostring(seen))
              ctx.log.info("\(Self.secret)")
              ctx.trace.set("\(Self.secret)", "1")
            end }
            """)
        looks.name = "looks"
        let transport = ScriptedTransport([], otherwise: .json(200, "{}"))
        let plugins = try await Plugins([try signs.plan, try looks.plan], options: options)
        _ = try await plugins.send(.sample(), to: transport)
        let sent = try #require(transport.requests.first?.head.headerFields)
        #expect(sent[HTTPField.Name("X-Seen")!] == "nil" && sent[HTTPField.Name("X-Signed")!] == Self.secret)
        #expect(!"\(await plugins.decisions)".contains(Self.secret))
    }
}
