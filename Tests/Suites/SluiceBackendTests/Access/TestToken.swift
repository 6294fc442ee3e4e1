import Foundation
import JWTKit
import SluiceCore

@testable import SluiceBackend

/// Makes tokens, good ones and others.
enum TestToken {
    static let secret = "a secret of at least thirty-two bytes"

    /// A token with these claims, signed with HS256.
    static func signed(_ claims: String, with secret: String = secret) async throws -> String {
        try await sign(header: #"{"alg":"HS256","typ":"JWT"}"#, claims, with: secret)
    }

    /// A token whose signature is right for its header and claims, whatever these say.
    static func sign(header: String, _ claims: String, with secret: String = secret) async throws -> String {
        let text = part(header) + "." + part(claims)
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        let signature = try await keys.getKey().sign(Data(text.utf8))
        return text + "." + encoded(Data(signature))
    }

    /// A user's token.
    static func user(_ name: String) async throws -> String { try await signed(#"{"sub":"\#(name)"}"#) }

    static func part(_ text: String) -> String { encoded(Data(text.utf8)) }

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
