/// Where the tokens come from by which a server knows the user.
///
/// The provider keeps the token. It is asked before each request, so a provider that fetches one should remember it.
public protocol TokenProvider: Sendable {
    /// The token to send now; nil to send none.
    func token() async throws -> String?

    /// A token in the place of one that the server refused with 401; nil if there is none to be had. While it runs all
    /// requests that were refused wait for this one call.
    func refresh(refused: String?) async throws -> String?
}

/// How a token is sent.
public enum TokenScheme: Sendable, Hashable {
    /// `X-ZUMO-AUTH: token`.
    case zumo
    /// `Authorization: Bearer token`.
    case bearer
}
