internal import CSQLite
public import SluiceCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A store in a SQLite file.
///
/// ```swift
/// let store = try SQLiteStore(path: "todos.db")
/// try await store.define([TableSchema("todos", columns: [.init("text", .string), .init("done", .boolean)])])
/// try await store.write { try $0.put(["id": "1", "text": "milk", "done": false], in: "todos") }
/// try await store.close()
/// ```
///
/// One connection writes, others read beside it. Several stores, in one process or in many, may open the same file.
/// Beside the file stand its log (`-wal`, `-shm`), a lock (`-lock`) and the lease (`-lease`); copy the file alone only
/// when it is closed.
/// A log that another file has left under this name is set aside when the store is opened.
public final class SQLiteStore: LocalStore {
    /// Options for opening a store.
    public struct Options: Sendable, Hashable {
        /// The transactions that survive a power cut.
        public enum Durability: Sendable, Hashable {
            /// Every transaction that returned. Each waits for the disk.
            case full
            /// All except perhaps the last transactions, whole and in order. The end of the process alone loses none.
            case normal
        }

        /// The transactions that survive a power cut.
        public var durability: Durability
        /// The longest time to wait for another process or store that holds the file's lock.
        public var busyTimeout: Duration
        /// The number of reads that can run at the same time; further ones wait.
        public var readers: Int
        /// The largest size of the file in bytes; nil for no limit. A transaction that exceeds it throws `storeFull`
        /// and changes nothing.
        public var maximumSize: Int?
        /// The name of SQLite's file system for the file, instead of its default one.
        package var fileSystem: String?

        /// Creates options.
        public init(
            durability: Durability = .full, busyTimeout: Duration = .seconds(5), readers: Int = 4,
            maximumSize: Int? = nil
        ) {
            self.durability = durability
            self.busyTimeout = busyTimeout
            self.readers = readers
            self.maximumSize = maximumSize
        }
    }

    /// The path with which the store was opened.
    public let path: String

    private let file: SQLiteStoreFile
    private let lock: StoreLock?
    /// The lease of a store without a file.
    private let leases = ExclusiveLease()
    private let writer: SQLiteWorker
    private let readers: [SQLiteWorker]
    /// The reader for statements of the application, so that a long one delays no other read; nil for a store without a
    /// file.
    private let sqlReader: SQLiteWorker?
    private let registration: OpenStores.Registration?
    /// The number of reads assigned to each reader.
    private let loads: Mutex<[Int]>

