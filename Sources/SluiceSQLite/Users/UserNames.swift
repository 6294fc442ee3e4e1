internal import SluiceCore

/// Where the stores of a folder are: each in a folder of its own, whose name does not say who the user is.
struct UserNames: Sendable {
    private let folder: String
    private let lock: StoreLock

    init(folder: String) throws {
        self.folder = folder
        _ = try SQLiteLibrary.cipher()
        let marker = folder + "/users"
        StoreFolder.makeFolder(of: marker)
        lock = StoreLock(path: SQLiteStore.resolved(marker), timeout: .seconds(5))
    }

    /// Runs `body` with no other process about these stores.
    func locked<Result>(_ body: () throws -> Result) throws -> Result { try lock.hold(body) }

    /// Where the store of that user is, or would be. The name is hard to guess a user from, though not impossible: who
    /// has the folder can try names.
    func path(of user: String) throws -> String {
        let salt = try locked { try UserSalt.bytes(beside: folder + "/users") }
        let name = try KeyDerivation.key(of: SecretBytes(user.utf8), salt: salt, rounds: 20_000)
        let digits = name.bytes.withBytes { $0.prefix(16).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() } }
        return "\(folder)/\(digits.joined())/store.db"
    }
}
