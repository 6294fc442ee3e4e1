extension BackendConfiguration {
    /// How requests say who they come from: by a JSON Web Token (RFC 7519) with an HMAC of SHA-256, in the header
    /// `Authorization: Bearer` or `X-ZUMO-AUTH`.
    ///
    /// ```swift
    /// var configuration = BackendConfiguration(tables: [.init("notes", access: .authenticated)])
    /// configuration.authentication = .init(secret: .variable("SLUICE_JWT_SECRET"))
    /// ```
    public struct Authentication: Sendable, Hashable {
        /// The key that tokens are signed with: at least 32 bytes.
        public var secret: TokenSecret
        /// What a token's `iss` must be; nil for anything.
        public var issuer: String?
        /// What must be among a token's `aud`; nil for anything.
        public var audience: String?

        /// An authentication.
        public init(secret: TokenSecret, issuer: String? = nil, audience: String? = nil) {
            self.secret = secret
            self.issuer = issuer
            self.audience = audience
        }
    }
}
