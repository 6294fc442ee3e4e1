internal import Foundation
internal import HTTPTypes
package import Sluice
internal import SluiceConfiguration
internal import Synchronization

/// Access tokens of an OAuth 2.0 server (RFC 6749): by a refresh token (section 6) if there is one, else by the
/// client's own credentials (section 4.4). The client authenticates by HTTP Basic (section 2.3.1).
package final class OAuthToken: TokenProvider {
    private struct Access {
        var token: String
        /// The time of expiry by the steady clock; nil if the server does not state it.
        var expires: Timestamp?
    }

    private let url: Endpoint
    private let path: String
    private let client: String
    private let secretFile: String?
    private let refreshFile: String?
    private let scope: String?
    private let transport: any Transport
    private let environment: SyncEnvironment
    private let access = Mutex<Access?>(nil)

    /// The token URL with the client's id, which distinguishes this client from others.
    var identity: String { "\(url.description)|\(client)" }

    convenience init(_ url: String, _ values: SettingValues) throws {
        guard let client = values.text("oauth.client-id") else {
            throw SluiceError(.invalidArgument, "\(values.origin("oauth.token-url")): oauth needs a client-id")
        }
        try self.init(
            url, client: client, secretFile: try values.path("oauth.client-secret-file"),
            refreshFile: try values.path("oauth.refresh-token-file"), scope: values.text("oauth.scope"),
            transport: try TLSFiles(values).transport())
    }

    package init(
        _ url: String, client: String, secretFile: String?, refreshFile: String?, scope: String?,
        transport: any Transport, environment: SyncEnvironment = .system
    ) throws {
        guard let parts = URLComponents(string: url), let host = parts.host,
            parts.scheme == "https" || ["127.0.0.1", "localhost", "::1"].contains(host)
        else {
            throw SluiceError(
                .invalidArgument, "oauth.token-url must be https, or of this machine: a secret goes there")
        }
        guard secretFile != nil || refreshFile != nil else {
            throw SluiceError(.invalidArgument, "oauth needs a client-secret-file, a refresh-token-file, or both")
        }
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        var base = parts
        (base.path, base.query) = ("", nil)
        self.url = try Endpoint(base.string ?? url)
        (self.client, self.secretFile, self.refreshFile, self.scope) = (client, secretFile, refreshFile, scope)
        (self.transport, self.environment) = (transport, environment)
    }

    package func token() async throws -> String? {
        if let access = access.withLock({ $0 }) { return access.token }
        return try await fetch()
    }

    package func refresh(refused: String?) async throws -> String? {
        let token = try await fetch()
        return token == refused ? nil : token
    }

    package func expiry(of token: String) async throws -> Timestamp? {
        guard let access = access.withLock({ $0 }), access.token == token, let end = access.expires else { return nil }
        return environment.now().advanced(by: environment.steady().duration(to: end))
    }

    /// - Throws: ``SluiceError`` for a file that cannot be used.
    func check() async throws { for file in [refreshFile, secretFile] { _ = try await Self.credential(in: file) } }

    private static func credential(in file: String?) async throws -> String? {
        try await file.map { FileToken(source: .file($0)) }?.token()
    }

    private func fetch() async throws -> String {
        let refreshToken = try await Self.credential(in: refreshFile)
        var form: [(String, String)] =
            refreshToken.map { [("grant_type", "refresh_token"), ("refresh_token", $0)] }
            ?? [("grant_type", "client_credentials")]
        if let scope { form.append(("scope", scope)) }
        var head = HTTPRequest(method: .post, scheme: url.scheme, authority: url.authority, path: path)
        head.headerFields[.contentType] = "application/x-www-form-urlencoded"
        head.headerFields[.accept] = "application/json"
        if let secret = try await Self.credential(in: secretFile) {
            let pair = "\(Self.encoded(client)):\(Self.encoded(secret))"
            head.headerFields[.authorization] = "Basic \(Data(pair.utf8).base64EncodedString())"
        } else {
            form.append(("client_id", client))
        }
        let text = form.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        var context = SyncRequest.Context()
        context.limits.responseBytes = 1 << 20
        context.limits.deadline = .seconds(30)
        let response = try await transport.send(
            SyncRequest(head, body: MessageBody(bytes: Array(text.utf8)), context: context))
        let json = try? JSON(parsing: response.body.bytes)
        guard response.status == 200, let token = json?["access_token"]?.string, !token.isEmpty else {
            // RFC 6749, section 5.2: `error` is a fixed code; the description is left out, because it may repeat sent
            // secrets.
            let reason = json?["error"]?.string.map { PlainText.line(String($0.prefix(64))) }
            throw SluiceError(
                .unauthorized, "the OAuth server refused a token: \(reason ?? "status \(response.status)")",
                status: response.status)
        }
        let life = json?["expires_in"]?.int.map { min(max($0, 0), 31_536_000) }
        access.withLock {
            $0 = Access(token: token, expires: life.map { environment.steady().advanced(by: .seconds($0)) })
        }
        if let next = json?["refresh_token"]?.string, let refreshFile, next != refreshToken {
            try Self.replace(refreshFile, with: next)
        }
        return token
    }

    /// Replaces the file atomically with a rotated refresh token: without it the next start could get no token.
    private static func replace(_ path: String, with token: String) throws {
        do throws(SystemFailure) {
            let draft = try FileDraft(of: path, isReplacing: true)
            try draft.file.write(Array(token.utf8))
            try draft.finish()
        } catch {
            throw SluiceError(.unauthorized, "the new refresh token cannot be written to \(PlainText.line(path))")
        }
    }

    /// Returns the text for `application/x-www-form-urlencoded`, with all but unreserved characters encoded.
    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
