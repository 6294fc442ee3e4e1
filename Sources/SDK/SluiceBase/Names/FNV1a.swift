/// The 64-bit hash FNV-1a (RFC 9923): quick, the same everywhere, and no protection against anyone.
package enum FNV1a {
    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01B3

    /// The hash of those bytes, or of what `seed` is the hash of and those bytes after it.
    package static func hash(_ bytes: some Sequence<UInt8>, after seed: UInt64? = nil) -> UInt64 {
        // What lies in one piece is read without asking for each byte.
        bytes.withContiguousStorageIfAvailable { hash(of: $0, seed ?? basis) }
            ?? bytes.reduce(seed ?? basis) { ($0 ^ UInt64($1)) &* prime }
    }

    /// The hash with each of its bits spread over all others (the last step of MurmurHash3), so that hashes of texts
    /// that differ in a letter at their end can be added up.
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
