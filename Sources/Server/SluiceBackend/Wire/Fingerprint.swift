internal import SluiceCore

/// A non-cryptographic hash, which distinguishes texts but does not resist forgery.
enum Fingerprint {
    /// Returns a number for a list of texts, with the borders between the texts.
    static func of(_ parts: [String]) -> UInt64 {
        // The separator byte never occurs in UTF-8.
        FNV1a.hash(parts.lazy.flatMap { Array($0.utf8) + [0xFF] })
    }
}
