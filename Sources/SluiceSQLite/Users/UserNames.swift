internal import SluiceCore

/// Where the stores of a folder are: each in a folder of its own, whose name does not say who the user is.
struct UserNames: Sendable {
    /// The name of the store in a user's folder.
    private static let store = "store.db"
    /// How many bytes a folder's name has; two digits each.
    private static let count = 16
    /// How long to wait for another process that is about these stores.
    private static let timeout = Duration.seconds(5)

    private let folder: String
    private let lease: LeaseFile

    /// What the files beside the users' folders have their names of. There is no such file itself.
    private var marker: String { folder + "/users" }

    init(folder: String) throws {
        self.folder = folder
        _ = try SQLiteLibrary.cipher()
        let marker = folder + "/users"
        StoreFolder.makeFolder(of: marker)
        lease = LeaseFile(path: SQLiteStore.resolved(marker) + LeaseFile.suffix)
    }

    /// Keeps every other process from these stores, until what it gives back is released.
    ///
    /// Whoever needs a store's own lock too takes that one second: two who took them in different orders would wait for
    /// each other.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another has it for too long, `cancelled`.
    func lock() async throws -> StoreLease {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.timeout
        var pause = Duration.milliseconds(1)
        while true {
            if let lease = try lease.take() { return lease }
            guard clock.now < deadline else {
                throw SluiceError(.storeBusy, "another process is about the users of \(folder); try again")
            }
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw SluiceError(.cancelled, "waiting for the users of \(folder) was cancelled", cause: error)
            }
            pause = min(pause * 2, .milliseconds(20))
        }
    }

    /// Where the store of that user is, or would be. The name is hard to guess a user from, though not impossible: who
    /// has the folder can try names.
    ///
    /// - Throws: ``SluiceError`` as ``lock()`` and ``salt()``.
    func path(of user: String) async throws -> String {
        let salt = try await lockedSalt()
        let name = try KeyDerivation.key(of: SecretBytes(user.utf8), salt: salt, rounds: 20_000)
        let digits = name.bytes.withBytes { bytes in
            Base16.text(Array(bytes.prefix(Self.count)))
        }
        return "\(folder)/\(digits)/\(Self.store)"
    }

    private func lockedSalt() async throws -> [UInt8] {
        let lease = try await lock()
        defer { lease.release() }
        return try salt()
    }

    /// The random bytes that the names are made of, which are made where nobody has a store yet.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` where they are missing beside stores. With others every user
    ///   would be a new one, and what waits in the stores would be found by nobody.
    private func salt() throws -> [UInt8] {
        let path = UserSalt.path(beside: marker)
        guard StoreFolder.exists(path) || !hasStores else {
            throw SluiceError(
                .storeCorrupt,
                "\(path) is missing, and without it nobody finds the stores of the users; bring it back from a copy")
        }
        return try UserSalt.bytes(beside: marker)
    }

    /// Whether there is a folder by such a name as a user's has, with anything of a store in it.
    private var hasStores: Bool {
        StoreFolder.names(beside: marker).contains { name in
            name.utf8.count == 2 * Self.count && name.utf8.allSatisfy { Base16.value(of: $0) != nil }
                && StoreFolder.names(beside: "\(folder)/\(name)/\(Self.store)").contains { $0.hasPrefix(Self.store) }
        }
    }
}
