internal import Foundation
public import SluiceBase
public import SluiceWire
internal import Synchronization

/// Access tokens of an OAuth 2.0 server (RFC 6749). A token is kept until shortly before it ends, or until a server refuses
/// it, and then replaced by the same grant.
///
/// ```swift
/// let tokens = try OAuthTokens(
///     "https://login.example.com/token", client: "gateway-7", secret: .file("/etc/app/secret"),
///     grant: .clientCredentials, scope: "sync", transport: AsyncHTTPTransport())
/// let options = ClientOptions(tokenProvider: tokens, tokenScheme: .bearer)
/// ```
public final class OAuthTokens: TokenProvider {
    /// The evidence for which the server issues a token.
    public enum Grant: Sendable {
        /// The client's own secret (RFC 6749 §4.4).
        case clientCredentials
        /// A refresh token (RFC 6749 §6), which ``DeviceSignIn`` can fetch. It is replaced where the server issues another.
        case refreshToken(StoredCredential)
        /// A signed assertion (RFC 7523 §2.1).
        case assertion(SignedAssertion)
    }

    private struct Access {
        var token: String
        /// The time of expiry by the steady clock; nil if the server does not state it.
        var expires: Timestamp?
    }

    private let endpoint: TokenEndpoint
    private let client: String
    private let secret: StoredCredential?
    private let grant: Grant
    private let scope: String?
    private let environment: SyncEnvironment
    private let access = Mutex<Access?>(nil)

    /// The token URL with the client's id, which distinguishes this client from others.
    package var identity: String { "\(endpoint.description)|\(client)" }

    /// Describes the server and the client.
    ///
    /// - Parameters:
    ///   - url: the address that issues tokens: https, or of this machine.
    ///   - client: the client's id.
    ///   - secret: the client's secret, sent by HTTP Basic (RFC 6749 §2.3.1); nil for a public client.
    ///   - scope: the scope to ask for; nil for the server's default.
    ///   - transport: the way to the server of tokens.
    ///   - environment: the clock.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    public init(
        _ url: String, client: String, secret: StoredCredential? = nil, grant: Grant, scope: String? = nil,
        transport: any Transport, environment: SyncEnvironment = .system
    ) throws(SluiceError) {
        endpoint = try TokenEndpoint(url, named: "oauth.token-url", transport: transport)
        (self.client, self.secret, self.grant, self.scope) = (client, secret, grant, scope)
        self.environment = environment
    }

    /// Returns the token, or fetches the first one.
    ///
    /// - Throws: ``SluiceError`` of code `unauthorized` with the server's reason, and of the network.
    public func token() async throws -> String? {
        if let access = access.withLock({ $0 }) { return access.token }
        return try await fetch()
    }

    /// Fetches another token.
    public func refresh(refused: String?) async throws -> String? {
        let token = try await fetch()
        return token == refused ? nil : token
    }

    /// Returns the expiry by the server's statement.
    public func expiry(of token: String) async throws -> Timestamp? {
        guard let access = access.withLock({ $0 }), access.token == token, let end = access.expires else { return nil }
        return environment.now().advanced(by: environment.steady().duration(to: end))
    }

    /// Reads the credentials without sending anything.
    ///
    /// - Throws: ``SluiceError`` for a credential that cannot be read.
    public func check() async throws {
        _ = try await secret?.read()
        switch grant {
        case .clientCredentials: break
        case .refreshToken(let stored): _ = try await stored.read()
        case .assertion(let assertion):
            _ = try await assertion.text(for: endpoint.url, at: environment.now(), id: environment.makeID())
        }
    }

    private func fetch() async throws -> String {
        var form: [(name: String, value: String)]
        var stored: (token: String, place: StoredCredential)?
        switch grant {
        case .clientCredentials: form = [("grant_type", "client_credentials")]
        case .refreshToken(let place):
            let token = try await place.read()
            stored = (token, place)
            form = [("grant_type", "refresh_token"), ("refresh_token", token)]
        case .assertion(let assertion):
            let text = try await assertion.text(for: endpoint.url, at: environment.now(), id: environment.makeID())
            form = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", text)]
        }
        if let scope { form.append(("scope", scope)) }
        let secret = try await secret?.read()
        if secret == nil { form.append(("client_id", client)) }
        let (status, document) = try await endpoint.post(form, as: secret.map { (client, $0) })
        guard status == 200, let token = document?["access_token"]?.string, !token.isEmpty else {
            throw TokenEndpoint.refusal(status, document)
        }
        let life = document?["expires_in"]?.int.map { min(max($0, 0), 31_536_000) }
        access.withLock {
            $0 = Access(token: token, expires: life.map { environment.steady().advanced(by: .seconds($0)) })
        }
        if let stored, let next = document?["refresh_token"]?.string, next != stored.token {
            try await stored.place.replace(next)
        }
        return token
    }
}
