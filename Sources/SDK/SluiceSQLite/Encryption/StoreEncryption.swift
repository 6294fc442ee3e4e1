internal import SluiceCore

/// The encryption of a store: SQLCipher 4, AES-256 and a keyed hash for each page.
///
/// The library is opened with the first encrypted store; without one it is not needed.
public struct StoreEncryption: Sendable {
    enum Secret: Sendable {
        case key(StoreKey)
        case passphrase(StorePassphrase)
    }

    let secret: Secret

    /// Encrypts with that key.
    public static func key(_ key: StoreKey) -> StoreEncryption { .init(secret: .key(key)) }

    /// Encrypts with a key that is derived from that passphrase.
    public static func passphrase(_ passphrase: StorePassphrase) -> StoreEncryption {
        .init(secret: .passphrase(passphrase))
    }
}

extension StoreEncryption: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret.
    public var description: String { "(hidden)" }
    /// Nothing of the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A passphrase, from which the key of a store is derived: PBKDF2 with HMAC-SHA512, 256,000 rounds, and a salt that
/// stands in the file. That costs a good part of a second each time the store is opened; a ``StoreKey`` costs nothing.
///
/// It is kept on memory of its own and wiped when the last copy of this value is gone. No description and no dump shows
/// it.
public struct StorePassphrase: Sendable {
    let bytes: SecretBytes

    /// Creates a passphrase from text, as UTF-8.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an empty one.
    public init(_ text: String) throws {
        guard !text.isEmpty else { throw SluiceError(.invalidArgument, "a passphrase is not empty") }
        bytes = try SecretBytes(text.utf8)
    }

    /// Reads the passphrase from a file, without the line's end.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an empty file, or one that everyone may read;
    ///   `storeInputOutput` if it cannot be read.
    public init(file path: String) throws {
        bytes = try SecretFile.content(of: path).withBytes { content in
            var text = content[...]
            while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
            guard !text.isEmpty else { throw SluiceError(.invalidArgument, "the file \(path) holds no passphrase") }
            return try SecretBytes(text)
        }
    }
}

extension StorePassphrase: CustomStringConvertible, CustomReflectable {
    /// Nothing of the passphrase.
    public var description: String { "(hidden)" }
    /// Nothing of the passphrase.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
