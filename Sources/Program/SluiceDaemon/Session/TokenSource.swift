internal import Sluice
internal import SluiceConfiguration
package import SluiceSignOn

/// The source of the token that identifies the user to the server.
package enum TokenSource: Sendable {
    case fixed(FileToken)
    case command(CommandToken)
    case oauth(OAuthTokens)

    /// The one source that is configured; nil for none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where there are several, or a part of one is missing.
    init?(_ values: SettingValues) throws {
        let given = ["token-file", "token-command", "oauth.token-url"].filter { values.text($0) != nil }
        guard given.count < 2 else {
            throw SluiceError(
                .invalidArgument,
                "the token has one source, not \(given.joined(separator: " and ")): "
                    + given.map { "\($0) is from \(values.origin($0))" }.joined(separator: ", "))
        }
        if let url = values.text("oauth.token-url") {
            self = .oauth(try Self.oauth(url, values))
        } else if let command = values.list("token-command") {
            self = .command(CommandToken(command: command))
        } else if let file = try values.path("token-file") {
            self = .fixed(FileToken(source: .file(file)))
        } else if let text = values.text("token") {
            self = .fixed(FileToken(source: .text(text)))
        } else {
            return nil
        }
    }

    private static func oauth(_ url: String, _ values: SettingValues) throws -> OAuthTokens {
        let place = values.origin("oauth.token-url")
        guard let client = values.text("oauth.client-id") else {
            throw SluiceError(.invalidArgument, "\(place): oauth needs a client-id")
        }
        let secret = try values.path("oauth.client-secret-file").map(StoredCredential.file)
        let grant: OAuthTokens.Grant
        if let key = try values.path("oauth.assertion-key-file") {
            grant = .assertion(
                SignedAssertion(
                    issuer: client, subject: values.text("oauth.assertion-subject"), key: .file(key),
                    algorithm: values.text("oauth.assertion-algorithm").flatMap(SignedAssertion.Algorithm.init)
                        ?? .rs256,
                    keyID: values.text("oauth.assertion-key-id")))
        } else if let file = try values.path("oauth.refresh-token-file") {
            grant = .refreshToken(.file(file))
        } else if secret != nil {
            grant = .clientCredentials
        } else {
            throw SluiceError(
                .invalidArgument,
                "\(place): oauth needs a client-secret-file, a refresh-token-file or an assertion-key-file")
        }
        return try OAuthTokens(
            url, client: client, secret: secret, grant: grant, scope: values.text("oauth.scope"),
            transport: try TransportSettings(values).transport())
    }

    /// Returns the configured sign-in on another device, and the place of its refresh token.
    static func signIn(_ values: SettingValues) throws -> (DeviceSignIn, StoredCredential)? {
        guard let device = values.text("oauth.device-url"), let token = values.text("oauth.token-url"),
            let client = values.text("oauth.client-id"), let file = try values.path("oauth.refresh-token-file")
        else { return nil }
        let signIn = try DeviceSignIn(
            device: device, token: token, client: client,
            secret: try values.path("oauth.client-secret-file").map(StoredCredential.file),
            scope: values.text("oauth.scope"), transport: try TransportSettings(values).transport())
        return (signIn, .file(file))
    }

    /// Returns the header field for the tokens. That of OAuth is `Authorization`, that of App Service its own.
    static func scheme(_ values: SettingValues) -> ClientOptions.TokenScheme {
        if values.text("app-service.provider") != nil { return .zumo }
        switch values.text("token-scheme") {
        case "bearer": return .bearer
        case "basic": return .basic
        default: return values.text("oauth.token-url") != nil ? .bearer : .zumo
        }
    }

    func provider() -> any TokenProvider {
        switch self {
        case .fixed(let token): token
        case .command(let token): token
        case .oauth(let tokens): tokens
        }
    }

    /// Fails for a file or a program that cannot be used before anything is sent. A program runs, and a server is asked,
    /// with the first request.
    func check() async throws {
        switch self {
        case .fixed(let token): _ = try await token.token()
        case .command(let token): try token.check()
        case .oauth(let tokens): try await tokens.check()
        }
    }

    /// Ends a running token program and starts none afterwards.
    func stop() {
        if case .command(let token) = self { token.stop() }
    }

    /// Returns an identity of the user: the token, or with HTTP Basic its name. Of an OAuth server's tokens that name no
    /// owner it is the client.
    func identity(_ scheme: ClientOptions.TokenScheme, usesNetwork: Bool) async throws -> String? {
        switch self {
        case .fixed(let token): return Self.identity(scheme, try await token.token())
        case .command(let token): return Self.identity(scheme, try await token.token())
        case .oauth(let tokens):
            guard usesNetwork, let access = try await tokens.token() else { return nil }
            return SessionUser.named(by: access) == nil ? tokens.identity : access
        }
    }

    /// Returns the part of a token that names its owner: of HTTP Basic the name, which a new password does not change.
    static func identity(_ scheme: ClientOptions.TokenScheme, _ token: String?) -> String? {
        scheme == .basic ? token.map { String($0.prefix { $0 != ":" }) } : token
    }
}

/// The exchange of an identity provider's tokens for those of the app, by App Service Authentication. The provider's
/// token says who the user is, also without a network.
struct TokenExchange: Sendable {
    private let endpoint: Endpoint
    private let provider: String
    private let transport: any Transport

    /// Reads the configuration; nil where no provider is named.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` without an endpoint or a source of tokens.
    init?(_ values: SettingValues) throws {
        guard let provider = values.text("app-service.provider") else { return nil }
        guard let endpoint = values.text("endpoint"), try TokenSource(values) != nil else {
            throw SluiceError(
                .invalidArgument,
                "\(values.origin("app-service.provider")): the provider's tokens need a source, and the app an endpoint"
            )
        }
        self.endpoint = try Endpoint(endpoint)
        self.provider = provider
        transport = try TransportSettings(values).transport()
    }

    /// Returns the app's tokens for the provider's.
    func tokens(for tokens: any TokenProvider) -> any TokenProvider {
        AppServiceTokens(endpoint, provider: provider, from: tokens, transport: transport)
    }
}
