internal import CSQLite
internal import SluiceCore

/// Decides what a statement may do while SQLite prepares it: read the views, and call functions that only compute.
///
/// It is for the thread that uses the connection.
final class SQLAuthorizer {
    private let views: SQLViews
    /// Why the statement was refused; nil while it was not.
    private(set) var refusal: SluiceError?
    /// The store's tables that the statement reads.
    private(set) var tables: Set<String> = []

    init(views: SQLViews) { self.views = views }

    /// Runs `body` with every statement of the connection asked about.
    func guarding<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        let api = connection.api
        _ = api.pointee.set_authorizer(connection.handle, decide, Unmanaged.passUnretained(self).toOpaque())
        defer { _ = api.pointee.set_authorizer(connection.handle, nil, nil) }
        return try withExtendedLifetime(self) { try body() }
    }

    fileprivate func allows(_ action: Int32, _ first: String, _ second: String) -> Bool {
        switch action {
        case Int32(CSQLITE_SELECT), Int32(CSQLITE_RECURSIVE): return true
        case Int32(CSQLITE_READ):
            if let table = views.table(first) {
                tables.insert(table)
                return true
            }
            if SQLFunctionNames.tables.contains(first.lowercased()) { return true }
            // Without a column, it may be the name of a part of the statement: a common table expression.
            if second.isEmpty, !views.hides(first) { return true }
            return refuse(.invalidTable, Self.reason(ofTable: first), table: first)
        case Int32(CSQLITE_FUNCTION):
            if SQLFunctionNames.contains(second) { return true }
            return refuse(.invalidQuery, "SQL cannot call the function \(second) here")
        case Int32(CSQLITE_INSERT), Int32(CSQLITE_UPDATE), Int32(CSQLITE_DELETE):
            if StoreRules.folded(first).starts(with: "sqlite_".utf8) {
                // SQLite asks so about tables that it makes up too, those of pragmas for example.
                return refuse(.invalidTable, "the statement uses a table that belongs to SQLite; SQL cannot do so here")
            }
            return refuse(.invalidQuery, "SQL only reads here, and this statement writes to \(first)", table: first)
        default: return refuse(.invalidQuery, "SQL only reads here, and this statement does something else")
        }
    }

    private static func reason(ofTable name: String) -> String {
        if SQLViews.isOwn(name) { return "the table \(name) belongs to the engine; SQL cannot read it" }
        if StoreRules.folded(name).starts(with: "sqlite_".utf8) {
            return "the table \(name) belongs to SQLite; SQL cannot read it here"
        }
        return "the table \(name) is not one of the store's tables of records; SQL cannot read it here"
    }

    private func refuse(_ code: SluiceError.Code, _ message: String, table: String? = nil) -> Bool {
        // The first reason is the one that the statement begins with.
        if refusal == nil { refusal = SluiceError(code, message, table: table) }
        return false
    }
}

private let decide: csqlite_authorizer = { context, action, first, second, _, _ in
    guard let context else { return Int32(CSQLITE_DENY) }
    let authorizer = Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue()
    let isAllowed = authorizer.allows(
        action, first.map { String(cString: $0) } ?? "", second.map { String(cString: $0) } ?? "")
    return isAllowed ? Int32(CSQLITE_OK) : Int32(CSQLITE_DENY)
}
