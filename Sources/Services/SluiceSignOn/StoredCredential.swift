internal import SluiceBase

/// A credential that is kept somewhere: a secret, a refresh token, a private key.
public struct StoredCredential: Sendable {
    private let reading: @Sendable () async throws -> String
    private let writing: (@Sendable (String) async throws -> Void)?

    /// Makes a credential of two closures.
    ///
    /// - Parameters:
    ///   - read: returns the credential.
    ///   - replace: keeps another in its place; nil where that is not possible.
    public init(
        read: @escaping @Sendable () async throws -> String,
        replace: (@Sendable (String) async throws -> Void)? = nil
    ) {
        (reading, writing) = (read, replace)
    }

    /// Makes a credential of a file, which is read at each use and replaced atomically. A byte order mark and white space
    /// around the text do not count.
    public static func file(_ path: String) -> StoredCredential {
        StoredCredential {
            guard let text = CredentialText.read(path), !text.isEmpty else {
                throw SluiceError(.invalidArgument, "the file \(path) cannot be read, or is empty")
            }
            return text
        } replace: { text in
            do throws(SystemFailure) {
                try FileDraft.replace(path, with: Array(text.utf8))
            } catch {
                throw SluiceError(.unauthorized, "a new credential cannot be written to \(path)")
            }
        }
    }

    /// Returns the credential.
    public func read() async throws -> String { try await reading() }

    /// Keeps another credential in its place. Without it the next start could get no token.
    func replace(_ text: String) async throws {
        guard let writing else {
            throw SluiceError(.unauthorized, "the server has issued another refresh token, which cannot be kept")
        }
        try await writing(text)
    }
}
