internal import SluiceCore

/// Tells texts apart that nobody made to be taken for each other.
enum Fingerprint {
    /// A number for a list of texts, which cannot run into each other.
    static func of(_ parts: [String]) -> UInt64 {
        // No UTF-8 holds the byte between them.
        FNV1a.hash(parts.lazy.flatMap { Array($0.utf8) + [0xFF] })
    }
}
