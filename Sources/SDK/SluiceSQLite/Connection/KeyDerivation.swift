internal import CSQLite
internal import SluiceCore

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
