internal import Foundation
internal import HTTPTypes
public import SluiceBase
public import SluiceWire
internal import Synchronization

/// Tokens of App Service Authentication: a provider's token is exchanged at `/.auth/login/<provider>`, and the token that
/// comes back, sent as `X-ZUMO-AUTH`, is renewed by `/.auth/refresh` before it ends.
///
/// ```swift
/// let provider = try OAuthTokens(
///     "https://login.example.com/token", client: "kiosk", grant: .refreshToken(.file("/var/lib/kiosk/token")),
///     transport: AsyncHTTPTransport())
/// let app = try Endpoint("https://app.example.com")
/// let tokens = AppServiceTokens(app, provider: "aad", from: provider, transport: AsyncHTTPTransport())
/// let options = ClientOptions(tokenProvider: tokens, tokenScheme: .zumo)
/// ```
public final class AppServiceTokens: TokenProvider {
    private let endpoint: Endpoint
    private let provider: String
    private let source: any TokenProvider
    private let transport: any Transport
    private let known = Mutex<String?>(nil)

    /// Describes the exchange.
    ///
    /// - Parameters:
    ///   - endpoint: the app's address; `/.auth` is at its root.
    ///   - provider: the name of the identity provider in the app's settings: `aad`, `google`, `facebook`.
    ///   - source: the tokens of that provider, such as ``OAuthTokens``.
    ///   - transport: the way to the app.
    public init(_ endpoint: Endpoint, provider: String, from source: any TokenProvider, transport: any Transport) {
        (self.endpoint, self.provider, self.source, self.transport) = (endpoint, provider, source, transport)
    }

    /// Returns the app's token, or exchanges the provider's for one.
    ///
    /// - Throws: ``SluiceError`` of code `unauthorized` where the app takes none, and of the network.
    public func token() async throws -> String? {
        if let token = known.withLock({ $0 }) { return token }
        return try await exchange(try await source.token())
    }

    /// Renews the app's token, or exchanges a newer one of the provider where the app renews none.
    public func refresh(refused: String?) async throws -> String? {
        if let refused, let renewed = try await renewed(refused), renewed != refused { return renewed }
        let given = try await source.token()
        do {
            if let token = try await exchange(given), token != refused { return token }
        } catch let error as SluiceError where error.code == .unauthorized {
            // The provider's token may have ended.
        }
        return try await exchange(try await source.refresh(refused: given))
    }

    /// Returns the expiry that the token itself names.
    public func expiry(of token: String) async throws -> Timestamp? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        guard let bytes = Base64.bytes(parts[1]), let claims = try? JSON(parsing: bytes),
            let seconds = claims["exp"]?.int, (0...253_402_300_799).contains(seconds)
        else { return nil }
        return Timestamp(ticks: 0).advanced(by: .seconds(seconds))
    }

    private func exchange(_ token: String?) async throws -> String? {
        guard let token else { return nil }
        var head = head(.post, "/.auth/login/\(PercentEncoding.segment(provider))")
        head.headerFields[.contentType] = "application/json"
        let body = MessageBody(json: ["access_token": JSON(token)])
        let response = try await transport.send(SyncRequest(head, body: body, context: context))
        guard let issued = keep(response) else {
            throw SluiceError(
                .unauthorized, "the app takes no token of \(provider): status \(response.status)",
                status: response.status)
        }
        return issued
    }

    /// Returns the renewed token; nil where the app renews none, for example because its provider's session has ended.
    private func renewed(_ token: String) async throws -> String? {
        guard HTTPField.isValidValue(token) else { return nil }
        var head = head(.get, "/.auth/refresh")
        head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] = token
        return keep(try await transport.send(SyncRequest(head, context: context)))
    }

    private func keep(_ response: SyncResponse) -> String? {
        guard response.status == 200, let token = try? response.body.json["authenticationToken"]?.string, !token.isEmpty
        else { return nil }
        known.withLock { $0 = token }
        return token
    }

    private func head(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        var head = HTTPRequest(method: method, scheme: endpoint.scheme, authority: endpoint.authority, path: path)
        head.headerFields[.accept] = "application/json"
        return head
    }

    private var context: SyncRequest.Context {
        var context = SyncRequest.Context()
        context.limits.responseBytes = 1 << 20
        context.limits.deadline = .seconds(30)
        return context
    }
}
