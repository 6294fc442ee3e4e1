package import HTTPTypes

/// Decides by name whether header fields and query parameters hold credentials.
package enum CredentialNames {
    /// The treatment of a value by the name that it is sent under.
    enum Kind: Sendable {
        /// The name is that of a credential.
        case credential
        /// The name's meaning is the application's.
        case unknown
        /// The value is public: HTTP or the tables protocol gives it its meaning.
        case open
    }

    /// Words that a credential's name contains.
    private static let words = [
        "auth", "cookie", "token", "key", "secret", "passw", "credential", "signature", "session", "jwt", "bearer",
    ]
    /// Names of credentials that contain none of these words.
    private static let names: Set<String> = [
        "x-zumo-application", "x-zumo-master", "code", "sig", "pwd", "pass", "pin",
    ]
    /// Header fields whose values are public.
    private static let openFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-encoding", "content-language", "content-length", "content-type", "date", "expect", "host",
        "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "keep-alive", "origin", "pragma", "prefer", "range", "repeatability-first-sent",
        "repeatability-request-id", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
        "x-correlation-id", "x-request-id", "x-zumo-features", "x-zumo-installation-id", "x-zumo-options",
        "x-zumo-version", "zumo-api-version",
    ]

    /// Returns the kind of a header field.
    static func kind(of field: HTTPField.Name) -> Kind {
        let name = field.canonicalName
        if openFields.contains(name) { return .open }
        return isNamed(name) ? .credential : .unknown
    }

    /// Whether a header field's name is that of a credential.
    package static func isCredential(_ field: HTTPField.Name) -> Bool { kind(of: field) == .credential }

    /// Whether an application may set the header field of a single change. It may if the field holds no credential,
    /// and has no meaning in HTTP or a protocol of tables.
    package static func mayBelongToApplication(_ field: HTTPField.Name) -> Bool {
        let name = field.canonicalName
        if name == "accept-language" { return true }
        let reserved = ["content-", "if-", "odata-", "proxy-", "repeatability-", "sec-", "x-http-", "x-zumo-", "zumo-"]
        return kind(of: field) == .unknown && !reserved.contains { name.hasPrefix($0) }
    }

    /// Whether a query parameter's name is that of a credential. Names that begin with `$` or `__` belong to the
    /// protocol: a `$skiptoken` is no credential.
    package static func isCredential(parameter name: String) -> Bool {
        !name.utf8.starts(with: "$".utf8) && !name.utf8.starts(with: "__".utf8) && isNamed(name.lowercased())
    }

    private static func isNamed(_ name: String) -> Bool {
        names.contains(name) || words.contains { name.contains($0) }
    }
}
