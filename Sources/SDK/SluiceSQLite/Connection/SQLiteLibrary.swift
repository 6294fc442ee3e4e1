package import CSQLite
package import SluiceCore
internal import Synchronization

/// One SQLite library: the functions that every call goes through.
///
/// The table that it points to is filled once, never changes and lives as long as the process; therefore the type may
/// be unchecked `Sendable`.
package struct SQLiteLibrary: @unchecked Sendable {
    package let functions: UnsafePointer<csqlite_api>

    package init(functions: UnsafePointer<csqlite_api>) { self.functions = functions }

    /// The libsqlite3 that the program is linked with.
    package static let system = SQLiteLibrary(functions: csqlite_system())

    /// The library's version, such as `3.40.1`.
    package var version: String { String(cString: functions.pointee.libversion()) }
}

extension SQLiteLibrary {
    /// SQLCipher 4, opened on first use.
    ///
    /// - Throws: ``SluiceError`` of code `storeLibraryMissing` if it is not installed or too old. The next call looks
    ///   for it again.
    package static func cipher() throws(SluiceError) -> SQLiteLibrary {
        let outcome = opened.withLock { opened -> Result<SQLiteLibrary, SluiceError> in
            if let opened { return .success(opened) }
            let outcome = open()
            opened = try? outcome.get()
            return outcome
        }
        return try outcome.get()
    }

    private static let opened = Mutex<SQLiteLibrary?>(nil)

    private static let remedy =
        "install the package libsqlcipher1 (Debian 13, Ubuntu 24.04; on Debian 12 from bookworm-backports)"

    /// The library's file. An environment variable may name another, for example a build with other algorithms. The
    /// variable is ignored in a program that has more rights than the user who started it.
    private static var file: String {
        if let named = csqlite_variable("SLUICE_SQLCIPHER"), named.pointee != 0 { return String(cString: named) }
        #if canImport(Darwin)
            return "libsqlcipher.dylib"
        #else
            return "libsqlcipher.so.1"
        #endif
    }

    private static func open() -> Result<SQLiteLibrary, SluiceError> {
        var reason = [CChar](repeating: 0, count: 512)
        guard let functions = csqlite_load(file, &reason, Int32(reason.count)) else {
            let text = reason.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            return .failure(refusal("SQLCipher 4 cannot be opened: \(text)"))
        }
        let library = SQLiteLibrary(functions: functions)
        let version = (try? SQLiteConnection(path: ":memory:", library: library))?.cipherVersion ?? ""
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 4 else {
            csqlite_unload()
            let found = version.isEmpty ? "\(file) is no SQLCipher" : "\(file) is SQLCipher \(version)"
            return .failure(refusal("\(found), and its files are not those of SQLCipher 4"))
        }
        return .success(library)
    }

    private static func refusal(_ reason: String) -> SluiceError {
        SluiceError(.storeLibraryMissing, "\(reason); \(remedy)")
    }
}

extension SQLiteConnection {
    /// The version of SQLCipher behind the connection, such as `4.6.1 community`; empty for another library.
    var cipherVersion: String {
        guard case .text(let version)? = try? run("PRAGMA cipher_version").first?.first else { return "" }
        return version
    }
}
