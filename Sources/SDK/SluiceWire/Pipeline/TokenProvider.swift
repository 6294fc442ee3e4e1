public import SluiceBase

/// The source of the tokens that identify the user to a server.
///
/// The provider keeps the token. It is asked before each request, so a provider that fetches one should remember it.
public protocol TokenProvider: Sendable {
    /// Returns the token to send now; nil to send none.
    func token() async throws -> String?

    /// Returns a token in place of one that the server refused with 401, or that is about to expire; nil if none is
    /// available. All requests that need it wait for this one call; a cancelled request leaves it running for the
    /// others. It must not send requests through the client that it provides tokens for.
    func refresh(refused: String?) async throws -> String?

    /// Returns the expiry of the token; nil if it is not known, which is the default. A token is refreshed a little
    /// ahead: see ``ClientOptions/tokenLead``.
    func expiry(of token: String) async throws -> Timestamp?
}

extension TokenProvider {
    /// Returns nil: the expiry is not known.
    public func expiry(of token: String) async throws -> Timestamp? { nil }
}

extension ClientOptions {
    /// The header field that carries a token.
    public enum TokenScheme: Sendable, Hashable {
        /// `X-ZUMO-AUTH: token`.
        case zumo
        /// `Authorization: Bearer token`.
        case bearer
    }
}
