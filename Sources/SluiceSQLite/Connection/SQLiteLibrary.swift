package import CSQLite

/// One SQLite library: the functions that every call goes through.
///
/// The table that it points to is filled once, never changes and lives as long as the process; that is why the type may
/// be `Sendable` unchecked.
package struct SQLiteLibrary: @unchecked Sendable {
    package let functions: UnsafePointer<csqlite_api>

    package init(functions: UnsafePointer<csqlite_api>) { self.functions = functions }

    /// The libsqlite3 that the program is linked with.
    package static let system = SQLiteLibrary(functions: csqlite_system())

    /// The library's version, such as `3.40.1`.
    package var version: String { String(cString: functions.pointee.libversion()) }
}