    /// Opens the file, or creates it, for its owner only. A missing folder is created too, if the one above exists.
    /// `:memory:` is a store without a file.
    ///
    /// It blocks the calling thread, at most for the busy timeout.
    ///
    /// - Parameter encryption: the encryption of the file; nil for a plain one. A new file gets this encryption. That
    ///   of an existing file is not changed: see ``convert(path:from:to:options:environment:)``.
    /// - Throws: ``SluiceError`` of code `storeNotADatabase` for a file that is something else, `storeSchema` for a
    ///   database of another program or of a newer format, `storeKeyRefused`, `storeEncrypted` and `storeNotEncrypted`
    ///   for one that is encrypted otherwise (all of which are left as they are), `storeLibraryMissing` if it needs
    ///   SQLCipher and there is none, `storeInputOutput` if the file cannot be opened or has a second name (a hard
    ///   link), `storeBusy`.
    public init(path: String, encryption: StoreEncryption? = nil, options: Options = Options()) throws {
        guard options.readers > 0 else {
            throw SluiceError(.invalidArgument, "a store needs at least one reader, not \(options.readers)")
        }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SluiceError(.invalidArgument, "a store's path is not empty and has no NUL")
        }
        self.path = path
        if path != ":memory:" { StoreFolder.makeFolder(of: path) }
        var file = SQLiteStoreFile(path: Self.resolved(path), options: options)
        let lock = file.isInMemory ? nil : StoreLock(path: file.path, timeout: options.busyTimeout)
        let opened = try OpenedStore(file, lock: lock, encryption: encryption)
        file.place = opened.place
        self.file = file
        self.lock = lock
        registration = opened.registration
        writer = SQLiteWorker(label: "sluice.store.writer") { [writer = opened.writer] in try writer.take() }
        readers = (0..<(file.isInMemory ? 0 : options.readers)).map { [file] index in
            SQLiteWorker(label: "sluice.store.reader", open: opened.reader(index, of: file))
        }
        sqlReader =
            file.isInMemory
            ? nil : SQLiteWorker(label: "sluice.store.sql", open: opened.reader(options.readers, of: file))
        loads = Mutex(Array(repeating: 0, count: readers.count))
    }

    /// Declares tables; see ``LocalStore/define(_:)``.
    public func define(_ tables: [TableSchema]) async throws {
        try await transact { connection in
            for table in tables { try connection.catalog.define(table, connection) }
        }
    }

    /// Runs `body` on one state of the store; see ``LocalStore/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        let reader = takeReader()
        defer { giveBack(reader) }
        return try await reader.worker.run { [file] in try Self.read(file, on: $0, body) }
    }

    /// Reads as ``read(_:)``, but blocks the calling thread for its turn and the disk. It costs no change of threads;
    /// never call it on a thread of Swift's pool.
    package func readHere<Result: Sendable>(
        _ body: @Sendable (any StoreReader) throws -> Result
    ) throws -> Result {
        let reader = takeReader()
        defer { giveBack(reader) }
        return try reader.worker.runHere { [file] in try Self.read(file, on: $0, body) }
    }

    private static func read<Result>(
        _ file: SQLiteStoreFile, on connection: SQLiteConnection, _ body: (any StoreReader) throws -> Result
    ) throws -> Result {
        try file.checkInPlace()
        return try connection.transaction(.deferred) {
            try connection.catalog.refresh(connection)
            return try SQLiteStoreTransaction.run(on: connection, body)
        }
    }

    /// Returns the reader with the fewest reads; the writer if there is none.
    private func takeReader() -> (worker: SQLiteWorker, index: Int?) {
        let index = loads.withLock { loads -> Int? in
            guard let index = loads.indices.min(by: { loads[$0] < loads[$1] }) else { return nil }
            loads[index] += 1
            return index
        }
        return (index.map { readers[$0] } ?? writer, index)
    }

    private func giveBack(_ reader: (worker: SQLiteWorker, index: Int?)) {
        if let index = reader.index { loads.withLock { $0[index] -= 1 } }
    }

    /// Runs `body` as one transaction; see ``LocalStore/write(_:)``. The transactions of tasks that write at the same
    /// time share one commit; if that fails, each runs again alone.
    public func write<Result: Sendable>(
        _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await transact { connection in
            try SQLiteStoreTransaction.run(on: connection, body)
        }
    }

    /// Waits for running operations, moves the log into the file and closes it; see ``LocalStore/close()``.
    public func close() async throws {
        for reader in readers { try await reader.close() }
        try await sqlReader?.close()
        try await writer.close { [file, lock] connection in
            guard !file.isInMemory else { return }
            // Busy is no failure: the log keeps everything for the next opening.
            try? lock.holding { try file.checkpointAtClose(connection) }
        }
        registration?.end()
    }

    /// Whether the path still leads to the file that is open. If it does not, every read and write throws
    /// `storeClosed`.
    package var isInPlace: Bool { file.isInPlace }

    /// Takes the lease, which is one for all processes; see ``LocalStore/takeLease()``.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` if no file can be created beside the store's.
    public func takeLease() async throws -> StoreLease? {
        try file.isInMemory ? leases.take() : LeaseFile(path: file.path + "-lease").take()
    }

    /// Takes the lease away from its holder; see ``LocalStore/breakLease()``.
    public func breakLease() async throws {
        if file.isInMemory {
            leases.breakUp()
        } else {
            try LeaseFile(path: file.path + "-lease").breakUp()
        }
    }

    /// Runs `body` with a reading connection, on one state of the file.
    func withConnection<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection, _ path: String) throws -> Result
    ) async throws -> Result {
        try await (readers.first ?? writer).run { [file] connection in
            try file.checkInPlace()
            return try connection.transaction(.deferred) {
                try connection.catalog.refresh(connection)
                return try body(connection, file.path)
            }
        }
    }

    /// Runs `body` with the connection for statements of the application, outside of any transaction.
    func withSQLConnection<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await (sqlReader ?? writer).run { [file] connection in
            try file.checkInPlace()
            return try body(connection)
        }
    }

    /// Runs `body` with the writing connection, outside of any transaction and with the lock held.
    func withWriter<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await writer.run { [file, lock] connection in
            try lock.holding {
                try file.checkWritable()
                return try body(connection)
            }
        }
    }

    private func transact<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(frame) { [file] connection in
            try file.checkWritable()
            try connection.catalog.refresh(connection)
            return try body(connection)
        }
    }

    /// The steps around the store's transactions.
    private var frame: TransactionFrame {
        TransactionFrame(
            begin: { [lock] in
                let hold = try lock?.take()
                return { hold?.release() }
            },
            beforeCommit: { [file] _ in { file.checkpointIfDue($0) } })
    }

    /// Checks, without opening it, that the file is a store or may become one: fails as
    /// ``init(path:encryption:options:)`` would.
    package static func check(path: String, encryption: StoreEncryption?) throws {
        let path = resolved(path)
        _ = try SQLiteStoreFile.cipher(of: path, encryption)
        // A first page that was torn may be whole in the log.
        guard
            encryption != nil || StoreFolder.size(of: path + "-wal") > 0
                || [[], FileBytes.magic].contains(OpenStores.start(of: path))
        else {
            throw SluiceError(.storeNotADatabase, "\(path) is not a SQLite database; it was left as it is")
        }
    }

    /// Returns the path without symbolic links, so that every way to the file leads to one lock.
    package static func resolved(_ path: String) -> String {
        if path == ":memory:" { return path }
        func real(_ path: String) -> String? {
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            return String(cString: resolved)
        }
        if let file = real(path) { return file }
        var path = path
        // A link may point to a file that does not exist yet.
        for _ in 0..<40 {
            guard let target = StoreFolder.target(ofLink: path) else { break }
            path = target.utf8.first == UInt8(ascii: "/") ? target : "\(StoreFolder.folder(of: path))/\(target)"
        }
        return real(StoreFolder.folder(of: path)).map { "\($0 == "/" ? "" : $0)/\(StoreFolder.name(of: path))" } ?? path
    }
}

extension StoreLock? {
    /// Runs `body` with the lock held, if there is one.
    func holding<Result>(_ body: () throws -> Result) throws -> Result {
        try self?.hold(body) ?? body()
    }
}
