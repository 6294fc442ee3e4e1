package import Sluice

/// Where the key of an encrypted store is.
package enum StoreKeySource: Sendable, Equatable {
    case keyFile(String)
    case passphraseFile(String)
    /// 64 hexadecimal digits.
    case key(String)
    case passphrase(String)

    /// The file that is named; nil where none is.
    ///
    /// - Throws: that there are two.
    package init?(keyFile: String?, passphraseFile: String?) throws {
        switch (keyFile, passphraseFile) {
        case (nil, nil): return nil
        case (let file?, nil): self = .keyFile(file)
        case (nil, let file?): self = .passphraseFile(file)
        case (_?, _?): throw SluiceError(.invalidArgument, "a store has a key or a passphrase, not both")
        }
    }

    /// What a store is opened with.
    ///
    /// - Throws: what is wrong with the file or the key.
    package func encryption() throws -> StoreEncryption {
        switch self {
        case .keyFile(let path): .key(try StoreKey(file: path))
        case .passphraseFile(let path): .passphrase(try StorePassphrase(file: path))
        case .key(let digits): .key(try StoreKey(hexadecimal: digits))
        case .passphrase(let text): .passphrase(try StorePassphrase(text))
        }
    }
}
