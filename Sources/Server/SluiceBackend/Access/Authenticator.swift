internal import Foundation
internal import HTTPTypes
internal import JWTKit
internal import Logging
public import SluiceCore
internal import Synchronization

/// Authenticates the user of a request.
///
/// A token is a JSON Web Token (RFC 7519), in `X-ZUMO-AUTH` or as `Authorization: Bearer`. It is signed with an
/// algorithm for which the configuration has a key; each key is for one algorithm, see ``TokenKeys``. Other schemes of
/// `Authorization` are ignored, because they may be a proxy's.
struct Authenticator: Sendable {
    /// RFC 7518, section 3.2: a key at least as long as the hash.
    static let shortestSecret = 32
    /// The longest token that is read, in bytes.
    static let longestToken = 16_384
    /// The longest user, in bytes.
    static let longestUser = 1024

    /// The secret's algorithm; nil if only the file has keys.
    private let secret: (any JWTAlgorithm)?
    private let file: KeyFile?
    private let rules: BackendConfiguration.Authentication
    private let now: @Sendable () -> Timestamp

    /// Reads the secret, from `variables` if it is in the environment, and the file with keys.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the secret is missing or too short, or the file has no
    ///   keys. No error contains the secret.
    init(
        _ rules: BackendConfiguration.Authentication, now: @escaping @Sendable () -> Timestamp,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(SluiceError) {
        self.rules = rules
        self.now = now
        if let secret = rules.secret {
            self.secret = try await Self.verifier(secret, variables)
        } else {
            secret = nil
        }
        if let path = rules.keyFile {
            file = try await KeyFile(path)
        } else {
            file = nil
        }
    }

    private static func verifier(
        _ secret: TokenSecret, _ variables: [String: String]
    ) async throws(SluiceError) -> any JWTAlgorithm {
        let text: String
        switch secret.source {
        case .text(let given): text = given
        case .variable(let name):
            guard let given = variables[name], !given.isEmpty else {
                throw SluiceError(
                    .invalidArgument,
                    "the environment's variable \(name) is not set; it holds the secret that tokens are signed with")
            }
            text = given
        }
        guard text.utf8.count >= shortestSecret else {
            throw SluiceError(
                .invalidArgument,
                "\(secret) has \(text.utf8.count) bytes; HS256 needs at least \(shortestSecret), such as those of: "
                    + "openssl rand -hex 32")
        }
        do {
            return try await JWTKeyCollection().add(hmac: HMACKey(from: text), digestAlgorithm: .sha256).getKey()
        } catch {
            throw SluiceError(.invalidArgument, "\(secret) is no key for HS256")
        }
    }

    /// Returns the user of a request; nil for a request without a token.
    ///
    /// - Throws: ``Refusal`` (401) for an invalid token, even on an anonymous table: its client claims to be a user,
    ///   and this answer makes it renew the token.
    func principal(for headers: HTTPFields) async throws(Refusal) -> Principal? {
        guard let token = try Self.token(in: headers) else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= Self.longestToken, parts.count == 3, let header = Self.object(parts[0]),
            let claims = Self.object(parts[1]), let signature = Self.data(parts[2])
        else { throw Self.refusal("the token is no JSON Web Token") }
        let keys = TokenKeys(secret: secret, keys: await file?.keys() ?? [])
        // The token cannot choose an algorithm without a key, and critical extensions (`crit`) are not supported.
        guard let algorithm = header["alg"]?.string, keys.algorithms.contains(algorithm), header["crit"] == nil else {
            throw Self.refusal("the token is not signed with \(keys.algorithms.joined(separator: " or "))")
        }
        guard header["kid"] == nil || header["kid"]?.string != nil,
            let key = keys.verifier(algorithm: algorithm, id: header["kid"]?.string)
        else { throw Self.refusal("the token names no key that is known (kid)") }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        guard (try? key.verify(signature, signs: signed)) == true else {
            throw Self.refusal("the token's signature is wrong")
        }
        try check(claims)
        guard let user = claims["sub"]?.string, !user.isEmpty, user.utf8.count <= Self.longestUser else {
            throw Self.refusal("the token names no user (sub)")
        }
        return Principal(user: user, claims: claims)
    }

    /// Checks the claims of RFC 7519, section 4.1, that limit a token.
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

    /// Decodes the bytes of a token's part.
    private static func data(_ part: Substring) -> Data? { Base64.bytes(part).map { Data($0) } }

    /// Decodes the JSON object of a token's part.
    private static func object(_ part: Substring) -> JSON? {
        guard let data = data(part), let json = try? JSON(parsing: String(decoding: data, as: UTF8.self)),
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
}

/// The user of a request with the claims of its token.
public struct Principal: Sendable, Hashable {
    /// The user: the token's `sub`.
    public var user: String
    /// All claims of the token, as an object.
    public var claims: JSON

    /// Creates a user with the token's claims.
    public init(user: String, claims: JSON = .object) {
        self.user = user
        self.claims = claims
    }
}

/// A file with a JWK set, which is read again when it has changed.
final class KeyFile: Sendable {
    private struct Known {
        var status: FileStatus?
        var keys: [TokenKeys.Key]
    }

    private let path: String
    private let known: Mutex<Known>

    /// Reads the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file.
    init(_ path: String) async throws(SluiceError) {
        self.path = path
        let status = FileStatus(path)
        known = Mutex(Known(status: status, keys: try await Self.read(path)))
    }

    /// Returns the file's current keys. If the file is missing or no longer a JWK set, the previous keys stay valid,
    /// and the log has the reason.
    func keys() async -> [TokenKeys.Key] {
        // The status is taken before the file is read, so that a change in between is noticed the next time.
        let status = FileStatus(path)
        let (last, isSame) = known.withLock { ($0.keys, $0.status == status) }
        guard !isSame else { return last }
        do {
            let keys = try await Self.read(path)
            known.withLock { $0 = Known(status: status, keys: keys) }
            return keys
        } catch {
            let isFirst = known.withLock { known in
                defer { known.status = status }
                return known.status != status
            }
            if isFirst {
                Logger(label: "sluice.backend").warning("the keys for tokens stay as they were: \(error.message)")
            }
            return last
        }
    }

    private static func read(_ path: String) async throws(SluiceError) -> [TokenKeys.Key] {
        guard let bytes = try? OpenFile(path).read(upTo: TokenKeys.mostBytes + 1), !bytes.isEmpty else {
            throw SluiceError(.invalidArgument, "the file \(path) of jwks cannot be read, or is empty")
        }
        guard bytes.count <= TokenKeys.mostBytes else {
            throw SluiceError(.invalidArgument, "the file \(path) of jwks is larger than \(TokenKeys.mostBytes) bytes")
        }
        do {
            return try await TokenKeys.keys(jwks: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "the file \(path) of jwks: \(error.message)")
        }
    }
}
