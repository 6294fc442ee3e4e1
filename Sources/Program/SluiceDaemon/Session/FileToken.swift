internal import Sluice

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
