internal import Foundation

/// A way in which a server writes what it was sent into its refusal.
enum HostileEcho: String, CaseIterable, Sendable {
    case plain
    case capitals = "in capitals"
    case percentEncoded = "percent-encoded"
    case base64 = "in base64"
    case hexadecimal = "in hexadecimal"
    case escaped = "escaped as JSON escapes"

    func text(_ secret: String) -> String {
        func digits(_ prefix: String) -> String {
            secret.utf8.map { prefix + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return switch self {
        case .plain: secret
        case .capitals: secret.uppercased()
        case .percentEncoded: digits("%")
        case .base64: Data(secret.utf8).base64EncodedString()
        case .hexadecimal: digits("")
        case .escaped: digits(#"\u00"#)
        }
    }

    /// All credentials that a request came with.
    static func credentials(of request: HostileRequest) -> [String] {
        ["x-zumo-auth", HostileScene.field.name].flatMap { request.values($0) }
    }
}
