internal import Foundation
internal import HTTPTypes
internal import JWTKit
public import SluiceCore

/// Finds out whom a request comes from.
///
/// A token is a JSON Web Token (RFC 7519) signed with HMAC and SHA-256, in `X-ZUMO-AUTH` or as `Authorization: Bearer`.
/// Other schemes of `Authorization` are somebody else's and not looked at.
struct Authenticator: Sendable {
    /// RFC 7518, section 3.2: a key at least as long as the hash.
    static let shortestSecret = 32
    /// The longest token that is read, in bytes.
    static let longestToken = 16_384
    /// The longest user, in bytes.
    static let longestUser = 1024

    private let keys: JWTKeyCollection
    private let rules: BackendConfiguration.Authentication
    private let now: @Sendable () -> Timestamp

    /// Reads the secret, from `variables` where it is in the environment.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where the secret is missing or too short. The secret itself
    ///   is in no error.
    init(
        _ rules: BackendConfiguration.Authentication, now: @escaping @Sendable () -> Timestamp,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(SluiceError) {
        let secret: String
        switch rules.secret.source {
        case .text(let text): secret = text
        case .variable(let name):
            guard let text = variables[name], !text.isEmpty else {
                throw SluiceError(
                    .invalidArgument,
                    "the environment's variable \(name) is not set; it holds the secret that tokens are signed with")
            }
            secret = text
        }
        guard secret.utf8.count >= Self.shortestSecret else {
            throw SluiceError(
                .invalidArgument,
                "\(rules.secret) has \(secret.utf8.count) bytes; HS256 needs at least \(Self.shortestSecret), such as "
                    + "those of: openssl rand -hex 32")
        }
        self.rules = rules
        self.now = now
        keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    }

    /// The user of a request; nil for a request without a token.
    ///
    /// - Throws: ``Refusal`` (401) for a token that is not valid, whatever the request asks for: who brings one means
    ///   to be somebody, and a client renews its token on this answer.
    func principal(for headers: HTTPFields) async throws(Refusal) -> Principal? {
        guard let token = try Self.token(in: headers) else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= Self.longestToken, parts.count == 3, let header = Self.object(parts[0]),
            let claims = Self.object(parts[1])
        else { throw Self.refusal("the token is no JSON Web Token") }
        // The one algorithm, whatever the token wishes; and no extension that must be understood.
        guard header["alg"]?.string == "HS256", header["crit"] == nil else {
            throw Self.refusal("the token is not signed with HS256")
        }
        do {
            _ = try await keys.verify(token, as: Signed.self)
        } catch {
            throw Self.refusal("the token's signature is wrong")
        }
        try check(claims)
        guard let user = claims["sub"]?.string, !user.isEmpty, user.utf8.count <= Self.longestUser else {
            throw Self.refusal("the token names no user (sub)")
        }
        return Principal(user: user, claims: claims)
    }

    /// The claims of RFC 7519, section 4.1, as far as they limit a token.
    private func check(_ claims: JSON) throws(Refusal) {
        let seconds = Double(now().ticks) / Double(Timestamp.ticksPerSecond)
        if let claim = claims["exp"] {
            guard let end = claim.double else { throw Self.refusal("the token's exp is no number") }
            guard seconds < end else { throw Self.refusal("the token has expired") }
        }
        if let claim = claims["nbf"] {
            guard let begin = claim.double else { throw Self.refusal("the token's nbf is no number") }
            guard seconds >= begin else { throw Self.refusal("the token is not valid yet") }
        }
        if let issuer = rules.issuer, claims["iss"]?.string != issuer {
            throw Self.refusal("the token is of another issuer")
        }
        if let audience = rules.audience {
            let audiences = claims["aud"]?.elements ?? [claims["aud"] ?? .null]
            guard audiences.contains(JSON(audience)) else { throw Self.refusal("the token is for another audience") }
        }
    }

    private static func token(in headers: HTTPFields) throws(Refusal) -> String? {
        let zumo = HTTPField.Name("X-ZUMO-AUTH").flatMap { headers[$0] }
        let credentials = headers[.authorization] ?? ""
        let scheme = credentials.prefix { $0 != " " }
        var bearer: String?
        if scheme.lowercased() == "bearer" {
            bearer = credentials.dropFirst(scheme.count).trimmingCharacters(in: .whitespaces)
        }
        if let zumo, let bearer, zumo != bearer { throw refusal("the request holds two different tokens") }
        return zumo ?? bearer
    }

    /// The JSON object of a token's part.
    private static func object(_ part: Substring) -> JSON? {
        var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text),
            let json = try? JSON(parsing: String(decoding: data, as: UTF8.self)),
            json.kind == .object
        else { return nil }
        return json
    }

    private static func refusal(_ reason: String) -> Refusal {
        var refusal = Refusal(.unauthorized, reason)
        // RFC 6750, section 3.
        refusal.headers[.wwwAuthenticate] = "Bearer error=\"invalid_token\", error_description=\"\(reason)\""
        return refusal
    }

    /// A payload of which only the signature matters: the claims are read by the reader that reads all JSON here.
    private struct Signed: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

/// Whom a request comes from, as its token says.
public struct Principal: Sendable, Hashable {
    /// The user: the token's `sub`.
    public var user: String
    /// All that the token says, as an object.
    public var claims: JSON

    /// A user, and what the token says of them.
    public init(user: String, claims: JSON = .object) {
        self.user = user
        self.claims = claims
    }
}
