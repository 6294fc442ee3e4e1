import Crypto
import Foundation
import HTTPTypes
import JWTKit
import SluiceBase
import SluiceSignOn
import SluiceWire
import Synchronization
import Testing

@Suite("OAuth tokens") struct OAuthTokensTests {
    @Test("a client's own credentials get a token, which is kept, and another when it is refused")
    func clientCredentials() async throws {
        let server = TokenServer(
            (200, #"{"access_token":"one","expires_in":60}"#), (200, #"{"access_token":"two"}"#))
        let secret = try write("s&cret\n")
        // The clock is set back by an hour after the token came.
        let hour = Duration.seconds(3600)
        let wall = Mutex(Timestamp(ticks: 0).advanced(by: hour))
        let environment = SyncEnvironment(
            now: { wall.withLock { $0 } }, steady: { Timestamp(ticks: 0) }, makeID: { "" })
        let token = try OAuthTokens(
            "http://127.0.0.1/oauth/token", client: "shop 7", secret: .file(secret), grant: .clientCredentials,
            scope: "sync",
            transport: server, environment: environment)
        #expect(try await token.token() == "one")
        #expect(try await token.token() == "one")
        wall.withLock { $0 = Timestamp(ticks: 0) }
        #expect(try await token.expiry(of: "one") == Timestamp(ticks: 0).advanced(by: .seconds(60)))
        #expect(try await token.refresh(refused: "one") == "two")
        #expect(server.forms.first == "grant_type=client_credentials&scope=sync")
        let fields = server.requests.withLock { $0[0].head.headerFields }
        let basic = Data("shop%207:s%26cret".utf8).base64EncodedString()
        #expect(fields[.authorization] == "Basic \(basic)")
        #expect(server.requests.withLock { $0[0].head.path } == "/oauth/token")
    }

    @Test("a refresh token is used, and replaced in its file when another is issued")
    func refreshToken() async throws {
        let server = TokenServer((200, #"{"access_token":"one","refresh_token":"next"}"#))
        let file = try write("first")
        let token = try OAuthTokens(
            "http://127.0.0.1/t", client: "c", grant: .refreshToken(.file(file)), transport: server)
        #expect(try await token.token() == "one")
        #expect(server.forms == ["grant_type=refresh_token&refresh_token=first&client_id=c"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "next")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }

    @Test("a refusal says why without what was sent, and a secret goes over TLS or stays on this machine")
    func refusals() async throws {
        let server = TokenServer((400, #"{"error":"invalid_grant","error_description":"canary was wrong"}"#))
        let file = try write("canary")
        let token = try OAuthTokens(
            "http://localhost/t", client: "c", secret: .file(file), grant: .clientCredentials, transport: server)
        let error = await #expect(throws: SluiceError.self) { try await token.token() }
        #expect(error?.code == .unauthorized && "\(error!)".contains("invalid_grant"))
        #expect(!"\(error!)".contains("canary"))
        #expect(throws: SluiceError.self) {
            try OAuthTokens(
                "http://example.net/t", client: "c", secret: .file(file), grant: .clientCredentials, transport: server)
        }
    }

    @Test("a token is issued for an assertion, which the key's owner alone can have signed")
    func assertion() async throws {
        let key = ES256PrivateKey()
        let server = TokenServer((200, #"{"access_token":"one","expires_in":60}"#))
        let clock = PausedClock()
        let assertion = SignedAssertion(
            issuer: "gateway-7", subject: "ann", key: .file(try write(key.pemRepresentation)), algorithm: .es256,
            keyID: "k1")
        let tokens = try OAuthTokens(
            "https://login.example.com/token", client: "gateway-7", grant: .assertion(assertion), scope: "sync",
            transport: server, environment: clock.environment)
        #expect(try await tokens.token() == "one")
        let form = try #require(server.forms.first)
        #expect(form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="))
        #expect(form.hasSuffix("&scope=sync&client_id=gateway-7"))
        let text = try #require(form.split(separator: "&").dropFirst().first?.split(separator: "=").last)
        struct Claims: JWTPayload {
            var iss: String
            var sub: String
            var aud: String
            var exp: Int
            var jti: String
            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: key.publicKey, kid: "k1")
        let claims = try await keys.verify(String(text), as: Claims.self)
        #expect(claims.iss == "gateway-7" && claims.sub == "ann" && claims.aud == "https://login.example.com/token")
        let now = Int(clock.environment.now().ticks / 10_000_000)
        #expect(claims.exp == now + 300 && claims.jti == "id-1")
    }

    @Test("a key that is none is refused without a word of it")
    func wrongKey() async throws {
        let assertion = SignedAssertion(issuer: "c", key: .file(try write("canary")))
        let tokens = try OAuthTokens(
            "https://login.example.com/token", client: "c", grant: .assertion(assertion),
            transport: TokenServer((200, "{}")))
        let error = await #expect(throws: SluiceError.self) { try await tokens.check() }
        #expect(error?.code == .invalidArgument && !"\(error as Any)".contains("canary"))
    }
}
