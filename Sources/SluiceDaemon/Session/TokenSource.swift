internal import Foundation
package import Sluice

/// Where the token comes from that the server knows the user by.
package enum TokenSource: Sendable {
    case fixed(FileToken)
    case command(CommandToken)
    case oauth(OAuthToken)

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
            self = .oauth(try OAuthToken(url, values))
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

    package func provider() -> any TokenProvider {
        switch self {
        case .fixed(let token): token
        case .command(let token): token
        case .oauth(let token): token
        }
    }

    /// Reports a file that is not there before anything is sent. A program or a server is asked with the first request.
    func check() async throws {
        if case .fixed(let token) = self { _ = try await token.token() }
    }

    /// Ends a program that is asked for a token now, and has none be started any more.
    func stop() {
        if case .command(let token) = self { token.stop() }
    }

    /// What tells this user from others, without asking a server: a token that is at hand, or the OAuth client.
    func identity() async throws -> String? {
        switch self {
        case .fixed(let token): try await token.token()
        case .command(let token): try await token.token()
        case .oauth(let token): token.identity
        }
    }
}
