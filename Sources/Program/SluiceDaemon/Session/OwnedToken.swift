internal import Sluice
internal import SluiceSignOn
internal import Synchronization

/// The tokens of a session, while they are of the session's user. A token of another owner is refused before anything is
/// sent with it: a session's changes never go out in another's name.
///
/// The owner of a token is the one by which a session is named (``SessionUser``). Where the settings name the user, and
/// for OAuth clients whose tokens named none, it is the owner that the first token names, if it names one (``TokenOwners``).
final class OwnedToken: TokenProvider {
    private let tokens: any TokenProvider
    /// The user that each token has to give; nil where the user does not follow from the token.
    private let user: String?
    /// Whether an owner is that of the first token.
    private let isFirst: @Sendable (String) -> Bool
    private let scheme: ClientOptions.TokenScheme
    private let hasMetOther = Mutex(false)

    init(
        _ source: TokenSource, _ scheme: ClientOptions.TokenScheme = .zumo, of user: String, isConfigured: Bool,
        store: String = "", owners: TokenOwners = TokenOwners()
    ) {
        self.scheme = scheme
        isFirst = { owners.isFirst($0, for: user, of: store) }
        tokens = source.provider()
        let isOfClient = if case .oauth = source { SessionUser.isFingerprint(user) } else { false }
        let follows = !isConfigured && !user.isEmpty && !isOfClient
        self.user = follows ? user : nil
    }

    /// Whether a token was refused because it gives another user, whose own session can begin.
    var isOfOther: Bool { hasMetOther.withLock { $0 } }

    func token() async throws -> String? { try owned(await tokens.token()) }

    func refresh(refused: String?) async throws -> String? { try owned(await tokens.refresh(refused: refused)) }

    func expiry(of token: String) async throws -> Timestamp? { try await tokens.expiry(of: token) }

    private func owned(_ token: String?) throws -> String? {
        guard let token else { return nil }
        if let user {
            guard !SessionUser.isUser(user, of: TokenSource.identity(scheme, token) ?? token) else { return token }
            hasMetOther.withLock { $0 = true }
        } else {
            guard let owner = SessionUser.named(by: token) else { return token }
            guard !isFirst(owner) else { return token }
        }
        throw SluiceError(
            .unauthorized,
            "the token is of another user now: nothing is sent with it in the name of the session's user")
    }
}

/// The owners of tokens by which users that settings name have been served, kept for the life of a process: a reload, which
/// a changed token file causes too, does not make another's token this user's.
package final class TokenOwners: Sendable {
    private struct Session: Hashable {
        var store: ExactName
        var user: ExactName
    }
    private let first = Mutex<[Session: String]>([:])

    package init() {}

    /// Whether the owner is the first one for a user of a store.
    func isFirst(_ owner: String, for user: String, of store: String) -> Bool {
        first.withLock { first in
            let session = Session(store: ExactName(store), user: ExactName(user))
            let known = first[session] ?? owner
            first[session] = known
            return known.hasSameBytes(as: owner)
        }
    }
}

/// The token of the environment, or of a file that is read again when the server refuses the token.
package struct FileToken: TokenProvider {
    /// The location of the token.
    package enum Source: Sendable, Equatable {
        case text(String)
        case file(String)
    }

    package let source: Source

    package init(source: Source) { self.source = source }

    package func token() async throws -> String? {
        switch source {
        case .text(let text):
            guard CredentialText.isUsable(text) else {
                throw SluiceError(.invalidArgument, "the environment's token or key is not one line of text")
            }
            return text
        case .file(let path):
            guard let text = CredentialText.read(path) else {
                throw SluiceError(.invalidArgument, "the token file \(path) cannot be read")
            }
            guard !text.isEmpty else { throw SluiceError(.invalidArgument, "the token file \(path) is empty") }
            guard CredentialText.isUsable(text) else {
                throw SluiceError(.invalidArgument, "the token file \(path) is not one line of text")
            }
            return text
        }
    }

    package func refresh(refused: String?) async throws -> String? {
        let token = try await token()
        return token == refused ? nil : token
    }
}
