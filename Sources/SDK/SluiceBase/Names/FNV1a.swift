/// The 64-bit hash FNV-1a (RFC 9923): fast and the same everywhere, but no protection against attacks.
package enum FNV1a {
    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01B3

    /// Returns the hash of the bytes, or continues the hash `seed` with them.
    package static func hash(_ bytes: some Sequence<UInt8>, after seed: UInt64? = nil) -> UInt64 {
        // Contiguous bytes are read without a call for each byte.
        bytes.withContiguousStorageIfAvailable { hash(of: $0, seed ?? basis) }
            ?? bytes.reduce(seed ?? basis) { ($0 ^ UInt64($1)) &* prime }
    }

    /// Returns the hash with each of its bits spread over all others (the last step of MurmurHash3), so that hashes of
    /// texts with different last letters can be added up.
    package static func spread(_ hash: UInt64) -> UInt64 {
        var hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ (hash >> 33)
    }

    private static func hash(of bytes: UnsafeBufferPointer<UInt8>, _ seed: UInt64) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* prime }
        return hash
    }
}
