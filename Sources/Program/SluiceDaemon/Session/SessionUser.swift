internal import Crypto
internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// The user of a session: the configured name, else the token's subject, else a fingerprint of the credential. A
/// fingerprint only distinguishes credentials.
package enum SessionUser {
    private static let mark = "credential:"

    /// The `iss` and `sub` of a JSON Web Token, as one text; nil for any other credential. The signature is not
    /// checked: the server authenticates the user, and here the name only separates the users' data.
    static func named(by token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.bytes(parts[1]), let claims = try? JSON(parsing: bytes),
            let subject = claims["sub"]?.string, !subject.isEmpty
        else { return nil }
        return JSON([claims["iss"] ?? .null, JSON(subject)]).description
    }

    /// Returns the fingerprint by which the store recognizes a credential: a keyed hash with a key of its own.
    ///
    /// - Parameter known: the users of the store, with their fingerprints.
    static func fingerprint(of credential: String, among known: [String]) -> String {
        for user in known where user.hasPrefix(mark) {
            let parts = user.dropFirst(mark.count).split(separator: ":")
            if parts.count == 2, fingerprint(of: credential, key: String(parts[0])).hasSameBytes(as: user) {
                return user
            }
        }
        return fingerprint(of: credential, key: SymmetricKey(size: .bits128).withUnsafeBytes { Base16.text(Array($0)) })
    }

    /// Whether a session with the credential has this user.
    static func isUser(_ user: String, of credential: String) -> Bool {
        (named(by: credential) ?? fingerprint(of: credential, among: [user])).hasSameBytes(as: user)
    }

    /// Whether the name is a fingerprint, and so names nobody.
    static func isFingerprint(_ user: String) -> Bool { user.hasPrefix(mark) }

    private static func fingerprint(of credential: String, key: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(credential.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return "\(mark)\(key):\(Base16.text(Array(code)))"
    }

    /// Returns a user for people to read, without the fingerprint.
    package static func text(_ user: String) -> String {
        user.hasPrefix(mark) ? "(by a credential)" : PlainText.line(user)
    }
}
