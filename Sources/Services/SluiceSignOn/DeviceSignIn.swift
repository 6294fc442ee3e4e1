public import SluiceBase
public import SluiceWire

/// The sign-in of a user on another device (RFC 8628): this one shows an address and a code, and waits.
///
/// ```swift
/// let signIn = try DeviceSignIn(
///     device: "https://login.example.com/device", token: "https://login.example.com/token", client: "kiosk",
///     scope: "sync offline_access", transport: AsyncHTTPTransport())
/// let prompt = try await signIn.begin()
/// print("Open \(prompt.address) and enter \(prompt.code)")
/// try await signIn.finish(prompt, into: .file("/var/lib/kiosk/refresh-token"))
/// ```
public struct DeviceSignIn: Sendable {
    /// The user's part of a sign-in.
    public struct Prompt: Sendable {
        /// The address to open.
        public let address: String
        /// The code to enter there.
        public let code: String
        /// The address with the code in it, for a picture that a telephone reads; nil where the server gives none.
        public let completeAddress: String?
        /// The end of the code's life.
        public let expires: Timestamp
        /// The pause between two questions at first.
        let interval: Duration
        let deviceCode: String
    }

    private let device: TokenEndpoint
    private let token: TokenEndpoint
    private let client: String
    private let secret: StoredCredential?
    private let scope: String?
    private let environment: SyncEnvironment

    /// Describes the server and the client, as ``OAuthTokens`` does.
    ///
    /// - Parameters:
    ///   - device: the address that issues codes.
    ///   - token: the address that issues tokens.
    public init(
        device: String, token: String, client: String, secret: StoredCredential? = nil, scope: String? = nil,
        transport: any Transport, environment: SyncEnvironment = .system
    ) throws(SluiceError) {
        self.device = try TokenEndpoint(device, named: "oauth.device-url", transport: transport)
        self.token = try TokenEndpoint(token, named: "oauth.token-url", transport: transport)
        (self.client, self.secret, self.scope, self.environment) = (client, secret, scope, environment)
    }

    /// Fetches a code.
    ///
    /// - Throws: ``SluiceError`` of code `unauthorized` with the server's reason, and of the network.
    public func begin() async throws -> Prompt {
        let (status, document) = try await device.post(
            [("client_id", client)] + (scope.map { [("scope", $0)] } ?? []), as: try await basic())
        guard status == 200, let document, let deviceCode = document["device_code"]?.string,
            let code = document["user_code"]?.string, let address = document["verification_uri"]?.string
        else { throw TokenEndpoint.refusal(status, document) }
        let life = min(max(document["expires_in"]?.int ?? 600, 1), 86_400)
        return Prompt(
            address: Self.printable(address), code: Self.printable(code),
            completeAddress: document["verification_uri_complete"]?.string.map(Self.printable),
            expires: environment.steady().advanced(by: .seconds(life)),
            // RFC 8628 §3.2: five seconds where the server says nothing.
            interval: .seconds(min(max(document["interval"]?.int ?? 5, 1), 300)), deviceCode: deviceCode)
    }

    /// Asks until the user has signed in, and keeps the refresh token.
    ///
    /// - Throws: ``SluiceError`` of code `unauthorized` where the user refuses, the code expires, or the server issues no
    ///   refresh token; an error of the network is no end, because the user may be signing in.
    public func finish(_ prompt: Prompt, into stored: StoredCredential) async throws {
        var pause = prompt.interval
        while environment.steady() < prompt.expires {
            try await environment.sleep(pause)
            let answer: (status: Int, document: JSON?)
            do {
                answer = try await token.post(
                    [
                        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                        ("device_code", prompt.deviceCode), ("client_id", client),
                    ], as: try await basic())
            } catch let error as SluiceError where error.code.isNetwork {
                // RFC 8628 §3.5: a client should ask less often then.
                pause = min(pause * 2, .seconds(60))
                continue
            }
            if answer.status == 200, let refresh = answer.document?["refresh_token"]?.string {
                return try await stored.replace(refresh)
            }
            switch (answer.status, answer.document?["error"]?.string) {
            case (200, _):
                throw SluiceError(
                    .unauthorized,
                    "the server has issued no refresh token: ask for it by the scope, often offline_access")
            case (_, "authorization_pending"): continue
            case (_, "slow_down"): pause += .seconds(5)
            case (500..., _): continue
            default: throw TokenEndpoint.refusal(answer.status, answer.document)
            }
        }
        throw SluiceError(.unauthorized, "nobody has signed in while the code was valid")
    }

    private func basic() async throws -> (name: String, secret: String)? {
        guard let secret else { return nil }
        return (client, try await secret.read())
    }

    /// Returns a text for the user, without what could write over the terminal.
    private static func printable(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(512) where scalar.properties.generalCategory != .control {
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
