internal import SluiceCore
internal import SluiceSQLite

/// The catalog's tables in a SQLite file, and how those of earlier versions become them.
enum SQLiteCatalog {
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
}
