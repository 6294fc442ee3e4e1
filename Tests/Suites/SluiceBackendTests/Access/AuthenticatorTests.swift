import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct AuthenticatorTests {
    /// 2024-05-06T07:08:09.1234567Z, in seconds.
    private static let now = BackendFixture.now.ticks / Timestamp.ticksPerSecond

    private func authenticator(
        issuer: String? = nil, audience: String? = nil, secret: TokenSecret = .text(TestToken.secret),
        variables: [String: String] = [:]
    ) async throws -> Authenticator {
        try await Authenticator(
            .init(secret: secret, issuer: issuer, audience: audience), now: { BackendFixture.now },
            variables: variables)
    }

    private func user(
        _ token: String, issuer: String? = nil, audience: String? = nil
    ) async throws -> String? {
        let headers: HTTPFields = [.authorization: "Bearer \(token)"]
        return try await authenticator(issuer: issuer, audience: audience).principal(for: headers)?.user
    }

    @Test("a token in either header names the user and says what it says")
    func headers() async throws {
        let token = try await TestToken.signed(#"{"sub":"alice","role":"editor"}"#)
        let authenticator = try await authenticator()
        let zumo = try #require(HTTPField.Name("X-ZUMO-AUTH"))
        for headers: HTTPFields in [
            [.authorization: "Bearer \(token)"], [.authorization: "bearer  \(token)"], [zumo: token],
            [.authorization: "Bearer \(token)", zumo: token],
        ] {
            let principal = try await authenticator.principal(for: headers)
            #expect(principal?.user == "alice")
            #expect(principal?.claims["role"] == "editor")
        }
    }

    @Test("without a token, and with credentials of another scheme, there is no user")
    func none() async throws {
        let authenticator = try await authenticator()
        #expect(try await authenticator.principal(for: [:]) == nil)
        #expect(try await authenticator.principal(for: [.authorization: "Basic YTpi"]) == nil)
    }

    @Test("two tokens that differ are refused")
    func twoTokens() async throws {
        let authenticator = try await authenticator()
        let zumo = try #require(HTTPField.Name("X-ZUMO-AUTH"))
        let headers: HTTPFields = [
            .authorization: "Bearer \(try await TestToken.user("alice"))", zumo: try await TestToken.user("bob"),
        ]
        await #expect(throws: Refusal.self) { try await authenticator.principal(for: headers) }
    }

    @Test(
        "claims that limit a token in time are held to, to the second",
        arguments: [
            (#"{"sub":"a","exp":\#(now + 1)}"#, true), (#"{"sub":"a","exp":\#(now)}"#, false),
            (#"{"sub":"a","exp":\#(now).5}"#, true), (#"{"sub":"a","exp":"\#(now + 1)"}"#, false),
            (#"{"sub":"a","nbf":\#(now)}"#, true), (#"{"sub":"a","nbf":\#(now + 1)}"#, false),
            (#"{"sub":"a","nbf":null}"#, false), (#"{"sub":"a","exp":9223372036854775808}"#, true),
        ])
    func times(claims: String, isValid: Bool) async throws {
        let token = try await TestToken.signed(claims)
        if isValid {
            #expect(try await user(token) == "a")
        } else {
            await #expect(throws: Refusal.self) { try await user(token) }
        }
    }

    @Test(
        "issuer and audience are held to where the configuration names them",
        arguments: [
            (#"{"sub":"a","iss":"i","aud":"x"}"#, true), (#"{"sub":"a","iss":"i","aud":["w","x"]}"#, true),
            (#"{"sub":"a","iss":"i","aud":[]}"#, false), (#"{"sub":"a","iss":"i"}"#, false),
            (#"{"sub":"a","iss":"j","aud":"x"}"#, false), (#"{"sub":"a","aud":"x"}"#, false),
        ])
    func issuerAndAudience(claims: String, isValid: Bool) async throws {
        let token = try await TestToken.signed(claims)
        #expect(try await user(token) == "a")
        if isValid {
            #expect(try await user(token, issuer: "i", audience: "x") == "a")
        } else {
            await #expect(throws: Refusal.self) { try await user(token, issuer: "i", audience: "x") }
        }
    }

    @Test(
        "only HS256 is believed, even where the signature is right",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"RS256"}"#, #"{"alg":"hs256"}"#, #"{"alg":"HS512"}"#, #"{"typ":"JWT"}"#,
            #"{"alg":"HS256","crit":["b64"],"b64":false}"#, "[]", "no JSON",
        ])
    func algorithms(header: String) async throws {
        let token = try await TestToken.sign(header: header, #"{"sub":"alice"}"#)
        await #expect(throws: Refusal.self) { try await user(token) }
    }

    @Test("what is no token, or not signed with the secret, is refused with 401 and never shown")
    func badTokens() async throws {
        let good = try await TestToken.user("alice")
        let parts = good.split(separator: ".").map(String.init)
        let bad = [
            "", ".", "..", "a.b.c", good + ".x", parts[0] + "." + parts[1] + ".",
            parts[0] + "." + TestToken.part(#"{"sub":"bob"}"#) + "." + parts[2],
            TestToken.part(#"{"alg":"none"}"#) + "." + parts[1] + ".",
            try await TestToken.signed(#"{"sub":"alice"}"#, with: "another secret of thirty-two bytes!!"),
            try await TestToken.signed(#"{"sub":""}"#), try await TestToken.signed(#"{"sub":7}"#),
            try await TestToken.signed("{}"), try await TestToken.signed("[]"),
            try await TestToken.signed(#"{"sub":"\#(String(repeating: "x", count: 20_000))"}"#),
            String(repeating: "é", count: 9),
        ]
        for token in bad {
            let refusal = await #expect(throws: Refusal.self) { try await user(token) }
            #expect(refusal?.status == .unauthorized, "\(token)")
            #expect(refusal?.headers[.wwwAuthenticate]?.hasPrefix("Bearer error=") == true)
            #expect(!"\(String(describing: refusal))".contains(parts[2]))
        }
    }

    @Test("a secret that is missing or short stops the start, and no error and no print shows it")
    func secrets() async throws {
        let missing = await #expect(throws: SluiceError.self) {
            try await authenticator(secret: .variable("SLUICE_TEST"))
        }
        #expect(missing?.message.contains("SLUICE_TEST is not set") == true)
        let empty = await #expect(throws: SluiceError.self) {
            try await authenticator(secret: .variable("SLUICE_TEST"), variables: ["SLUICE_TEST": ""])
        }
        #expect(empty?.code == .invalidArgument)
        let short = await #expect(throws: SluiceError.self) {
            try await authenticator(secret: .variable("SLUICE_TEST"), variables: ["SLUICE_TEST": "hunter2hunter2"])
        }
        #expect(short?.description.contains("14 bytes") == true)
        #expect(short?.description.contains("hunter2") == false)
        let secret = TokenSecret.text(TestToken.secret)
        var dumped = ""
        dump(BackendConfiguration.Authentication(secret: secret), to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains(TestToken.secret)) }
        _ = try await authenticator(secret: .variable("V"), variables: ["V": TestToken.secret])
    }
}
