import Foundation
import HTTPTypes
import SluiceBase
import SluiceSignOn
import SluiceWire
import Synchronization
import Testing

@Suite("App Service Authentication") struct AppServiceTokensTests {
    /// The provider's own tokens: the next at each refresh.
    private final class Provider: TokenProvider {
        private let count = Mutex(1)
        func token() async throws -> String? { "provider-\(count.withLock { $0 })" }
        func refresh(refused: String?) async throws -> String? {
            count.withLock { $0 += 1 }
            return try await token()
        }
    }

    private static func issued(_ token: String) -> (Int, String) {
        (200, #"{"authenticationToken":"\#(token)","user":{"userId":"sid:1"}}"#)
    }

    private func tokens(_ server: TokenServer) throws -> AppServiceTokens {
        AppServiceTokens(
            try Endpoint("https://app.example/tenant"), provider: "aad", from: Provider(), transport: server)
    }

    @Test("the provider's token is exchanged once, and the app's is renewed by it")
    func exchange() async throws {
        let server = TokenServer(Self.issued("one"), Self.issued("two"))
        let tokens = try tokens(server)
        #expect(try await tokens.token() == "one")
        #expect(try await tokens.token() == "one")
        #expect(try await tokens.refresh(refused: "one") == "two")
        #expect(try await tokens.token() == "two")
        #expect(server.paths == ["POST /.auth/login/aad", "GET /.auth/refresh"])
        #expect(server.forms[0] == #"{"access_token":"provider-1"}"#)
        let field = server.requests.withLock { $0[1].head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] }
        #expect(field == "one")
    }

    @Test(
        "where the app renews none, a token of the provider is exchanged again, and a newer one where that is refused")
    func again() async throws {
        let server = TokenServer(Self.issued("one"), (401, ""), (401, ""), Self.issued("three"))
        let tokens = try tokens(server)
        #expect(try await tokens.token() == "one")
        #expect(try await tokens.refresh(refused: "one") == "three")
        #expect(server.forms.last == #"{"access_token":"provider-2"}"#)
    }

    @Test("an app that takes no token says so, and the network's errors stay what they are")
    func refused() async throws {
        let error = await #expect(throws: SluiceError.self) {
            try await tokens(TokenServer((403, "provider-1 is not welcome"))).token()
        }
        #expect(error?.code == .unauthorized && !"\(error as Any)".contains("provider-1"))
        let broken = await #expect(throws: SluiceError.self) { try await tokens(TokenServer((0, ""))).token() }
        #expect(broken?.code == .network)
    }

    @Test("a token's own end is known, so that it is renewed before")
    func expiry() async throws {
        let tokens = try tokens(TokenServer(Self.issued("x")))
        func token(_ claims: String) -> String {
            let text = Data(claims.utf8).base64EncodedString().replacing("=", with: "").replacing("/", with: "_")
            return "e30.\(text).c2ln"
        }
        #expect(try await tokens.expiry(of: token(#"{"exp":1777777777}"#)) == Timestamp(ticks: 17_777_777_770_000_000))
        for claims in [#"{"exp":"soon"}"#, #"{"exp":-1}"#, "{}", "[1]"] {
            #expect(try await tokens.expiry(of: token(claims)) == nil)
        }
        #expect(try await tokens.expiry(of: "opaque") == nil)
    }
}
