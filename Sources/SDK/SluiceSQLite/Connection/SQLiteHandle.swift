internal import CSQLite
internal import SluiceCore

/// Owns a database handle, which is closed when the connection and its last statement are gone.
final class SQLiteHandle {
    let path: String
    let api: UnsafePointer<csqlite_api>
    let pointer: OpaquePointer
    /// Whether the database was given a key.
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

    /// Returns SQLite's latest failure as an error.
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
        // SQLCipher reports a changed page in the middle of a statement with this code and no message of its own.
        if isEncrypted, code == Int32(CSQLITE_ERROR), reason == "SQL logic error" {
            return SluiceError(.storeCorrupt, "a page of the store \(path) is damaged", cause: failure)
        }
        return failure.error(path: path)
    }
}

extension SQLiteHandle {
    /// Registers a function of queries with SQL.
    func register(_ function: SQLFunction) throws(SluiceError) {
        let box = Unmanaged.passRetained(RegisteredFunction(function.body, api))
        let code = api.pointee.create_function_v2(
            pointer, function.name, Int32(clamping: function.argumentCount),
            Int32(CSQLITE_UTF8 | CSQLITE_DETERMINISTIC | CSQLITE_INNOCUOUS), box.toOpaque(),
            api == csqlite_system() ? callOfLinked : callOfLoaded, nil, nil, release)
        // On failure SQLite has released the box already.
        if code != Int32(CSQLITE_OK) { throw failure() }
    }
}

/// A registered function's user data in SQLite: the body, and the table of the library that calls it.
private final class RegisteredFunction {
    let body: @Sendable ([SQLValue]) -> SQLValue
    let api: UnsafePointer<csqlite_api>

    init(_ body: @escaping @Sendable ([SQLValue]) -> SQLValue, _ api: UnsafePointer<csqlite_api>) {
        self.body = body
        self.api = api
    }

    func argument(_ value: OpaquePointer?) -> SQLValue {
        guard let value else { return .null }
        let count = Int(api.pointee.value_bytes(value))
        switch api.pointee.value_type(value) {
        case Int32(CSQLITE_INTEGER): return .integer(api.pointee.value_int64(value))
        case Int32(CSQLITE_FLOAT): return .real(api.pointee.value_double(value))
        case Int32(CSQLITE_TEXT):
            guard let text = api.pointee.value_text(value) else { return .text("") }
            return .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case Int32(CSQLITE_BLOB):
            guard let bytes = api.pointee.value_blob(value) else { return .blob([]) }
            return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        default: return .null
        }
    }

    func answer(_ result: SQLValue, _ context: OpaquePointer) {
        switch result {
        case .null: api.pointee.result_null(context)
        case .integer(let value): api.pointee.result_int64(context, value)
        case .real(let value): api.pointee.result_double(context, value)
        case .text(var text):
            text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    api.pointee.result_text64(
                        context, $0.baseAddress ?? noText, UInt64($0.count), csqlite_transient(), UInt8(CSQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                api.pointee.result_blob64(
                    context, $0.baseAddress ?? UnsafeRawPointer(noText), UInt64($0.count), csqlite_transient())
            }
        }
    }
}

/// The address of a text without bytes: a nil pointer would mean NULL.
private var noText: UnsafePointer<CChar> {
    UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
}

// The table is in the box, so the box must be found without it: each library has its own callback.
private let callOfLinked: csqlite_function = { context, count, values in
    call(csqlite_system().pointee.user_data(context), context, count, values)
}
private let callOfLoaded: csqlite_function = { context, count, values in
    call(csqlite_loaded()?.pointee.user_data(context), context, count, values)
}

private func call(
    _ box: UnsafeMutableRawPointer?, _ context: OpaquePointer, _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>
) {
    guard let box else { return }
    let function = Unmanaged<RegisteredFunction>.fromOpaque(box).takeUnretainedValue()
    let arguments = (0..<Int(count)).map { function.argument(values[$0]) }
    function.answer(function.body(arguments), context)
}

private let release: csqlite_destructor = { pointer in
    if let pointer { Unmanaged<RegisteredFunction>.fromOpaque(pointer).release() }
}
