internal import SluiceCore

/// What a connection needs for one encrypted file: the library, and the key as that takes it.
struct StoreCipher: Sendable {
    /// How often SQLCipher 4 hashes a passphrase.
    static let rounds: Int32 = 256_000
    /// How many bytes at the start of a file are the salt.
    static let saltCount = 16

    /// The form of encrypted pages, which is not the one that SQLCipher takes by itself: larger ones, since each costs
    /// much by itself (a nonce, a keyed hash that is set up) and a pull writes pages all over an index; and the hash
    /// that processors have instructions for. To be said when the key is, before anything is read or written.
    ///
    /// - Parameter database: the name that the connection knows the file by.
    static func form(of database: String) -> String {
        "PRAGMA \(database).cipher_page_size = 16384; PRAGMA \(database).cipher_hmac_algorithm = HMAC_SHA256"
    }

    let library: SQLiteLibrary
    /// The key, as the library takes it.
    let key: SecretBytes
    /// The salt, which is what the file begins with.
    let salt: [UInt8]

    /// For a file with that salt, or for a new one where there is none yet.
    ///
    /// A passphrase is hashed here and once, so that not every connection has to.
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
            // Where the library cannot be asked for the key, SQLCipher itself has to make it, for each connection anew.
            let derived = try KeyDerivation.bytes(of: secret.bytes, salt: salt, rounds: Self.rounds)
            key = try derived.map { try SecretText.keyLiteral($0, salt: salt) } ?? secret.bytes
        }
    }
}
