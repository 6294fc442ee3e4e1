public import SluiceBase

/// Where the tokens come from by which a server knows the user.
///
/// The provider keeps the token. It is asked before each request, so a provider that fetches one should remember it.
public protocol TokenProvider: Sendable {
    /// The token to send now; nil to send none.
    func token() async throws -> String?

    /// A token in the place of one that the server refused with 401, or that is about to expire; nil if there is none
    /// to be had. All requests that need it wait for this one call; one that is cancelled leaves it running for the
    /// others. It must not send requests through the client that it gives tokens to.
    func refresh(refused: String?) async throws -> String?

    /// When the token will expire; nil if that is not known, which is the default. A token is refreshed a little ahead:
    /// see ``ClientOptions/tokenLead``.
    func expiry(of token: String) async throws -> Timestamp?
}

extension TokenProvider {
    /// Not known.
    public func expiry(of token: String) async throws -> Timestamp? { nil }
}

/// How a token is sent.
public enum TokenScheme: Sendable, Hashable {
    /// `X-ZUMO-AUTH: token`.
    case zumo
    /// `Authorization: Bearer token`.
    case bearer
}
