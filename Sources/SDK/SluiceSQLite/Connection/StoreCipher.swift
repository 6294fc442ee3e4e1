internal import CSQLite
internal import SluiceCore

/// A connection's access to one encrypted file: the library, and the key in the library's form.
struct StoreCipher: Sendable {
    /// The number of PBKDF2 rounds that SQLCipher 4 uses for a passphrase.
    static let rounds: Int32 = 256_000
    /// The length of the salt at the start of a file, in bytes.
    static let saltCount = 16

    /// The form of encrypted pages, which is not SQLCipher's default. Pages are larger, because each costs a nonce and
    /// a keyed hash, and a pull writes pages all over an index. The hash is one that processors have instructions for.
    /// Must be set along with the key, before anything is read or written.
    ///
    /// - Parameter database: the name that the connection knows the file by.
    static func form(of database: String) -> String {
        "PRAGMA \(database).cipher_page_size = 16384; PRAGMA \(database).cipher_hmac_algorithm = HMAC_SHA256"
    }

    let library: SQLiteLibrary
    /// The key, as the library takes it.
    let key: SecretBytes
    /// The salt, stored as the first bytes of the file.
    let salt: [UInt8]

    /// Prepares access to a file with that salt, or to a new file if the salt is empty.
    ///
    /// A passphrase is hashed here and once, so that not every connection has to do it.
    ///
    /// - Throws: ``SluiceError`` of code `storeLibraryMissing`.
    init(_ encryption: StoreEncryption, salt found: [UInt8]) throws {
        library = try SQLiteLibrary.cipher()
        var random = SystemRandomNumberGenerator()
        let salt =
            found.count == Self.saltCount
            ? found : (0..<Self.saltCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        self.salt = salt
        switch encryption.secret {
        case .key(let secret): key = try SecretText.keyLiteral(secret.bytes, salt: salt)
        case .passphrase(let secret):
            // If the library has no function to derive the key, SQLCipher itself derives it, once for each connection.
            let derived = try KeyDerivation.bytes(of: secret.bytes, salt: salt, rounds: Self.rounds)
            key = try derived.map { try SecretText.keyLiteral($0, salt: salt) } ?? secret.bytes
        }
    }
}

/// Derives keys from secrets: PBKDF2 with HMAC-SHA512, computed by the encrypting library.
enum KeyDerivation {
    /// Derives a key of 32 bytes.
    ///
    /// - Throws: ``SluiceError`` of code `storeLibraryMissing` if the library has no function for it.
    static func key(of secret: SecretBytes, salt: [UInt8], rounds: Int32) throws -> StoreKey {
        _ = try SQLiteLibrary.cipher()
        guard let bytes = try bytes(of: secret, salt: salt, rounds: rounds) else {
            throw SluiceError(.storeLibraryMissing, "the SQLCipher that is installed derives no keys for others")
        }
        return StoreKey(bytes)
    }

    /// Derives the key with the library, which must be open; nil if the library has no function for it.
    static func bytes(of secret: SecretBytes, salt: [UInt8], rounds: Int32) throws -> SecretBytes? {
        var isDerived = false
        let key = try SecretBytes(count: StoreKey.byteCount) { place in
            guard let key = place.bindMemory(to: UInt8.self).baseAddress else { return }
            isDerived = secret.withBytes {
                csqlite_derive($0.baseAddress, Int32(clamping: $0.count), salt, Int32(salt.count), rounds, key) == 1
            }
        }
        return isDerived ? key : nil
    }
}
