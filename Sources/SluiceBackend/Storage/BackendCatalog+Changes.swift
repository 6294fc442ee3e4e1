internal import SluiceCore

/// The order of a table's changes. The time that each write is stamped with serves as its number: it is given inside
/// the one transaction that writes, never twice, and grows from commit to commit whatever the clock does.
extension BackendCatalog {
    /// What is known of a table's changes.
    struct Changes: Sendable {
        /// The latest change.
        var latest: Timestamp
        /// The latest change of which nothing is left: a record that was removed for good. Who has heard of changes
        /// before it only cannot be told all that happened since.
        var removed: Timestamp
    }

    /// Where a table's changes stand.
    static func changes(of table: String, _ connection: any StorageConnection) throws -> Changes {
        try connection.settle()
        let rows = try connection.run("SELECT latest, removed FROM sluice_tables WHERE name = $1", [.text(table)])
        guard let row = rows.first, case .integer(let latest) = row[0], case .integer(let removed) = row[1] else {
            throw SluiceError(.storeSchema, "the table is not in the catalog", table: table)
        }
        return Changes(latest: Timestamp(ticks: latest), removed: Timestamp(ticks: removed))
    }

    /// Notes that a tombstone of that time is removed.
    static func noteRemoval(of table: String, tombstone: Timestamp, _ connection: any StorageConnection) throws {
        try connection.run(
            "UPDATE sluice_tables SET removed = $1 WHERE removed < $1 AND name = $2",
            [.integer(tombstone.ticks), .text(table)])
    }

    /// Notes that a living record is removed: a change of which no row tells.
    static func noteRemoval(of table: String, now: Timestamp, _ connection: any StorageConnection) throws {
        // Every change is a point of the history.
        _ = try makeNumber(connection)
        let time = try connection.makeTime(of: table, now: now)
        try connection.run(
            "UPDATE sluice_tables SET removed = $1 WHERE name = $2", [.integer(time.ticks), .text(table)])
    }

    /// What tells this database from every other, and from what was in its place before.
    static func identity(_ connection: any StorageConnection) throws -> String {
        guard case .text(let text)? = try connection.run("SELECT value FROM sluice_identity").first?.first else {
            throw SluiceError(.storeSchema, "the database does not say which it is")
        }
        return text
    }
}
