internal import SluiceCore

/// A folder with an encrypted store for each user of a device, of which one is open at a time.
///
/// ```swift
/// let users = try UserStores(folder: "state")
/// let anna = try await users.signIn("anna", with: .passphrase(passphrase))
/// let context = try await SyncContext(client: annasClient, store: anna, options: SyncOptions(user: "anna"))
/// // Later, and for somebody else. Anna's unsent changes wait under her secret, until she is back.
/// let ben = try await users.signIn("ben", with: .key(bensKey))
/// // Anna will not be back: her store is removed, and the source of its key is overwritten.
/// try await users.signOut("anna", unsent: .discard)
/// ```
///
/// A store's key is derived from the user's secret and random bytes in a file beside it. Without both the store is
/// noise: switching users needs only closing it, and signing out only overwriting those bytes. A copy of both, as in a
/// backup of the folder, still opens with the user's secret. Neither a file's nor a folder's name reveals the user.
public actor UserStores {
    /// The treatment of queued changes when a user signs out.
    public enum Unsent: Sendable, Hashable {
        /// They are kept: signing out throws `operationsPending`.
        case refuse
        /// They are lost with all other data.
        case discard
    }

    private let names: UserNames
    private let options: SQLiteStore.Options
    private var open: (user: ExactName, store: SQLiteStore)?
    private let activity = SerialActivity()

    /// Manages the stores in that folder. A missing folder is created, if the one above exists.
    ///
    /// - Throws: ``SluiceError`` of code `storeLibraryMissing` if SQLCipher 4 is missing, `storeInputOutput`.
    public init(folder: String, options: SQLiteStore.Options = .init()) throws {
        names = try UserNames(folder: folder)
        self.options = options
    }

    /// The user who is signed in.
    public var user: String? { open?.user.text }

    /// Opens the store of a user, or creates it, and closes the one that was open: later calls on that one get
    /// `storeClosed`.
    ///
    /// - Parameters:
    ///   - user: any text that names the user and does not change.
    ///   - secret: a secret that only this user has: derived from a token, from a keyring, a passphrase.
    /// - Throws: ``SluiceError`` of code `storeKeyRefused` for a secret that is not the user's, `invalidArgument` for
    ///   an empty name, `storeCorrupt` if a store exists and the random bytes for finding or opening it are gone,
    ///   `storeBusy`, `cancelled`; of the store. The store that was open is closed then too.
    public func signIn(_ user: String, with secret: StoreEncryption) async throws -> SQLiteStore {
        guard !user.isEmpty else { throw SluiceError(.invalidArgument, "a user's name is not empty") }
        return try await alone {
            try await close()
            let path = try await names.path(of: user)
            // Opened under the lock too: else another process could sign the user out in between, and the key would be
            // worthless.
            let lease = try await names.lock()
            defer { lease.release() }
            if try UserSalt.isOverwritten(beside: path) { try Self.remove(path) }
            let key = try UserSalt.key(secret, beside: path)
            let store = try SQLiteStore(path: path, encryption: .key(key), options: options)
            open = (ExactName(user), store)
            return store
        }
    }

    /// One call after the other: at each suspension the actor would let others in.
    private func alone<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await activity.begin()
        defer { activity.end() }
        return try await body()
    }

    /// Closes the store of the signed-in user. Its queued changes stay, and only that user's secret opens it again.
    public func seal() async throws { try await alone { try await close() } }

    private func close() async throws {
        guard let store = open?.store else { return }
        open = nil
        try await store.close()
    }

    /// Makes a user's store unreadable for everybody, and removes it.
    ///
    /// Earlier copies are beyond reach if the random bytes were copied too. A disk or a file system that writes
    /// elsewhere may keep those bytes.
    ///
    /// - Parameter unsent: the treatment of queued changes. They can be counted only for the signed-in user, so that
    ///   any other user can be signed out only with `discard`.
    /// - Throws: ``SluiceError`` of code `operationsPending`; `storeInputOutput` if the files cannot be removed: the
    ///   next ``signIn(_:with:)`` of that user completes it; `storeCorrupt` if the random bytes for finding the store
    ///   are gone; `storeBusy`, `cancelled`.
    public func signOut(_ user: String, unsent: Unsent = .refuse) async throws {
        try await alone {
            let path = try await names.path(of: user)
            // Taken before the store's own lock, in the same order as at sign-in.
            let lease = try await names.lock()
            defer { lease.release() }
            if let open, open.user == ExactName(user) {
                do {
                    try await Self.destroy(open.store, at: path, unsent)
                } catch {
                    // The transaction itself may fail because its file is gone.
                    if StoreFolder.exists(path) { throw error }
                }
                try? await close()
            } else if unsent == .refuse {
                throw SluiceError(
                    .operationsPending, "whether changes wait cannot be told, as this user is not signed in")
            }
            try UserSalt.overwrite(beside: path)
            try Self.remove(path)
        }
    }

    /// In one transaction: a later write fails because the file is gone, and is not acknowledged. The users' lock is
    /// held.
    private static func destroy(_ store: SQLiteStore, at path: String, _ unsent: Unsent) async throws {
        try await store.write { writer in
            let count = try writer.count(matching: TableQuery(TableOperation.schema.name))
            guard unsent == .discard || count == 0 else {
                throw SluiceError(
                    .operationsPending, "\(count.counted("change")) not sent; send or discard first")
            }
            try UserSalt.overwrite(beside: path)
            try StoreFiles.remove(path)
        }
    }

    /// Whether there is a store of that user.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` if stores exist and the random bytes for finding one are gone;
    ///   `storeInputOutput`, `storeBusy`, `cancelled`.
    public func hasStore(of user: String) async throws -> Bool {
        let path = try await names.path(of: user)
        return try StoreFolder.size(of: path) > 0 && !UserSalt.isOverwritten(beside: path)
    }

    /// The salt is removed last: while it exists, it shows that the rest is to be removed.
    private static func remove(_ path: String) throws {
        let salt = UserSalt.path(beside: path)
        guard StoreFolder.exists(StoreFolder.folder(of: path)) else { return }
        // Removes only a store's files: files of others stay, and keep the folder.
        for name in StoreFolder.names(beside: path)
        where name.hasPrefix(StoreFolder.name(of: path)) && name != StoreFolder.name(of: salt) {
            try StoreFiles.remove("\(StoreFolder.folder(of: path))/\(name)")
        }
        try StoreFiles.syncFolder(of: path)
        try StoreFiles.remove(salt)
        try StoreFiles.removeFolder(StoreFolder.folder(of: path))
    }
}

