internal import SluiceCore

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
        try StoreFiles.calling("overwrite", path) { () throws(SystemFailure) in
            guard let file = try found(path, .writing) else { return }
            try file.write([UInt8](repeating: 0, count: count), at: 0)
            try file.sync()
        }
    }

    /// Opens the file; nil if there is none.
    private static func found(_ path: String, _ way: FileOpening) throws(SystemFailure) -> OpenFile? {
        do throws(SystemFailure) {
            return try OpenFile(path, way.union(.withoutLinks))
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    private static func read(beside store: String) throws -> [UInt8]? {
        let path = path(beside: store)
        let file = try StoreFiles.calling("read", path) { () throws(SystemFailure) in try found(path, .reading) }
        guard let file else { return nil }
        guard let salt = try? file.read(upTo: count + 1), salt.count == count else {
            throw SluiceError(.storeCorrupt, "\(path) is not as it was made, and without it nobody opens the store")
        }
        return salt
    }

    /// Writes under another name first, so that no incomplete salt is ever found.
    private static func make(beside store: String) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let path = path(beside: store)
        StoreFolder.makeFolder(of: path)
        let draft = path + "-new"
        let file = try StoreFiles.calling("make", draft) { () throws(SystemFailure) in
            try OpenFile(draft, [.writing, .creating, .emptying, .withoutLinks])
        }
        try StoreFiles.calling("write", draft) { () throws(SystemFailure) in
            try file.write(salt)
            try file.sync()
        }
        try StoreFiles.move(draft, to: path)
        try StoreFiles.syncFolder(of: path)
        return salt
    }
}
