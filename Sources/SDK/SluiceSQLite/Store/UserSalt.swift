internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The random bytes beside a user's store, from which its key is derived together with the user's secret. When they are
/// overwritten the key is gone, for the user too.
enum UserSalt {
    private static let count = 32

    static func path(beside store: String) -> String { store + ".salt" }

    /// Derives the key of the store from the secret and the salt. A missing salt is created.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` for a salt that is not valid, `storeLibraryMissing`,
    ///   `storeInputOutput`.
    static func key(_ secret: StoreEncryption, beside store: String) throws -> StoreKey {
        if try read(beside: store) == nil, StoreFolder.size(of: store) > 0 {
            throw SluiceError(
                .storeCorrupt, "\(path(beside: store)) is missing, and without it nobody opens the store beside it")
        }
        let salt = try bytes(beside: store)
        switch secret.secret {
        // Nobody guesses 32 random bytes.
        case .key(let key): return try KeyDerivation.key(of: key.bytes, salt: salt, rounds: 1)
        case .passphrase(let phrase):
            return try KeyDerivation.key(of: phrase.bytes, salt: salt, rounds: StoreCipher.rounds)
        }
    }

    /// Returns the salt, which is created if it is missing.
    static func bytes(beside store: String) throws -> [UInt8] { try read(beside: store) ?? make(beside: store) }

    /// Whether a user's sign-out was interrupted.
    static func isOverwritten(beside store: String) throws -> Bool {
        try read(beside: store).map { $0.allSatisfy { $0 == 0 } } ?? false
    }

    /// Writes zeros over the salt, if there is one, and waits for the disk.
    static func overwrite(beside store: String) throws {
        let path = path(beside: store)
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return }
        try StoreFiles.call(descriptor, "overwrite", path)
        defer { _ = close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: count)
        try StoreFiles.call(pwrite(descriptor, zeros, count, 0) == count ? 0 : -1, "overwrite", path)
        try StoreFiles.call(fsync(descriptor), "overwrite", path)
    }

    private static func read(beside store: String) throws -> [UInt8]? {
        let path = path(beside: store)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        try StoreFiles.call(descriptor, "read", path)
        defer { _ = close(descriptor) }
        var salt = [UInt8](repeating: 0, count: count + 1)
        let found = salt.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard found == count else {
            throw SluiceError(.storeCorrupt, "\(path) is not as it was made, and without it nobody opens the store")
        }
        return Array(salt.prefix(count))
    }

    /// Writes under another name first, so that no incomplete salt is ever found.
    private static func make(beside store: String) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let path = path(beside: store)
        StoreFolder.makeFolder(of: path)
        let draft = path + "-new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, StoreFolder.fileMode)
        try StoreFiles.call(descriptor, "make", draft)
        defer { _ = close(descriptor) }
        try StoreFiles.call(pwrite(descriptor, salt, count, 0) == count ? 0 : -1, "write", draft)
        try StoreFiles.call(fsync(descriptor), "write", draft)
        try StoreFiles.move(draft, to: path)
        try StoreFiles.syncFolder(of: path)
        return salt
    }
}