/// The paths of the stores in a folder: each in a folder of its own, whose name does not reveal the user.
struct UserNames: Sendable {
    /// The name of the store in a user's folder.
    private static let store = "store.db"
    /// The length of a folder's name in bytes; two digits each.
    private static let count = 16
    /// The longest time to wait for another process that uses these stores.
    private static let timeout = Duration.seconds(5)

    private let folder: String
    private let lease: LeaseFile

    /// The path from which the files beside the users' folders derive their names. There is no such file itself.
    private var marker: String { folder + "/users" }

    init(folder: String) throws {
        self.folder = folder
        _ = try SQLiteLibrary.cipher()
        let marker = folder + "/users"
        StoreFolder.makeFolder(of: marker)
        lease = LeaseFile(path: SQLiteStore.resolved(marker) + LeaseFile.suffix)
    }

    /// Keeps every other process from these stores, until the returned lease is released.
    ///
    /// Take this lock before a store's own lock. Two processes with different orders would wait for each other.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another process has it for too long, `cancelled`.
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

    /// Returns the path of the user's store, whether it exists or not. The name is hard to trace to a user, though not
    /// impossible: with the folder one can try names.
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

    /// Returns the random bytes that the names derive from. They are created if there are no stores yet.
    ///
    /// - Throws: ``SluiceError`` of code `storeCorrupt` if they are missing beside stores. With new bytes every user
    ///   would be a new one, and the queued changes in the stores would never be found.
    private func salt() throws -> [UInt8] {
        let path = UserSalt.path(beside: marker)
        guard StoreFolder.exists(path) || !hasStores else {
            throw SluiceError(
                .storeCorrupt,
                "\(path) is missing, and without it nobody finds the stores of the users; bring it back from a copy")
        }
        return try UserSalt.bytes(beside: marker)
    }

    /// Whether there is a folder with a name like a user's, and a store's file in it.
    private var hasStores: Bool {
        StoreFolder.names(beside: marker).contains { name in
            name.utf8.count == 2 * Self.count && name.utf8.allSatisfy { Base16.value(of: $0) != nil }
                && StoreFolder.names(beside: "\(folder)/\(name)/\(Self.store)").contains { $0.hasPrefix(Self.store) }
        }
    }
}
