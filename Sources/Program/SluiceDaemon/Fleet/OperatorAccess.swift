internal import HTTPTypes
internal import Sluice
internal import SluiceSignOn
internal import Synchronization

/// The operator's way to the server's pages: a token in a file, and the sessions of browsers in which it was given.
final class OperatorAccess: Sendable {
    private static let cookie = "sluice-fleet"
    private static let shortestToken = 16

    private struct Held {
        var token: String
        var sessions = InspectorSessions(environment: .system)
    }

    private let path: String
    private let held: Mutex<Held>

    /// Reads the token for the first time.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file.
    init(tokenFile path: String) throws(SluiceError) {
        self.path = path
        held = Mutex(Held(token: try Self.token(path)))
    }

    /// Whether a request has the token in its field `Authorization`.
    func admitsToken(_ request: LocalRequest) -> Bool {
        guard let text = request.head.headerFields[.authorization], text.lowercased().hasPrefix("bearer "),
            let current = current()
        else { return false }
        return LocalGuard.isEqual(String(text.dropFirst("bearer ".count)), current.token)
    }

    /// Whether a request has the cookie of a session.
    func admitsCookie(_ request: LocalRequest) -> Bool {
        current()?.sessions.admits(request, cookie: Self.cookie) ?? false
    }

    /// Begins a session, and returns the cookie for the pages at a path; nil for another token.
    func signIn(_ token: String, at path: String, isSecure: Bool) -> String? {
        guard let current = current(), LocalGuard.isEqual(CredentialText.text(Array(token.utf8)), current.token) else {
            return nil
        }
        return "\(Self.cookie)=\(current.sessions.begin()); Path=\(path); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// Returns the file's token now, with its sessions; nil if it cannot be read. The sessions of a former token end.
    private func current() -> Held? {
        guard let token = try? Self.token(path) else { return nil }
        return held.withLock { held in
            if !held.token.hasSameBytes(as: token) { held = Held(token: token) }
            return held
        }
    }

    private static func token(_ path: String) throws(SluiceError) -> String {
        guard let token = CredentialText.read(path) else {
            throw SluiceError(.invalidArgument, "tokenFile of fleet: \(path) cannot be read")
        }
        guard CredentialText.isUsable(token) || token.isEmpty else {
            throw SluiceError(.invalidArgument, "tokenFile of fleet: \(path) is not one line of text")
        }
        guard token.utf8.count >= shortestToken else {
            throw SluiceError(
                .invalidArgument, "tokenFile of fleet: the token in \(path) has \(shortestToken) characters or more")
        }
        return token
    }
}
