import HTTPTypes
import SluiceCore
import Testing

@Suite("Endpoint")
struct EndpointTests {
    @Test(
        "one server has one normal form",
        arguments: [
            ("http://example.net", "http://example.net"),
            ("HTTPS://Example.NET:443/", "https://example.net"),
            ("http://example.net:80", "http://example.net"),
            ("http://example.net:443", "http://example.net:443"),
            ("http://example.net:08080/App/", "http://example.net:8080/App"),
            ("https://example.net/a/b//?x=y", "https://example.net/a/b?x=y"),
            ("https://example.net?x=y", "https://example.net?x=y"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"),
            ("http://127.0.0.1:1", "http://127.0.0.1:1"),
        ])
    func normalForm(text: String, expected: String) throws {
        #expect(try Endpoint(text).description == expected)
    }

    @Test(
        "what is no plain address of a web server is refused",
        arguments: [
            "", "example.net", "ftp://example.net", "http:/example.net", "http://", "http:///a", "http://:80",
            "http://user@example.net", "http://user:secret@example.net", "http://example.net/#top",
            "http://example.net:0", "http://example.net:65536", "http://example.net:", "http://example.net:+80",
            "http://exa mple.net", "http://example.net/a b", "http://example.net/%4", "http://example.net/%zz",
            "http://example.net/?q=\"", "http://example.net/ä", "http://[::1", "http://[::1]x", "http://[zz]",
            "http://example.net\r\nX: y", "http://example.net\\a", "file:///etc/passwd",
        ])
    func refused(text: String) {
        let error = #expect(throws: SluiceError.self) { try Endpoint(text) }
        #expect(error?.code == .invalidArgument)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test(
        "a slash at the end makes no difference, and the endpoint's own query stays",
        arguments: [
            ("http://h", "/tables/t?a=b"), ("http://h/", "/tables/t?a=b"), ("http://h/app", "/app/tables/t?a=b"),
            ("http://h/app/", "/app/tables/t?a=b"), ("http://h/app/?x=y", "/app/tables/t?x=y&a=b"),
            ("http://h?x=y", "/tables/t?x=y&a=b"),
        ])
    func target(text: String, expected: String) throws {
        #expect(try Endpoint(text).target(["tables", "t"], [("a", "b")]) == expected)
    }

    @Test("an origin is scheme, host and port")
    func origin() throws {
        let endpoint = try Endpoint("https://example.net/app")
        func head(_ scheme: String?, _ authority: String?) -> HTTPRequest {
            HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
        }
        #expect(endpoint.isOrigin(of: head("https", "example.net")))
        #expect(endpoint.isOrigin(of: head("HTTPS", "EXAMPLE.net:443")))
        #expect(!endpoint.isOrigin(of: head("http", "example.net")))
        #expect(!endpoint.isOrigin(of: head("https", "example.net:444")))
        #expect(!endpoint.isOrigin(of: head("https", "example.net.evil.net")))
        #expect(!endpoint.isOrigin(of: head("https", "user@example.net")))
        #expect(!endpoint.isOrigin(of: head("https", nil)))
        #expect(!endpoint.isOrigin(of: head(nil, "example.net")))
    }
}
