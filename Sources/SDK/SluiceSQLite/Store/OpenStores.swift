internal import SluiceCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The store files that this process has open, with the first bytes of each.
///
/// A file's locks belong to the process. Opening such a file once more and closing it again would release the locks of
/// every connection to it (sqlite.org/howtocorrupt.html, section 2.2). So the first bytes of an open file are kept
/// here, and the file need not be opened to read them.
enum OpenStores {
    private struct Entry {
        var start: [UInt8]
        let path: String
        var count: Int
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])

    /// The registration of one open store, until it ends.
    final class Registration: Sendable {
        private let file: Mutex<FileIdentity?>
        /// Keeps the file's number from being reused for another file while it is registered, even if the name and all
        /// connections are gone already.
        private let pin: Int32

        fileprivate init(_ file: FileIdentity, pin: Int32) {
            self.file = Mutex(file)
            self.pin = pin
        }

        deinit { end() }

        /// Ends the registration, after its connections are closed.
        func end() {
            guard let file = file.withLock({ $0.take() }) else { return }
            entries.withLock { entries in
                entries[file]?.count -= 1
                if entries[file]?.count == 0 { entries[file] = nil }
            }
            if pin >= 0 { _ = close(pin) }
        }
    }

    /// Opens only the file's path, so that closing it releases no lock: Linux, open(2), `O_PATH`.
    private static func pin(_ path: String) -> Int32 {
        #if canImport(Glibc)
            open(path, 0o10000000 | O_CLOEXEC)
        #else
            -1
        #endif
    }

    /// Registers an open file with its first bytes.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` if it is open under another name, such as that of a mount
    ///   or its name before a rename: the log of that name would be missed.
    static func register(_ path: String, start: [UInt8]) throws -> Registration? {
        let pin = pin(path)
        guard let file = pin < 0 ? FileIdentity(path) : FileIdentity(descriptor: pin) else {
            if pin >= 0 { _ = close(pin) }
            return nil
        }
        let other = entries.withLock { entries -> String? in
            let entry = entries[file] ?? Entry(start: start, path: path, count: 0)
            guard entry.path.utf8.elementsEqual(path.utf8) else { return entry.path }
            entries[file] = entry
            entries[file]?.count += 1
            return nil
        }
        if let other {
            if pin >= 0 { _ = close(pin) }
            throw SluiceError(
                .storeInputOutput, "the store \(path) is open in this process under another name, \(other)")
        }
        return Registration(file, pin: pin)
    }

    /// Whether this process has the file open.
    static func contains(_ path: String) -> Bool {
        FileIdentity(path).map { file in entries.withLock { $0[file] != nil } } ?? false
    }

    /// Returns the file's first 16 bytes; none if the file is missing or empty.
    static func start(of path: String) -> [UInt8] {
        let known = FileIdentity(path).flatMap { file in entries.withLock { $0[file]?.start } }
        return known ?? FileBytes.start(of: path, count: FileBytes.magic.count)
    }
}

/// The connections of a store that is being opened, until their workers take them.
///
/// Those of an encrypted file are all opened at once, so that the key need not be kept.
struct OpenedStore: Sendable {
    let writer: OpenedConnection
    let registration: OpenStores.Registration?
    /// The opened file and its log; nil for a store without a file.
    let place: FilePlace?
    private let readers: [OpenedConnection]

    init(_ file: SQLiteStoreFile, lock: StoreLock?, encryption: StoreEncryption?) throws {
        guard let lock else {
            guard encryption == nil else {
                throw SluiceError(.invalidArgument, "a store without a file is not encrypted")
            }
            (writer, readers) = (OpenedConnection(try file.openWriter()), [])
            (registration, place) = (nil, nil)
            return
        }
        (writer, readers, registration, place) = try lock.hold {
            try DamagedStore.finishReplacement(of: file.path)
            StoreConversion.removeLeftovers(of: file.path)
            StoreFolder.makeFile(file.path)
            try SQLiteStoreFile.checkSingleName(file.path)
            try LogOwner.setForeignLogAside(file.path)
            if StoreFolder.size(of: file.path) == 0, StoreFolder.size(of: file.path + "-wal") == 0,
                try LogOwner.wasWritten(file.path)
            {
                throw SluiceError(
                    .storeCorrupt,
                    "the store \(file.path) has been emptied: put a copy in its place, or recover it to begin again")
            }
            var file = file
            file.place = FilePlace(file.path)
            file.cipher = try SQLiteStoreFile.cipher(of: file.path, encryption)
            // Before the first connection: from then on no code of this process may open the file to look into it.
            let registration = try OpenStores.register(file.path, start: file.cipher?.salt ?? FileBytes.magic)
            // One more connection is for statements of the application.
            let count = encryption == nil ? 0 : file.options.readers + 1
            let writer = OpenedConnection(try file.openWriter())
            let readers = try (0..<count).map { _ in OpenedConnection(try file.openReader()) }
            try file.checkInPlace()
            try LogOwner.note(file.path)
            file.place?.noteLog()
            return (writer, readers, registration, file.place)
        }
    }

    /// Returns the opener of the reader of that number, which returns its open connection or opens one.
    func reader(_ index: Int, of file: SQLiteStoreFile) -> @Sendable () throws -> SQLiteConnection {
        guard readers.indices.contains(index) else { return { try file.openReader() } }
        return { [reader = readers[index]] in try reader.take() }
    }
}

/// A connection on its way from the thread that opened it to its worker, which takes it once; therefore it may be
/// unchecked `Sendable`.
final class OpenedConnection: @unchecked Sendable {
    private var connection: SQLiteConnection?

    init(_ connection: SQLiteConnection) { self.connection = connection }

    func take() throws -> SQLiteConnection {
        guard let connection else { throw SluiceError(.storeClosed, "the store is closed; open it again") }
        self.connection = nil
        return connection
    }
}
