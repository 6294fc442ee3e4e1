import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite("Proxies", .timeLimit(.minutes(5)))
struct ProxyTests {
    /// The proxy for the host, as `host:port`; `-` for none.
    private func chosen(_ variables: [String: String], _ host: String, _ scheme: String = "https") throws -> String {
        try ProxySettings(environment: variables).server(for: host, scheme: scheme)?.description ?? "-"
    }

    @Test("the environment says which proxy is used, in either case, as curl reads it")
    func environment() throws {
        #expect(try chosen([:], "a.example") == "-")
        #expect(try chosen(["HTTPS_PROXY": "http://p:3128"], "a.example") == "p:3128")
        #expect(try chosen(["HTTPS_PROXY": "http://p:3128"], "a.example", "http") == "-")
        #expect(try chosen(["https_proxy": "q:1", "HTTPS_PROXY": "http://p:3128/"], "a.example:8443") == "q:1")
        #expect(try chosen(["HTTP_PROXY": "p"], "a.example", "http") == "p:1080", "curl's port")
        #expect(try chosen(["HTTP_PROXY": "p", "REQUEST_METHOD": "GET"], "a.example", "http") == "-")
        #expect(try chosen(["http_proxy": "p", "REQUEST_METHOD": "GET"], "a.example", "http") == "p:1080")
        #expect(try chosen(["ALL_PROXY": "http://[::1]:8"], "a.example", "http") == "[::1]:8")
        #expect(try chosen(["https_proxy": "", "HTTPS_PROXY": "p:2"], "a.example") == "p:2")
    }

    @Test(
        "hosts without a proxy are names with those below, addresses, networks, or all",
        arguments: [
            ("example.com", "example.com", true), (".example.com", "example.com", true),
            ("example.com", "a.Example.com:8443", true), ("example.com.", "a.example.com", true),
            ("example.com", "badexample.com", false), ("a.example.com", "example.com", false),
            ("*", "anything", true), ("*.example.com", "a.example.com", false),
            ("x, example.com", "example.com", true), ("x example.com", "example.com", true),
            ("127.0.0.1", "127.0.0.1:8080", true), ("10.0.0.0/8", "10.9.8.7", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.1", "127.0.0.1", false), ("fd00::/8", "[fd12::1]:80", true), ("[::1]", "[::1]", true),
            ("10.0.0.0/8", "10.example.com", false), ("localhost", "127.0.0.1", false), ("", "a", false),
        ])
    func exceptions(_ list: String, _ host: String, _ isDirect: Bool) throws {
        let found = try chosen(["HTTPS_PROXY": "http://p:1", "no_proxy": list], host)
        #expect(found == (isDirect ? "-" : "p:1"))
    }

    @Test(
        "an address that is none is refused, and not repeated",
        arguments: ["https://u:secret@p:1", "socks5://secret", "http://secret:0", "http://p/secret", "http://", "a b"])
    func refused(_ address: String) async throws {
        let transport = AsyncHTTPTransport(proxy: ProxySettings(address))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/")
        let error = await #expect(throws: SluiceError.self) { try await transport.send(SyncRequest(head)) }
        #expect(error?.code == .invalidArgument && !"\(error as Any)".contains("secret"))
        var shown = ""
        dump(ProxySettings("http://u:secret@p:1", credentials: "u:secret"), to: &shown)
        #expect(!shown.contains("secret"))
    }

    private static let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]"

    private func request(_ port: Int) -> SyncRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/tables/t?a=1")
        head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] = "origin-token"
        return SyncRequest(head)
    }

    @Test("a request goes through the proxy, which sees neither its path nor its token; the server sees no proxy's")
    func through() async throws {
        try await RawServer.run([.text(Self.answer)]) { server in
            // name:pass word
            try await ConnectProxy.run(credentials: "Basic bmFtZTpwYXNzIHdvcmQ=") { proxy in
                let settings = ProxySettings("http://name:pass%20word@127.0.0.1:\(proxy.port)")
                let response = try await AsyncHTTPTransport(proxy: settings).send(request(server.port))
                #expect(response.status == 200)
                let told = try #require(proxy.heads.first)
                #expect(told.hasPrefix("CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\n"))
                #expect(!told.contains("origin-token") && !told.contains("tables"))
                let head = try #require(server.requests.first)
                #expect(head.contains("origin-token") && !head.lowercased().contains("proxy-"))
                // The same proxy, with the password beside its address; and the server without it.
                let apart = ProxySettings("127.0.0.1:\(proxy.port)", credentials: "name:pass word")
                #expect(try await AsyncHTTPTransport(proxy: apart).send(request(server.port)).status == 200)
                let direct = ProxySettings("127.0.0.1:\(proxy.port)", exceptions: ["127.0.0.0/8"])
                #expect(try await AsyncHTTPTransport(proxy: direct).send(request(server.port)).status == 200)
                #expect(proxy.heads.count == 2 && server.requests.count == 3)
            }
        }
    }

    @Test("a proxy that refuses is no server: nothing was sent, and a repeat arrives", arguments: [407, 403, 503])
    func refusing(_ status: Int) async throws {
        try await RawServer.run([.text(Self.answer)]) { server in
            try await ConnectProxy.run(refusals: [status]) { proxy in
                let transport = AsyncHTTPTransport(proxy: ProxySettings("http://u:secret@127.0.0.1:\(proxy.port)"))
                let error = await #expect(throws: SluiceError.self) { try await transport.send(request(server.port)) }
                #expect(error?.code == .network && error?.cause is RequestNotSent)
                #expect("\(error as Any)".contains("127.0.0.1:\(proxy.port)"), "it says which proxy")
                #expect(!"\(error as Any)".contains("secret"))
                #expect(server.requests.isEmpty)
                let answer = try await transport.send(request(server.port))
                #expect(answer.status == 200)
            }
        }
    }

    @Test("a proxy that cannot be reached is named")
    func absent() async throws {
        let transport = AsyncHTTPTransport(proxy: ProxySettings("127.0.0.1:1"))
        let error = await #expect(throws: SluiceError.self) { try await transport.send(request(80)) }
        #expect(error?.code == .network && error?.message.contains("the proxy 127.0.0.1:1") == true)
    }
}
