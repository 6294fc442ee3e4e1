import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Tokens that an issuer signs with its own key: which are taken, and which are refused.
@Suite struct TokenKeysTests {
    private func authenticator(
        _ keys: [JSON], secret: Bool = false, issuer: String? = nil, audience: String? = nil
    ) async throws -> Authenticator {
        var rules = BackendConfiguration.Authentication(
            keyFile: try TestKey.file(keys), issuer: issuer, audience: audience)
        if secret { rules.secret = .text(TestToken.secret) }
        return try await Authenticator(rules, now: { BackendFixture.now })
    }

    private func user(_ token: String, _ authenticator: Authenticator) async throws -> String? {
        try await authenticator.principal(for: [.authorization: "Bearer \(token)"])?.user
    }

    private func expectRefusal(
        _ token: String, _ authenticator: Authenticator, _ reason: String, at place: SourceLocation = #_sourceLocation
    ) async {
        let refusal = await #expect(throws: Refusal.self, sourceLocation: place) {
            try await user(token, authenticator)
        }
        #expect(refusal?.status == .unauthorized, sourceLocation: place)
        guard case .reason(let text)? = refusal?.content else { return }
        #expect(text.contains(reason), "\(text)", sourceLocation: place)
    }

    @Test("tokens of RS256 and ES256 name their user; the key is the one with their kid")
    func good() async throws {
        let (rsa, old, new) = (
            try await TestKey.rs256("r"), try await TestKey.es256("old"), try await TestKey.es256("new")
        )
        let authenticator = try await authenticator([old.jwk, rsa.jwk, new.jwk])
        for key in [rsa, old, new] { #expect(try await user(key.token(), authenticator) == "ann") }
        let swapped = try old.token(header: #"{"alg":"ES256","kid":"new"}"#)
        await expectRefusal(swapped, authenticator, "signature")
        // The one RSA key needs no name; of two there is none to be had.
        #expect(try await user(rsa.token(header: #"{"alg":"RS256"}"#), authenticator) == "ann")
        await expectRefusal(try old.token(header: #"{"alg":"ES256"}"#), authenticator, "kid")
    }

    @Test("a token cannot choose how it is checked: no algorithm, another's, or a public key for a secret")
    func algorithms() async throws {
        let (rsa, ec) = (try await TestKey.rs256("r"), try await TestKey.es256("e"))
        let claims = #"{"sub":"ann"}"#
        let n = try #require(rsa.jwk["n"]?.string)
        for hasSecret in [false, true] {
            let authenticator = try await authenticator([rsa.jwk, ec.jwk], secret: hasSecret)
            for name in ["none", "None", "", "HS512", "RS512", "PS256", "ES384", "EdDSA"] {
                for kid in ["", #","kid":"r""#] {
                    let header = #"{"alg":"\#(name)"\#(kid)}"#
                    let bare = TestToken.part(header) + "." + TestToken.part(claims) + "."
                    await expectRefusal(bare, authenticator, "not signed with")
                    await expectRefusal(try rsa.token(header: header), authenticator, "not signed with")
                }
            }
            await expectRefusal(
                TestToken.part(#"{"alg":"RS256","kid":"r"}"#) + "." + TestToken.part(claims) + ".", authenticator,
                "signature")
            // What an attacker can have of the public key, as the secret of an HMAC.
            for secret in [rsa.pem, rsa.pem + "\n", n, String(decoding: rsa.jwk.bytes(), as: UTF8.self)] {
                for kid in ["", #","kid":"r""#] {
                    let forged = try await TestToken.sign(header: #"{"alg":"HS256"\#(kid)}"#, claims, with: secret)
                    await expectRefusal(forged, authenticator, hasSecret ? "signature" : "not signed with")
                }
            }
            // The right key under the name of another algorithm.
            await expectRefusal(try ec.token(header: #"{"alg":"RS256","kid":"e"}"#), authenticator, "kid")
            await expectRefusal(try rsa.token(header: #"{"alg":"ES256","kid":"e"}"#), authenticator, "signature")
            await expectRefusal(
                try rsa.token(header: #"{"alg":"RS256","kid":"r","crit":["x"]}"#), authenticator, "not signed")
            let secret = try await TestToken.user("ann")
            if hasSecret {
                #expect(try await user(secret, authenticator) == "ann")
            } else {
                await expectRefusal(secret, authenticator, "not signed with RS256 or ES256")
            }
        }
    }

    @Test("an unknown kid, one that is no text, and one in another form of its letters are refused")
    func unknownKeys() async throws {
        let key = try await TestKey.es256("\u{e9}")
        let authenticator = try await authenticator([key.jwk])
        #expect(try await user(key.token(), authenticator) == "ann")
        for kid in [#""x""#, #""""#, "7", "null", #"{"a":1}"#, #""e\u0301""#, #""../../dev/null""#] {
            await expectRefusal(try key.token(header: #"{"alg":"ES256","kid":\#(kid)}"#), authenticator, "kid")
        }
        let other = try await TestKey.es256("\u{e9}")
        await expectRefusal(try other.token(), authenticator, "signature")
        // The key that a token brings along is nobody's.
        let jwk = String(decoding: other.jwk.bytes(), as: UTF8.self)
        await expectRefusal(
            try other.token(header: #"{"alg":"ES256","kid":"\#u{e9}","jwk":\#(jwk)}"#), authenticator, "signature")
    }

    @Test("claims are held to as with a secret")
    func claims() async throws {
        let key = try await TestKey.rs256("r")
        let now = BackendFixture.now.ticks / Timestamp.ticksPerSecond
        let authenticator = try await authenticator([key.jwk], issuer: "i", audience: "a")
        func token(_ more: String) throws -> String { try key.token(#"{"sub":"ann",\#(more)}"#) }
        #expect(try await user(token(#""iss":"i","aud":["b","a"],"exp":\#(now + 1)"#), authenticator) == "ann")
        await expectRefusal(try token(#""iss":"i","aud":"a","exp":\#(now)"#), authenticator, "expired")
        await expectRefusal(try token(#""iss":"i","aud":"a","nbf":\#(now + 1)"#), authenticator, "not valid yet")
        await expectRefusal(try token(#""iss":"j","aud":"a""#), authenticator, "issuer")
        await expectRefusal(try token(#""aud":"a""#), authenticator, "issuer")
        await expectRefusal(try token(#""iss":"i","aud":"b""#), authenticator, "audience")
        await expectRefusal(try token(#""iss":"i""#), authenticator, "audience")
    }

    @Test("the file is read again when it changes; what is no set of keys leaves those that there were")
    func reading() async throws {
        let (old, new) = (try await TestKey.es256("k"), try await TestKey.es256("k"))
        let path = try TestKey.file([old.jwk])
        let authenticator = try await Authenticator(.init(keyFile: path), now: { BackendFixture.now })
        #expect(try await user(old.token(), authenticator) == "ann")
        try TestKey.write([new.jwk], to: path)
        #expect(try await user(new.token(), authenticator) == "ann")
        await expectRefusal(try old.token(), authenticator, "signature")
        for text in ["", "{", #"{"keys":[]}"#] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await user(new.token(), authenticator) == "ann")
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(try await user(new.token(), authenticator) == "ann")
        try TestKey.write([old.jwk], to: path)
        #expect(try await user(old.token(), authenticator) == "ann")
        await expectRefusal(try new.token(), authenticator, "signature")
    }

    @Test("a file that has no keys, a secret one, or two of one name stops the start; other kinds are passed over")
    func files() async throws {
        let (rsa, ec) = (try await TestKey.rs256("r"), try await TestKey.es256("e"))
        var secret = ec.jwk
        secret["d"] = "c2VjcmV0"
        var short = rsa.jwk
        short["n"] = "AQAB"
        var offCurve = ec.jwk
        offCurve["y"] = offCurve["x"]
        var encryption = rsa.jwk
        encryption["use"] = "enc"
        var strong = rsa.jwk
        strong["alg"] = "RS512"
        let shared: JSON = ["kty": "oct", "k": "c2VjcmV0"]
        for (keys, reason) in [
            ([], "no key for RS256"), ([encryption, strong], "no key for RS256"), ([secret], "secret"),
            ([shared], "secret"), ([short], "is no key"), ([offCurve], "is no key"),
            ([ec.jwk, ec.jwk], "kid of another"),
        ] as [([JSON], String)] {
            let error = await #expect(throws: SluiceError.self) { try await authenticator(keys) }
            #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
            #expect(error?.message.contains("c2VjcmV0") == false)
        }
        let missing = await #expect(throws: SluiceError.self) {
            try await Authenticator(.init(keyFile: "/nowhere/keys.json"), now: { BackendFixture.now })
        }
        #expect(missing?.message.contains("/nowhere/keys.json") == true)
        let okp: JSON = ["kty": "OKP", "crv": "Ed25519", "x": "AAAA"]
        let others = try await authenticator([okp, encryption, ec.jwk])
        #expect(try await user(ec.token(), others) == "ann")
    }
}
