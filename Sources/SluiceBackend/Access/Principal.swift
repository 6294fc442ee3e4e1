public import SluiceCore

/// Whom a request comes from, as its token says.
public struct Principal: Sendable, Hashable {
    /// The user: the token's `sub`.
    public var user: String
    /// All that the token says, as an object.
    public var claims: JSON

    /// A user, and what the token says of them.
    public init(user: String, claims: JSON = .object) {
        self.user = user
        self.claims = claims
    }
}
