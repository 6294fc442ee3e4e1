import Foundation
import JWTKit
import SluiceCore

@testable import SluiceBackend

/// A pair of keys of an issuer, which the tests alone have.
struct TestKey {
    let algorithm: String
    let id: String?
    private let signer: any JWTAlgorithm
    /// The public key as a JWK, and as a text that people call the key.
    let jwk: JSON
    let pem: String

    /// A new key on P-256.
    static func es256(_ id: String?) async throws -> TestKey {
        let key = ES256PrivateKey()
        guard let point = key.publicKey.parameters else { throw SluiceError(.invalidArgument, "no point") }
        var jwk: JSON = ["kty": "EC", "crv": "P-256", "x": JSON(url(point.x)), "y": JSON(url(point.y))]
        if let id { jwk["kid"] = JSON(id) }
        return TestKey(
            algorithm: "ES256", id: id, signer: try await JWTKeyCollection().add(ecdsa: key).getKey(), jwk: jwk,
            pem: key.publicKey.pemRepresentation)
    }

    /// The RSA key of the tests.
    static func rs256(_ id: String?) async throws -> TestKey {
        let key = try Insecure.RSA.PrivateKey(pem: rsa)
        let (modulus, exponent) = try key.publicKey.getKeyPrimitives()
        var jwk: JSON = [
            "kty": "RSA", "alg": "RS256", "use": "sig", "n": JSON(url(modulus.base64EncodedString())),
            "e": JSON(url(exponent.base64EncodedString())),
        ]
        if let id { jwk["kid"] = JSON(id) }
        return TestKey(
            algorithm: "RS256", id: id,
            signer: try await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey(), jwk: jwk,
            pem: key.publicKey.pemRepresentation)
    }

    /// A token that is signed with the key; the header is of the key, or another.
    func token(_ claims: String = #"{"sub":"ann"}"#, header: String? = nil) throws -> String {
        let id = id.map { #","kid":"\#($0)""# } ?? ""
        let text = TestToken.part(header ?? #"{"alg":"\#(algorithm)"\#(id)}"#) + "." + TestToken.part(claims)
        return try text + "." + Self.url(Data(signer.sign(Data(text.utf8))).base64EncodedString())
    }

    private static func url(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// A JWK set as a file of its own.
    static func file(_ keys: [JSON]) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID()).json").path
        try write(keys, to: path)
        return path
    }

    static func write(_ keys: [JSON], to path: String) throws {
        let set: JSON = ["keys": JSON(keys)]
        try Data(set.bytes()).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// A key for nothing but tests.
    private static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDEOhmINMS52Uaf
        UbFjiPcw0opq7IDLgdFa4A12yX50UoEMPgJY5bp+TdhR54ndrtA3HcKSJYDG9NYK
        JWj8ynUdEKXnQyS9+ZKgwhv50TkJXd3iqF+qbMu6p7wPYvaE/sk7z+f/4BMn8Dhr
        /O3K7Ri0GMOXlaMnDw3LqwuDPfJYT7uVpOlCrHa0puTt5YXfKpWMg3aJ4PLaAfFD
        D3Zii5dsBVNVdlq6550f/D0zjXC2u9DcyYmYJFr2b+mikHq7NXEkNA5HthsK2oLd
        Qt6GS6rqq3RLig4dyKv9oMRWhit/B9qyP3xIwlmPgl0Yk1MJ06OlkOiz0Ok5kn42
        rHGcERNhAgMBAAECggEAA856DvxcZ0aMaiwe3CbHX3kWGlDlhrfJTzv9cYp4cNqQ
        36NBpGaAdvwc8CnPsNnioXnAUS7NEA771U04e37p8AW8p38pR/jUHAOSoLFVq+rY
        PRILGQvslShf1jnoklfm9h69tLxXYspJgz7FgM7spcG9OZmQ2qxza2SxX9BkfSC2
        I6s6/1e+vrvGizbxumhvV5G14aDH3DeWxzChKY3TNyXW2XXaH75wZJfjo/5/hvv9
        mvibb1U/ZQ62VcWOcnS7o13Bb1DlQ28a4xdsmQO7py1GKKF6ntzXQVFopw/TYqrp
        Lb+l8p2+j7sRKILALWsg/tAICE8PWIwmKyMhHLp0CQKBgQDkcP2jc/AsYVTN418w
        Bv2OiOEhi7ERRYYYhVaYi4suA9q/fpbKbjdQMZ7Boz8w+1YQkxN2KvE6d7xF0n38
        QhwJplbG+GcNctVjuW6+Blx00VQInGsTZhc5a2JuFGGOpbua5Ih8v2Hcmwm7ybj9
        7xUzB3XJjGJxsd9sv/YML6lq3wKBgQDb5jkxsKZkI0qVbqNpCYtQ2LuuIPTq6Qh3
        ZJH/5oJWasXldybLt0xDMSk3H6YBaeAPsy7P6i0S4AF9DbYXX1sHn2mrPR6b9WDg
        8jsE5Efx/Tt/b9Tk5slRpmFhTkNDnNREgOVfd3NQOUcvJyKvR/0ulQoJePcPkkWm
        nci8taeJvwKBgCGQTGPgm/AZWNlrR8gJruVrTRCdsqVj/qDJroB5ODjJjjFGiycw
        7GWW9Mlkj9tFgk6rHVfmVU0O3JWxqJsQp4fvbZ6MTq/WKG4fh5rZ2mm7e8pMGRtf
        i5f/JBYiXncT+K14WGljwSAlk1eI+uosX4QA25iCTNCBnt8ekSsXMaAnAoGADffi
        3DAvcZ74RuO/R5XOnrUVvurjA+UHn6XozEuVLe4cYgYelcQv+PiveIvvHJngHL8y
        Ewz6Df/iuFHdpkBtZN+Qc8svHZMJs2BPtXDWzR1b4S12ZY/va9tYxjiVdz8IEM3r
        RBQvZAIvbmRbBK1a/NGE0LM5ZmjROdM+BBa57LsCgYA0GBquwkdLZyXMTE2+tay7
        VuNsE/7Qj0PULcF4esyVVTwl2Fl/GIcgilPuKErrvUt8nYBFrLJMCVYYN5+z9auJ
        YIRcWBGsremHONpIEGhAJQH57oftjCQGOs4/hlAUIyvat9y36vw3IbBNuI0sHq2G
        vC0gqAVUfwpxfYva9DQekQ==
        -----END PRIVATE KEY-----
        """
}
