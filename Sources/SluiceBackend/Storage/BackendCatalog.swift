internal import SluiceCore

/// What the database knows of its tables: their columns, the last version given out, and each table's latest time.
enum BackendCatalog {
    /// The columns of a table that has been made; nil for one that has not.
    static func columns(of table: String, _ connection: any StorageConnection) throws -> [TableSchema.Column]? {
        let rows = try connection.run("SELECT columns FROM sluice_tables WHERE name = $1", [.text(table)])
        guard case .text(let text)? = rows.first?.first else { return nil }
        return try columns(text, of: table)
    }

    /// The columns in the text that the catalog has of them.
    static func columns(_ text: String, of table: String) throws -> [TableSchema.Column] {
        do {
            return try (JSON(parsing: text).elements ?? []).map { column in
                guard let name = column[0]?.string, let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
                else { throw SluiceError(.storeSchema, "a column of a type that this version does not know") }
                return .init(PropertyName(name), type)
            }
        } catch {
            throw SluiceError(.storeSchema, "the list of columns cannot be read", table: table, cause: error)
        }
    }

    /// Notes a table's columns.
    static func setColumns(
        _ columns: [TableSchema.Column], of table: String, _ connection: any StorageConnection
    ) throws {
        try connection.settle()
        let text = JSON(columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }).description
        try connection.run(
            "INSERT INTO sluice_tables (name, columns, latest) VALUES ($1, $2, 0) "
                + "ON CONFLICT (name) DO UPDATE SET columns = excluded.columns", [.text(table), .text(text)])
        connection.columnsChanged()
    }

    /// A number that was never given out before, for an id or a version.
    static func makeNumber(_ connection: any StorageConnection) throws -> Int64 {
        try connection.makeNumber()
    }

    /// Keeps a number that came from elsewhere, and all below it, from being given out.
    static func noteID(_ number: Int64, _ connection: any StorageConnection) throws {
        try connection.settle()
        try connection.run("UPDATE sluice_counter SET value = $1 WHERE value < $1", [.integer(number)])
    }

    /// A version that was never given out before, and a time later than every other of the table. The open transaction
    /// holds the database's write lock, so versions and times are in the order of commits.
    static func stamp(
        _ table: String, now: Timestamp, _ connection: any StorageConnection
    ) throws -> (version: String, time: Timestamp) {
        _ = try makeNumber(connection)
        let time = try connection.makeTime(of: table, now: now)
        return (try connection.latestPoint().version, time)
    }
}
