internal import SluiceCore

/// A folder with an encrypted store for each user of a device, of which one is open at a time.
///
/// ```swift
/// let users = try UserStores(folder: "state")
/// let anna = try await users.signIn("anna", with: .passphrase(passphrase))
/// let context = try await SyncContext(client: annasClient, store: anna, options: SyncOptions(user: "anna"))
/// // Later, and for somebody else. What Anna has not sent waits under her secret, until she is back.
/// let ben = try await users.signIn("ben", with: .key(bensKey))
/// // Anna will not be back: her store is removed, and what its key was made of is overwritten.
/// try await users.signOut("anna", unsent: .discard)
/// ```
///
/// A store's key is made of the user's secret and of random bytes in a file beside it. Without both it is
/// noise: switching users needs nothing but closing the store, and signing out nothing but overwriting those bytes. A
/// copy of both, as a backup of the folder is, still opens with the user's secret. Neither a file's nor a folder's name
/// says who the user is.
public actor UserStores {
    /// What becomes of changes that wait when a user signs out.
    public enum Unsent: Sendable, Hashable {
        /// They are not given up: signing out throws `operationsPending`.
        case refuse
        /// They are lost with all the rest.
        case discard
    }

    private let names: UserNames
    private let options: SQLiteStore.Options
    private var open: (user: ExactName, store: SQLiteStore)?
    private let activity = SerialActivity()

    /// The stores in that folder, which is made where it is missing, if the one above is there.
    ///
    /// - Throws: ``SluiceError`` of code `storeLibraryMissing` where SQLCipher 4 is missing, `storeInputOutput`.
    public init(folder: String, options: SQLiteStore.Options = .init()) throws {
        names = try UserNames(folder: folder)
        self.options = options
    }

    /// Who is signed in.
    public var user: String? { open?.user.text }

    /// Opens the store of a user, or makes it, and closes the one that was open: whatever still uses that one gets
    /// `storeClosed`.
    ///
    /// - Parameters:
    ///   - user: any text that names the user and does not change.
    ///   - secret: what only this user can bring: derived from a token, from a keyring, a passphrase.
    /// - Throws: ``SluiceError`` of code `storeKeyRefused` for a secret that is not the user's, `invalidArgument` for
    ///   an empty name, `storeCorrupt` where a store is there and a file of random bytes is gone that it takes to find
    ///   it or to open it, `storeBusy`, `cancelled`; of the store. The store that was open is closed then too.
    public func signIn(_ user: String, with secret: StoreEncryption) async throws -> SQLiteStore {
        guard !user.isEmpty else { throw SluiceError(.invalidArgument, "a user's name is not empty") }
        return try await alone {
            try await close()
            let path = try await names.path(of: user)
            // Opened under the lock too: else another could sign the user out in between, and the key be of nothing.
            let lease = try await names.lock()
            defer { lease.release() }
            if try UserSalt.isOverwritten(beside: path) { try Self.remove(path) }
            let key = try UserSalt.key(secret, beside: path)
            let store = try SQLiteStore(path: path, encryption: .key(key), options: options)
            open = (ExactName(user), store)
            return store
        }
    }

    /// One call after the other: where one waits, the actor would let others in.
    private func alone<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await activity.begin()
        defer { activity.end() }
        return try await body()
    }

    /// Closes the store of who is signed in: what waits in it stays, and only that user's secret opens it again.
    public func seal() async throws { try await alone { try await close() } }

    private func close() async throws {
        guard let store = open?.store else { return }
        open = nil
        try await store.close()
    }

    /// Makes what is left of a user's store unreadable for everybody, and removes it.
    ///
    /// What was copied before is beyond reach where the random bytes were copied too; and a disk or a file system that
    /// writes elsewhere may keep those.
    ///
    /// - Parameter unsent: what becomes of changes that wait. Whether there are any can be told of who is signed in
    ///   only, so that anybody else can sign out only with `discard`.
    /// - Throws: ``SluiceError`` of code `operationsPending`; `storeInputOutput` where the files cannot be removed: the
    ///   next ``signIn(_:with:)`` of that user goes on with it; `storeCorrupt` where the file of random bytes is gone
    ///   that it takes to find the store; `storeBusy`, `cancelled`.
    public func signOut(_ user: String, unsent: Unsent = .refuse) async throws {
        try await alone {
            let path = try await names.path(of: user)
            // Before the store's own lock, which its transaction takes: so does signing in.
            let lease = try await names.lock()
            defer { lease.release() }
            if let open, open.user == ExactName(user) {
                do {
                    try await Self.destroy(open.store, at: path, unsent)
                } catch {
                    // The transaction itself may be told that its file is gone.
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

    /// In one transaction: what is written after it fails, as the file is gone, and is not acknowledged. The users'
    /// lock is held.
    private static func destroy(_ store: SQLiteStore, at path: String, _ unsent: Unsent) async throws {
        try await store.write { writer in
            let count = try writer.count(matching: Query(TableOperation.schema.name))
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
    /// - Throws: ``SluiceError`` of code `storeCorrupt` where stores are there and the file of random bytes is gone
    ///   that it takes to find one; `storeInputOutput`, `storeBusy`, `cancelled`.
    public func hasStore(of user: String) async throws -> Bool {
        let path = try await names.path(of: user)
        return try StoreFolder.size(of: path) > 0 && !UserSalt.isOverwritten(beside: path)
    }

    /// The salt goes last: while it is there, it says that the rest is to go.
    private static func remove(_ path: String) throws {
        let salt = UserSalt.path(beside: path)
        guard StoreFolder.exists(StoreFolder.folder(of: path)) else { return }
        // Only what is a store's: what others have put there is theirs, and in the folder's way.
        for name in StoreFolder.names(beside: path)
        where name.hasPrefix(StoreFolder.name(of: path)) && name != StoreFolder.name(of: salt) {
            try StoreFiles.remove("\(StoreFolder.folder(of: path))/\(name)")
        }
        try StoreFiles.syncFolder(of: path)
        try StoreFiles.remove(salt)
        try StoreFiles.removeFolder(StoreFolder.folder(of: path))
    }
}

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
