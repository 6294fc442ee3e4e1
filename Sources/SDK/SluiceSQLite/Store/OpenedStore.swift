internal import SluiceCore

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
        guard let connection else { throw SluiceError(.storeClosed, "the store is closed; open it anew") }
        self.connection = nil
        return connection
    }
}
