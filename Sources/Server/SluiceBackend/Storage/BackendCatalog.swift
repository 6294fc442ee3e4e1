internal import Foundation
internal import SluiceCore

/// The catalog of the database: the tables' columns, the last assigned version, and each table's latest time.
enum BackendCatalog {
    /// Returns the columns of an existing table; nil for a missing one.
    static func columns(of table: String, _ connection: any StorageConnection) throws -> [TableSchema.Column]? {
        let rows = try connection.run("SELECT columns FROM sluice_tables WHERE name = $1", [.text(table)])
        guard case .text(let text)? = rows.first?.first else { return nil }
        return try columns(text, of: table)
    }

    /// Parses the columns from the catalog's text.
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

    /// Stores a table's columns.
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

    /// Assigns a new number, never used before, for an id or a version.
    static func makeNumber(_ connection: any StorageConnection) throws -> Int64 {
        try connection.makeNumber()
    }

    /// Reserves a number from elsewhere, and all below it.
    static func noteID(_ number: Int64, _ connection: any StorageConnection) throws {
        try connection.settle()
        try connection.run("UPDATE sluice_counter SET value = $1 WHERE value < $1", [.integer(number)])
    }

    /// Assigns a new version, and a time later than every other of the table. The open transaction holds the database's
    /// write lock, so versions and times are in the order of commits.
    static func stamp(
        _ table: String, now: Timestamp, _ connection: any StorageConnection
    ) throws -> (version: String, time: Timestamp) {
        _ = try makeNumber(connection)
        let time = try connection.makeTime(of: table, now: now)
        return (try connection.latestPoint().version, time)
    }
}

/// The order of a table's changes. The time of each write serves as its number: it is assigned inside the only writing
/// transaction, never twice, and grows with each commit even if the clock goes back.
extension BackendCatalog {
    /// The bounds of a table's known changes.
    struct Changes: Sendable {
        /// The latest change.
        var latest: Timestamp
        /// The latest change without a trace: the final removal of a record. A client that knows only earlier changes
        /// cannot get all later ones.
        var removed: Timestamp
    }

    /// Reads the bounds of a table's changes.
    static func changes(of table: String, _ connection: any StorageConnection) throws -> Changes {
        try connection.settle()
        let rows = try connection.run("SELECT latest, removed FROM sluice_tables WHERE name = $1", [.text(table)])
        guard let row = rows.first, case .integer(let latest) = row[0], case .integer(let removed) = row[1] else {
            throw SluiceError(.storeSchema, "the table is not in the catalog", table: table)
        }
        return Changes(latest: Timestamp(ticks: latest), removed: Timestamp(ticks: removed))
    }

    /// Records the removal of a tombstone of that time.
    static func noteRemoval(of table: String, tombstone: Timestamp, _ connection: any StorageConnection) throws {
        try connection.run(
            "UPDATE sluice_tables SET removed = $1 WHERE removed < $1 AND name = $2",
            [.integer(tombstone.ticks), .text(table)])
    }

    /// Records the removal of a living record: a change without a row.
    static func noteRemoval(of table: String, now: Timestamp, _ connection: any StorageConnection) throws {
        // Every change needs a point of the history.
        _ = try makeNumber(connection)
        let time = try connection.makeTime(of: table, now: now)
        try connection.run(
            "UPDATE sluice_tables SET removed = $1 WHERE name = $2", [.integer(time.ticks), .text(table)])
    }

    /// Returns the identity of the database, which distinguishes it from all others, including earlier ones at its
    /// place.
    static func identity(_ connection: any StorageConnection) throws -> String {
        guard case .text(let text)? = try connection.run("SELECT value FROM sluice_identity").first?.first else {
            throw SluiceError(.storeSchema, "the database does not say which it is")
        }
        return text
    }
}

/// The database's history: its runs and its points.
extension BackendCatalog {
    /// The number of remembered runs. Change tokens of earlier ones are invalid.
    private static let mostRuns = 10_000
    /// The numbers skipped after a restore: more than can have been assigned and lost.
    private static let restoredGap: Int64 = 1_000_000

