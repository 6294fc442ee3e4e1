internal import CSQLite
internal import SluiceCore

/// An error reported by SQLite: the cause of a ``SluiceError`` of the store.
struct SQLiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    package var code: Int32
    /// SQLite's own message.
    package var reason: String

    package init(code: Int32, reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { "SQLite \(code): \(reason)" }

    /// The result code without its extension.
    var primaryCode: Int32 { code & 0xFF }

    /// Whether the statement is valid but too large for SQLite (sqlite.org/limits.html). The only statements that grow
    /// are generated from queries. Before 3.46 the parser's stack holds 100 symbols, which is 15 to 40 nested
    /// functions.
    private var isAboutSize: Bool {
        [
            "parser stack overflow", "too many terms in", "Expression tree is too large", "too many SQL variables",
            "too many arguments on function",
        ].contains { reason.contains($0) }
    }

    /// Returns the error for the store's user. `path` is the file's.
    func error(path: String, table: String? = nil) -> SluiceError {
        let (code, message): (SluiceError.Code, String)
        switch primaryCode {
        case Int32(CSQLITE_NOTADB):
            (code, message) = (
                .storeNotADatabase, "\(path) is not a SQLite database (or it is encrypted); it was left as it is"
            )
        case Int32(CSQLITE_BUSY), Int32(CSQLITE_LOCKED), Int32(CSQLITE_PROTOCOL):
            (code, message) = (
                .storeBusy, "the store \(path) is locked by another process or connection; try again"
            )
        // SQLCipher's export reports the code of a statement's error, and SQLite's reason.
        case Int32(CSQLITE_FULL),
            _ where reason.hasSuffix("database or disk is full"):
            (code, message) = (.storeFull, "no space is left for the store \(path); nothing of this was written")
        case Int32(CSQLITE_CORRUPT):
            (code, message) = (.storeCorrupt, "the store \(path) is damaged; restore it from a copy or pull it anew")
        case Int32(CSQLITE_CANTOPEN):
            (code, message) = (
                .storeInputOutput,
                "the store \(path) cannot be opened; see that its directory exists and may be written"
            )
        case Int32(CSQLITE_READONLY), Int32(CSQLITE_PERM), Int32(CSQLITE_AUTH):
            (code, message) = (.storeInputOutput, "the store \(path) may not be written")
        case Int32(CSQLITE_TOOBIG):
            (code, message) = (.invalidRecord, "a value is larger than the store \(path) can hold")
        case Int32(CSQLITE_IOERR), Int32(CSQLITE_NOMEM):
            (code, message) = (.storeInputOutput, "the store \(path) cannot be read or written")
        case Int32(CSQLITE_INTERRUPT):
            (code, message) = (.cancelled, "the work on the store \(path) was interrupted")
        case _ where isAboutSize:
            (code, message) = (
                .invalidQuery, "the query has more parts, or more inside each other, than SQLite takes: \(reason)"
            )
        default:
            (code, message) = (.storeSchema, "the store \(path) refuses the statement")
        }
        return SluiceError(code, message, table: table, cause: self)
    }
}
