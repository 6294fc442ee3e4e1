internal import Foundation
internal import JWTKit
internal import SluiceBase

/// A signed statement of the client about itself or a user, for which a server issues a token (RFC 7523 §3).
public struct SignedAssertion: Sendable {
    /// The kind of the private key.
    public enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    private let key: StoredCredential
    private let algorithm: Algorithm
    private let keyID: String?
    private let issuer: String
    private let subject: String

    /// Describes the statement. Its audience is the address that issues tokens, and it ends after five minutes.
    ///
    /// - Parameters:
    ///   - issuer: the client, as the server knows it.
    ///   - subject: the user or the client that tokens are for; nil for the issuer.
    ///   - key: the private key, in PEM.
    ///   - keyID: the key's id, where the server knows several.
    public init(
        issuer: String, subject: String? = nil, key: StoredCredential, algorithm: Algorithm = .rs256,
        keyID: String? = nil
    ) {
        (self.issuer, self.subject) = (issuer, subject ?? issuer)
        (self.key, self.algorithm, self.keyID) = (key, algorithm, keyID)
    }

    private struct Claims: JWTPayload {
        var iss: IssuerClaim
        var sub: SubjectClaim
        var aud: AudienceClaim
        var iat: Int64
        var exp: Int64
        var jti: IDClaim

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    /// Returns the signed text.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a key that is none; the message has nothing of it.
    func text(for audience: String, at now: Timestamp, id: String) async throws -> String {
        let pem = try await key.read()
        let seconds = now.ticks / Timestamp.ticksPerSecond
        let claims = Claims(
            iss: IssuerClaim(value: issuer), sub: SubjectClaim(value: subject), aud: AudienceClaim(value: audience),
            iat: seconds, exp: seconds + 300, jti: IDClaim(value: id))
        do {
            let keys = JWTKeyCollection()
            let kid = keyID.map { JWKIdentifier(string: $0) }
            switch algorithm {
            case .rs256:
                await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: pem), digestAlgorithm: .sha256, kid: kid)
            case .es256: await keys.add(ecdsa: try ES256PrivateKey(pem: pem), kid: kid)
            }
            return try await keys.sign(claims, kid: kid)
        } catch {
            throw SluiceError(
                .invalidArgument, "the key of the assertion is no private key for \(algorithm.rawValue) in PEM")
        }
    }
}