    /// Begins a run. `chance` is a number from 0 to 1.
    static func beginRun(chance: Double, _ connection: any StorageConnection) throws {
        try connection.settle()
        let most = Double(UInt32.max)
        var epoch = UInt32(exactly: (min(max(chance, 0), 1) * most).rounded()) ?? 0
        while try connection.integer("SELECT count(*) FROM sluice_runs WHERE epoch = $1", [.integer(Int64(epoch))]) > 0
        {
            epoch &+= 1
        }
        try connection.run(
            "INSERT INTO sluice_runs (epoch, began) SELECT $1, value FROM sluice_counter", [.integer(Int64(epoch))])
        try connection.run(
            "DELETE FROM sluice_runs WHERE run <= (SELECT max(run) FROM sluice_runs) - $1", [.integer(Int64(mostRuns))])
    }

    /// Reads the latest point from the catalog's tables.
    static func storedPoint(_ connection: any StorageConnection) throws -> HistoryPoint {
        guard let point = point(try connection.run(pointSQL)) else {
            throw SluiceError(.storeSchema, "no run of the database has begun")
        }
        return point
    }

    /// The query for the latest point.
    static let pointSQL = "SELECT epoch, value FROM sluice_runs, sluice_counter ORDER BY run DESC LIMIT 1"

    /// Reads the point from the result of ``pointSQL``; nil before the first run.
    static func point(_ rows: [[SQLValue]]) -> HistoryPoint? {
        guard let row = rows.first, case .integer(let epoch) = row[0], case .integer(let number) = row[1],
            let epoch = UInt32(exactly: epoch)
        else { return nil }
        return HistoryPoint(epoch: epoch, number: number)
    }

    /// Whether a point is in the database's history: it knows the run, and the run has reached the number.
    static func has(_ point: HistoryPoint, _ connection: any StorageConnection) throws -> Bool {
        let rows = try connection.run(
            """
            SELECT coalesce(
                (SELECT later.began FROM sluice_runs AS later WHERE later.run > own.run ORDER BY later.run LIMIT 1),
                (SELECT value FROM sluice_counter))
            FROM sluice_runs AS own WHERE own.epoch = $1
            """, [.integer(Int64(point.epoch))])
        guard case .integer(let end)? = rows.first?.first else { return false }
        return point.number >= 0 && point.number <= end
    }

    /// Whether the database has lost the state of `mark`.
    static func isRestored(_ mark: LastCommit?, _ connection: any StorageConnection) throws -> Bool {
        // A new database cannot have lost anything.
        guard try connection.integer("SELECT count(*) FROM sluice_tables") > 0 else { return false }
        guard let mark else { return true }
        guard try mark.identity == identity(connection) else { return true }
        return try !has(mark.point, connection)
    }

    /// Skips the numbers that may have been assigned as ids and lost.
    static func skipLostNumbers(_ mark: LastCommit?, _ connection: any StorageConnection) throws {
        let lost = min(max(mark?.point.number ?? 0, 0), 1 << 52)
        try connection.settle()
        try connection.run(
            "UPDATE sluice_counter SET value = CASE WHEN value < $1 THEN $1 ELSE value END + $2",
            [.integer(lost), .integer(restoredGap)])
    }

    /// Moves a table's latest change to a time, unless there are later ones.
    static func noteChange(of table: String, at time: Timestamp, _ connection: any StorageConnection) throws {
        try connection.settle()
        try connection.run(
            "UPDATE sluice_tables SET latest = $1 WHERE latest < $1 AND name = $2",
            [.integer(time.ticks), .text(table)])
    }
}

/// A point in a database's history: a change, by its number and the epoch of the run that made it.
///
/// A run begins whenever the database is opened, with an epoch drawn by chance. The numbers continue from run to run.
/// After the restore of a backup the same numbers are assigned again, but in a run with another epoch, so that no point
/// occurs twice. A point that is not in the database belongs to a lost history.
struct HistoryPoint: Sendable, Hashable {
    /// The epoch of the run.
    var epoch: UInt32
    /// The latest number that the database had assigned to a change or an id.
    var number: Int64

    /// The point's 12 bytes, the highest first.
    var bytes: Data {
        var bytes = Data()
        withUnsafeBytes(of: epoch.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The version of a record that was changed at this point: base64 of ``bytes``, alike to SQL Server's rowversion.
    var version: String { bytes.base64EncodedString() }
}
