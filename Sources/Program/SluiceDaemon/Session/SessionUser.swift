internal import Crypto
internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// Whose session it is: the name that is given, else what a token says of its owner, else a fingerprint of the
/// credential, which tells one credential from another and nothing else.
package enum SessionUser {
    private static let mark = "credential:"

    /// The `iss` and `sub` of a JSON Web Token, as one text; nil for a credential that is not one. Nobody has checked its
    /// signature: it is the server that decides who this is, and here it only keeps what is one user's from another's.
    static func named(by token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.bytes(parts[1]), let claims = try? JSON(parsing: bytes),
            let subject = claims["sub"]?.string, !subject.isEmpty
        else { return nil }
        return JSON([claims["iss"] ?? .null, JSON(subject)]).description
    }

    /// The fingerprint of a credential, by which the store knows it again: a keyed hash, whose key is made for it.
    ///
    /// - Parameter known: the users that the store knows: among them may be this credential's.
    static func fingerprint(of credential: String, among known: [String]) -> String {
        for user in known where user.hasPrefix(mark) {
            let parts = user.dropFirst(mark.count).split(separator: ":")
            if parts.count == 2, fingerprint(of: credential, key: String(parts[0])).hasSameBytes(as: user) {
                return user
            }
        }
        return fingerprint(of: credential, key: SymmetricKey(size: .bits128).withUnsafeBytes { Base16.text(Array($0)) })
    }

    private static func fingerprint(of credential: String, key: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(credential.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return "\(mark)\(key):\(Base16.text(Array(code)))"
    }

    /// A user in words: nothing of a fingerprint.
    package static func text(_ user: String) -> String {
        user.hasPrefix(mark) ? "(by a credential)" : PlainText.line(user)
    }
}
