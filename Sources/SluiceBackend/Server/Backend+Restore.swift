internal import SluiceCore
internal import SluiceSQLite

extension Backend {
    /// Tells the backend that its database was put back from a backup. A backend notices that by itself where the mark
    /// beside the database is another's; it cannot where mark and database were put back together.
    ///
    /// All records get a new time, so that clients which read by time read them again, and ids that only the server
    /// makes go on after all that may have been given out. Versions stay.
    ///
    /// - Returns: how many records were stamped anew.
    /// - Throws: ``SluiceError`` of a store code.
    @discardableResult
    public func restored() async throws -> Int {
        let mark = database.markFile?.read()
        return try await database.write { connection in
            try Self.stampAnew(allTables, mark, environment.now(), connection)
        }
    }

    static func stampAnew(
        _ tables: some Sequence<BackendTable>, _ mark: LastCommit?, _ now: Timestamp, _ connection: SQLiteConnection
    ) throws -> Int {
        try BackendCatalog.skipLostNumbers(mark, connection)
        let floor = max(now, mark?.latest ?? now)
        return try tables.reduce(0) { try $0 + $1.stampAnew(after: floor, connection) }
    }
}
