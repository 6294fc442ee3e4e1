internal import SluiceCore
internal import SluiceSQLite
internal import Synchronization

/// The file of a SQLite database that is served. SQLite finds a file's log and locks by the name that it was opened
/// under: what is written to a file that has another name besides, or is no longer the one of that name, would be lost.
final class DatabaseFile: Sendable {
    let path: String
    /// The file that was opened first; nil before that.
    private let identity = Mutex<FileIdentity?>(nil)

    init(_ path: String) { self.path = path }

    /// Opens a connection. The first one may make the file; each later one is to the same.
    ///
    /// - Throws: as ``check()``, and of the database.
    func open(access: SQLiteConnection.Access = .readWriteCreate) throws -> SQLiteConnection {
        try check()
        let connection = try SQLiteConnection(path: path, access: access)
        identity.withLock { if $0 == nil { $0 = FileIdentity(path) } }
        try check()
        return connection
    }

    /// Sees that the path leads to the file that was opened, and no other path does.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput`.
    func check() throws(SluiceError) {
        if let opened = identity.withLock({ $0 }), FileIdentity(path) != opened {
            throw SluiceError(
                .storeInputOutput,
                "the file \(path) was replaced or removed while it was served; nothing was written, start the server anew"
            )
        }
        try SQLiteStoreFile.checkSingleName(path, of: "database")
    }
}
