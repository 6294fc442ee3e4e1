internal import SluiceCore
internal import SluiceSQLite

/// What the database knows of its tables: their columns, the last version given out, and each table's latest time.
enum BackendCatalog {
    private static let format: Int64 = 3
    /// `SLBE`: tells what kind of database the file is.
    private static let applicationID: Int64 = 0x534C_4245

    /// Makes the catalog in a new database, and checks that of an old one.
    static func prepare(_ connection: SQLiteConnection, path: String) throws {
        let application = try connection.integer("PRAGMA application_id")
        if application == 0, try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
            try connection.execute(
                """
                CREATE TABLE sluice_counter (value INTEGER NOT NULL);
                INSERT INTO sluice_counter VALUES (0);
                CREATE TABLE sluice_tables (
                    name TEXT PRIMARY KEY NOT NULL, columns TEXT NOT NULL, latest INTEGER NOT NULL);
                PRAGMA application_id = \(applicationID);
                \(secondFormat)
                \(thirdFormat)
                """)
            return
        }
        guard application == applicationID else {
            throw SluiceError(.storeSchema, "\(path) is a database of another program; it was left as it is")
        }
        let found = try connection.integer("PRAGMA user_version")
        guard found <= format else {
            throw SluiceError(
                .storeSchema, "the database \(path) has format \(found), which is newer than \(format)")
        }
        if found < 2 { try connection.execute(secondFormat) }
        if found < 3 { try connection.execute(thirdFormat) }
    }

    /// What came with format 2: what was removed of each table, whose life it is (so that a token of another database
    /// is told), and the effects of requests that may be repeated.
    private static let secondFormat = """
        ALTER TABLE sluice_tables ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE sluice_identity (value TEXT NOT NULL);
        INSERT INTO sluice_identity VALUES (lower(hex(randomblob(16))));
        CREATE TABLE sluice_requests (
            user TEXT NOT NULL, request TEXT NOT NULL, fingerprint INTEGER NOT NULL, expires INTEGER NOT NULL,
            answer TEXT NOT NULL, stored TEXT, PRIMARY KEY (user, request)) WITHOUT ROWID;
        CREATE INDEX sluice_requests_expires ON sluice_requests (expires);
        """

    /// What came with format 3: the runs of the backend with their epochs, and the properties that records have had.
    private static let thirdFormat = """
        CREATE TABLE sluice_runs (
            run INTEGER PRIMARY KEY NOT NULL, epoch INTEGER NOT NULL UNIQUE, began INTEGER NOT NULL);
        CREATE TABLE sluice_properties (
            name TEXT NOT NULL, property TEXT NOT NULL, PRIMARY KEY (name, property)) WITHOUT ROWID;
        PRAGMA user_version = \(format);
        """

    /// The columns of a table that has been made; nil for one that has not.
    static func columns(of table: String, _ connection: SQLiteConnection) throws -> [TableSchema.Column]? {
        let rows = try connection.run("SELECT columns FROM sluice_tables WHERE name = ?", [.text(table)])
        guard case .text(let text)? = rows.first?.first else { return nil }
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
        _ columns: [TableSchema.Column], of table: String, _ connection: SQLiteConnection
    ) throws {
        let text = JSON(columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }).description
        try connection.run(
            "INSERT INTO sluice_tables (name, columns, latest) VALUES (?, ?, 0) "
                + "ON CONFLICT (name) DO UPDATE SET columns = excluded.columns", [.text(table), .text(text)])
    }

    /// A number that was never given out before, for an id or a version.
    static func makeNumber(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.integer("UPDATE sluice_counter SET value = value + 1 RETURNING value")
    }

    /// Keeps a number that came from elsewhere, and all below it, from being given out.
    static func noteID(_ number: Int64, _ connection: SQLiteConnection) throws {
        try connection.run("UPDATE sluice_counter SET value = max(value, ?)", [.integer(number)])
    }

    /// A version that was never given out before, and a time later than every other of the table. The open transaction
    /// holds the database's write lock, so versions and times are in the order of commits.
    static func stamp(
        _ table: String, now: Timestamp, _ connection: SQLiteConnection
    ) throws -> (version: String, time: Timestamp) {
        _ = try makeNumber(connection)
        let ticks = try connection.integer(
            "UPDATE sluice_tables SET latest = max(?, latest + 1) WHERE name = ? RETURNING latest",
            [.integer(now.ticks), .text(table)])
        return (try latestPoint(connection).version, Timestamp(ticks: ticks))
    }
}
