import HTTPTypes
import NIOCore
import SluiceCore
import Testing

@testable import SluiceBackend

/// The limit on the backend's routes.
@Suite struct RateLimitTests {
    private let clock = TestClock()

    private func backend(burst: Int, auth: Bool = true) async throws -> Backend {
        var configuration = BackendConfiguration(
            tables: [.init("t")], authentication: auth ? .init(secret: .text(TestToken.secret)) : nil)
        configuration.rateLimit = .init(requestsPerSecond: 1, burst: burst)
        let clock = clock
        return try await Backend(
            configuration, environment: SyncEnvironment(now: { clock.now }, makeID: { "made" }))
    }

    /// A request as the listener takes it.
    private func send(
        _ backend: Backend, _ method: HTTPRequest.Method = .get, _ path: String = "/tables/t", _ body: String = "",
        headers: [(String, String)] = [], from address: String = "10.0.0.1"
    ) async throws -> Answer {
        var head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
        if !body.isEmpty { head.headerFields[.contentType] = "application/json" }
        for (name, value) in headers { head.headerFields[try #require(HTTPField.Name(name))] = value }
        let request = SyncRequest(head, body: MessageBody(bytes: Array(body.utf8)))
        do throws(Refusal) {
            let allowance = try await backend.admit(head, from: try? SocketAddress(ipAddress: address, port: 1))
            return Answer(await backend.respond(to: request, by: allowance))
        } catch {
            return Answer(backend.refuse(request, error))
        }
    }

    @Test("each user and each address has its own, and a false token counts by its address")
    func clients() async throws {
        let backend = try await backend(burst: 2)
        let ann = [("Authorization", "Bearer \(try await TestToken.user("ann"))")]
        let bob = [("X-ZUMO-AUTH", try await TestToken.user("bob"))]
        let forged = [
            ("X-ZUMO-AUTH", try await TestToken.signed(#"{"sub":"ann"}"#, with: "another secret of 32 bytes or more"))
        ]
        for _ in 0..<2 { #expect(try await send(backend, headers: forged).status == 401) }
        #expect(try await send(backend, headers: forged).status == 429)
        #expect(try await send(backend).status == 429)
        #expect(try await send(backend, from: "10.0.0.2").status == 200)
        for _ in 0..<2 { #expect(try await send(backend, headers: ann).status == 200) }
        #expect(try await send(backend, headers: ann, from: "10.0.0.3").status == 429)
        #expect(try await send(backend, headers: bob).status == 200)
        clock.advance(seconds: 1)
        #expect(try await send(backend, headers: ann).status == 200)
    }

    @Test(
        "every route counts, and the refusal has the form of its wire and whole seconds",
        arguments: [
            ("/tables/t", "2.0.0"), ("/tables/t/1", "3.0.0"), ("/tables/t/$digest", ""), ("/nothing", "2.0.0"),
            ("/tables/t/changes", ""), ("/odata/v4/t", ""), ("/odata/v2/t", ""), ("/odata/v4/$metadata", ""),
        ])
    func routes(path: String, version: String) async throws {
        let backend = try await backend(burst: 1, auth: false)
        let headers = (version.isEmpty ? [] : [("ZUMO-API-VERSION", version)]) + [("Accept", "application/json")]
        #expect(try await send(backend, .get, path, headers: headers).status != 429)
        let refused = try await send(backend, .get, path, headers: headers)
        #expect(refused.status == 429)
        #expect(refused.header("Retry-After") == "1")
        #expect(refused.text.contains("too many requests"))
        if path.hasPrefix("/odata") { #expect(refused.json["error"]?["code"] == "429") }
        clock.advance(seconds: 1)
        #expect(try await send(backend, .get, path, headers: headers).status != 429)
    }

    @Test("a batch counts its parts, as JSON and as OData, and is carried out whole or not at all")
    func batches() async throws {
        let v2 = "--b\r\nContent-Type: application/http\r\n\r\nGET t HTTP/1.1\r\n\r\n\r\n"
        let multipart = [("Content-Type", "multipart/mixed; boundary=b")]
        func parts(_ url: String) -> String {
            let parts = (0..<4).map { #"{"id":"\#($0)","method":"POST","url":"\#(url)","body":{"id":"\#($0)"}}"# }
            return #"{"requests":[\#(parts.joined(separator: ","))]}"#
        }
        for (path, body, headers) in [
            ("/tables/$batch", parts("tables/t"), [("ZUMO-API-VERSION", "2.0.0")]),
            ("/odata/v4/$batch", parts("t"), []),
            ("/odata/v2/$batch", String(repeating: v2, count: 4) + "--b--\r\n", multipart),
        ] {
            let backend = try await backend(burst: 6, auth: false)
            let count = { try await self.send(backend, .get, "/odata/v4/t/$count", from: "10.9.9.9").text }
            #expect(
                (200...202).contains(try await send(backend, .post, path, body, headers: headers).status), "\(path)")
            let before = try await count()
            let refused = try await send(
                backend, .post, path, body.replacing(#""id":"0""#, with: #""id":"9""#), headers: headers)
            #expect(refused.status == 429, "\(path)")
            // Of six are two left, and one was paid for the refused request: three are missing.
            #expect(refused.header("Retry-After") == "3", "\(path)")
            #expect(try await count() == before)
            clock.advance(seconds: 3)
            #expect(try await send(backend, .post, path, body, headers: headers).status != 429, "\(path)")
        }
    }

    @Test("without the key there is no limit")
    func off() async throws {
        let backend = try await BackendFixture.empty().backend
        for _ in 0..<500 { #expect(try await send(backend).status == 200) }
    }
}
