import HTTPTypes
import NIOCore
import SluiceCore
import Testing

@testable import SluiceBackend

/// Links behind a proxy.
@Suite struct ForwardedTests {
    private func head(_ path: String, _ fields: [(String, String)]) throws -> HTTPRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "inner:8080", path: path)
        for (name, value) in fields { head.headerFields[try #require(HTTPField.Name(name))] = value }
        return head
    }

    private func base(_ fields: [(String, String)], from peer: String = "127.0.0.1") throws -> String {
        let forwarded = ForwardedHead(proxies: AddressRange.loopback + [try #require(AddressRange("10.1.0.0/16"))])
        let seen = forwarded.head(
            try head("/tables/t", fields), from: try SocketAddress(ipAddress: peer, port: 1))
        return RequestTarget(seen).base
    }

    @Test("a trusted proxy says what clients call the server")
    func trusted() throws {
        #expect(try base([]) == "http://inner:8080")
        #expect(
            try base([
                ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "example.org"), ("X-Forwarded-Prefix", "/api/"),
            ]) == "https://example.org/api")
        #expect(
            try base([
                ("Forwarded", #"for="[2001:db8::1]:9";proto=https;host="a.example:444", for=10.1.0.1;proto=http"#)
            ])
                == "https://a.example:444")
        #expect(try base([("X-Forwarded-Proto", "https, http")], from: "10.1.2.3") == "https://inner:8080")
        #expect(try base([("X-Forwarded-Proto", "https")], from: "::ffff:10.1.2.3") == "https://inner:8080")
        #expect(
            try base([("X-Forwarded-Proto", "javascript"), ("X-Forwarded-Prefix", "//evil")]) == "http://inner:8080")
    }

    @Test("nobody else does")
    func others() throws {
        let fields = [
            ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Prefix", "/evil"),
            ("Forwarded", "proto=https;host=evil.example"),
        ]
        #expect(try base(fields, from: "192.0.2.7") == "http://inner:8080")
        #expect(try base(fields, from: "10.2.0.1") == "http://inner:8080")
    }

    @Test("links and addresses of every wire begin as the client's do")
    func links() async throws {
        let fixture = try await BackendFixture(.init("t", pageSize: 1, columns: [.init("n", .integer)]))
        let prefix = [("X-Forwarded-Prefix", "/api")]
        for id in ["a", "b"] {
            let made = await fixture.send(.post, "/tables/t", #"{"id":"\#(id)"}"#, headers: prefix)
            #expect(made.header("Location") == "http://127.0.0.1:8080/api/tables/t/\(id)")
        }
        let azure = await fixture.send(.get, "/tables/t", headers: prefix)
        #expect(azure.header("Link")?.hasPrefix("http://127.0.0.1:8080/api/tables/t?") == true)
        let sync = await fixture.send(
            .get, "/tables/t", headers: prefix + [("X-ZUMO-Options", "nextLink=path")], version: nil)
        #expect(sync.json["nextLink"]?.string?.hasPrefix("/api/tables/t?") == true || sync.json["nextLink"] != nil)
        let odata = await fixture.send(.get, "/odata/v4/t", headers: prefix, version: nil)
        #expect(odata.json["@odata.nextLink"]?.string?.hasPrefix("http://127.0.0.1:8080/api/odata/v4/t?") == true)
        #expect(odata.json["@odata.context"]?.string?.hasPrefix("http://127.0.0.1:8080/api/odata/v4/") == true)
        try await fixture.backend.close()
    }

    @Test("addresses are read as proxies write them")
    func addresses() {
        let plain = NetworkAddress("192.0.2.7")
        #expect(plain != nil)
        for text in ["192.0.2.7:5678", "::ffff:192.0.2.7", "[::ffff:192.0.2.7]:80"] {
            #expect(NetworkAddress(text) == plain, "\(text)")
        }
        #expect(NetworkAddress("2001:db8::1") == NetworkAddress("[2001:db8::1]:4711"))
        #expect(NetworkAddress("2001:db8::1") == NetworkAddress(#""[2001:db8::1]""#))
        for text in ["", "host", "1.2.3", "[::1", "[::1]x", "1.2.3.4.5"] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }
        for text in ["10.0.0.0/33", "x/8", "10.0.0.0/", "10.0.0.0/-1"] { #expect(AddressRange(text) == nil, "\(text)") }
    }
}
