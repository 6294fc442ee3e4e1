package import CSQLite
package import SluiceCore

/// A prepared statement of a connection, used on the connection's thread.
///
/// Parameters and columns are numbered as in SQLite: parameters from 1, columns from 0.
package final class SQLiteStatement {
    package let handle: OpaquePointer
    package let api: UnsafePointer<csqlite_api>
    private let database: SQLiteHandle

    init(handle: OpaquePointer, database: SQLiteHandle) {
        self.handle = handle
        self.database = database
        self.api = database.api
    }

    deinit { _ = api.pointee.finalize(handle) }

    // MARK: Binding

    func bindNull(_ index: Int) throws(SluiceError) {
        try check(api.pointee.bind_null(handle, Int32(truncatingIfNeeded: index)))
    }

    package func bind(_ index: Int, _ value: Int64) throws(SluiceError) {
        try check(api.pointee.bind_int64(handle, Int32(truncatingIfNeeded: index), value))
    }

    package func bind(_ index: Int, _ value: Double) throws(SluiceError) {
        try check(api.pointee.bind_double(handle, Int32(truncatingIfNeeded: index), value))
    }

    package func bind(_ index: Int, _ value: String) throws(SluiceError) {
        var value = value
        try check(value.withUTF8 { bindText(index, $0, copied: true) })
    }

    package func bind(_ index: Int, blob value: [UInt8]) throws(SluiceError) {
        // A nil pointer would bind NULL where an empty blob is meant.
        try check(
            value.withUnsafeBytes { bytes in
                withUnsafeBytes(of: 0) { empty in
                    api.pointee.bind_blob64(
                        handle, Int32(truncatingIfNeeded: index), bytes.baseAddress ?? empty.baseAddress,
                        UInt64(bytes.count), csqlite_transient())
                }
            })
    }

    package func bind(_ index: Int, _ value: SQLValue) throws(SluiceError) {
        switch value {
        case .null: try bindNull(index)
        case .integer(let value): try bind(index, value)
        case .real(let value): try bind(index, value)
        case .text(let value): try bind(index, value)
        case .blob(let value): try bind(index, blob: value)
        }
    }

    /// Binds values to the parameters from `first` on.
    package func bind(_ values: [SQLValue], from first: Int = 1) throws(SluiceError) {
        for (offset, value) in values.enumerated() { try bind(first + offset, value) }
    }

    /// Binds text and returns SQLite's result code. Text that is not copied must stay where it is until the statement
    /// is stepped or reset.
    @inline(__always)
    func bindText(_ index: Int, _ text: UnsafeBufferPointer<UInt8>, copied: Bool) -> Int32 {
        guard let base = text.baseAddress else {
            return withUnsafeBytes(of: 0 as CChar) { empty in
                api.pointee.bind_text64(
                    handle, Int32(truncatingIfNeeded: index), empty.assumingMemoryBound(to: CChar.self).baseAddress, 0,
                    csqlite_transient(), UInt8(CSQLITE_UTF8))
            }
        }
        return api.pointee.bind_text64(
            handle, Int32(truncatingIfNeeded: index), UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self),
            UInt64(text.count), copied ? csqlite_transient() : nil, UInt8(CSQLITE_UTF8))
    }

    // MARK: Running

    /// Steps to the next row, and returns whether there is one.
    package func step() throws(SluiceError) -> Bool {
        switch api.pointee.step(handle) {
        case Int32(CSQLITE_ROW): return true
        case Int32(CSQLITE_DONE): return false
        default:
            let error = database.failure()
            reset()
            throw error
        }
    }

    /// Steps through all rows and makes the statement ready for its next use, bindings kept.
    package func run() throws(SluiceError) {
        while try step() {}
        _ = api.pointee.reset(handle)
    }

    /// Makes the statement ready for its next use, and clears its bindings.
    package func reset() {
        _ = api.pointee.reset(handle)
        _ = api.pointee.clear_bindings(handle)
    }

    func check(_ code: Int32) throws(SluiceError) {
        if code != Int32(CSQLITE_OK) { throw database.failure() }
    }

    // MARK: Columns of the row

    var columnCount: Int { Int(api.pointee.column_count(handle)) }

    func columnName(_ index: Int) -> String {
        api.pointee.column_name(handle, Int32(truncatingIfNeeded: index)).map { String(cString: $0) } ?? ""
    }

    /// SQLite's type of the column's value, such as `CSQLITE_TEXT`.
    func columnType(_ index: Int) -> Int32 {
        api.pointee.column_type(handle, Int32(truncatingIfNeeded: index))
    }

    package func isNull(_ index: Int) -> Bool { columnType(index) == Int32(CSQLITE_NULL) }

    package func int(_ index: Int) -> Int64 { api.pointee.column_int64(handle, Int32(truncatingIfNeeded: index)) }

    package func double(_ index: Int) -> Double {
        api.pointee.column_double(handle, Int32(truncatingIfNeeded: index))
    }

    /// The column as text; nil for NULL.
    package func text(_ index: Int) -> String? { withText(index) { String(decoding: $0, as: UTF8.self) } }

    package func blob(_ index: Int) -> [UInt8] {
        let index = Int32(truncatingIfNeeded: index)
        guard let bytes = api.pointee.column_blob(handle, index) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(api.pointee.column_bytes(handle, index))))
    }

    /// The size of the row's texts in bytes, plus 8 for each other value.
    var rowBytes: Int {
        (0..<columnCount).reduce(0) { sum, index in
            // Asking for a number's length would convert it to text.
            columnType(index) == Int32(CSQLITE_TEXT) ? sum + (withText(index) { $0.count } ?? 0) : sum + 8
        }
    }

    package func value(_ index: Int) -> SQLValue {
        switch columnType(index) {
        case Int32(CSQLITE_INTEGER): .integer(int(index))
        case Int32(CSQLITE_FLOAT): .real(double(index))
        case Int32(CSQLITE_TEXT): .text(text(index) ?? "")
        case Int32(CSQLITE_BLOB): .blob(blob(index))
        default: .null
        }
    }

    /// The bytes of the column's text, valid for the call; nil for NULL.
    package func withText<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows
        -> Result?
    {
        let index = Int32(truncatingIfNeeded: index)
        guard let text = api.pointee.column_text(handle, index) else { return nil }
        return try body(UnsafeBufferPointer(start: text, count: Int(api.pointee.column_bytes(handle, index))))
    }
}
