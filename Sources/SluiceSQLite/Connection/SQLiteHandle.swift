internal import CSQLite
internal import SluiceCore

/// The owner of a database handle: it is closed when the connection and its last statement are gone.
final class SQLiteHandle {
    let path: String
    let api: UnsafePointer<csqlite_api>
    let pointer: OpaquePointer
    /// Whether it was given a key.
    private(set) var isEncrypted = false

    init(path: String, flags: Int32, fileSystem: String?, library: SQLiteLibrary) throws(SluiceError) {
        api = library.functions
        self.path = path
        // With a directory in front, no library takes the name for a URI, whatever it was built to do.
        let name = path == ":memory:" || path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
        var opened: OpaquePointer?
        let code = api.pointee.open_v2(
            name, &opened, flags | Int32(CSQLITE_OPEN_NOMUTEX | CSQLITE_OPEN_EXRESCODE), fileSystem)
        guard code == Int32(CSQLITE_OK), let opened else {
            let reason = opened.flatMap { [api] in api.pointee.errmsg($0) } ?? api.pointee.errstr(code)
            let failure = SQLiteFailure(code: code, reason: String(cString: reason))
            _ = api.pointee.close_v2(opened)
            throw failure.error(path: path)
        }
        pointer = opened
    }

    deinit { _ = api.pointee.close_v2(pointer) }

    /// Gives the database its key, before anything is read of it.
    func setKey(_ key: UnsafeRawBufferPointer) throws(SluiceError) {
        guard let give = api.pointee.key_v2 else {
            throw SluiceError(.storeLibraryMissing, "the library of the store \(path) does not encrypt")
        }
        guard give(pointer, "main", key.baseAddress, Int32(clamping: key.count)) == Int32(CSQLITE_OK) else {
            throw failure()
        }
        isEncrypted = true
    }

    /// What SQLite says of its latest failure.
    func failure() -> SluiceError {
        let code = api.pointee.extended_errcode(pointer)
        let reason = api.pointee.errmsg(pointer).map { String(cString: $0) } ?? ""
        let failure = SQLiteFailure(code: code, reason: reason)
        if isEncrypted, failure.primaryCode == Int32(CSQLITE_NOTADB) {
            return SluiceError(
                .storeKeyRefused,
                "the key does not open the store \(path), or its first page is damaged; it was left as it is",
                cause: failure)
        }
        // What SQLCipher says in the midst of a statement of a page that was changed: an error without words of its own.
        if isEncrypted, code == Int32(CSQLITE_ERROR), reason == "SQL logic error" {
            return SluiceError(.storeCorrupt, "a page of the store \(path) is damaged", cause: failure)
        }
        return failure.error(path: path)
    }
}
