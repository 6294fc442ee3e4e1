/// What a store is encrypted with: SQLCipher 4, AES-256 and a keyed hash for each page.
///
/// The library is opened when the first encrypted store is; who has none does not need it.
public struct StoreEncryption: Sendable {
    enum Secret: Sendable {
        case key(StoreKey)
        case passphrase(StorePassphrase)
    }

    let secret: Secret

    /// With that key.
    public static func key(_ key: StoreKey) -> StoreEncryption { .init(secret: .key(key)) }

    /// With a key that is derived from that passphrase.
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
