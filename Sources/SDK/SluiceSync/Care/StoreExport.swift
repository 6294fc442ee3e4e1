internal import SluiceBase

/// Writes all that a store holds as lines of JSON: records, the queue, what its changes were made on, cursors.
///
/// ```swift
/// let summary = try await StoreExport().write(store) { line in try output.write(line + "\n") }
/// ```
///
/// The first line describes what follows, with the tables as they are declared; then comes a line for each row, the
/// engine's own tables too; the last line counts them, so that a file that was cut off is recognised.
///
/// The file has everything in plain text, whatever the store is encrypted with; it holds no credentials, which no store
/// does.
public struct StoreExport: Sendable {
    /// What is left out.
    public var redactions: [StoreRedaction]
    /// Whether it is for others to begin with: cursors without the user and the server that they were pulled from, and
    /// nothing of what happened here. Such a store goes on by delta from where this one was.
    public var isPrefilled: Bool

    /// What was written.
    public struct Summary: Sendable, Hashable {
        /// How many records of each of the application's tables.
        public var records: [String: Int] = [:]
        /// How many operations of the queue.
        public var operations = 0
        /// How many rows in all, those of the engine's own tables among them.
        public var rows = 0
    }

    /// An export of everything.
    public init(redactions: [StoreRedaction] = [], isPrefilled: Bool = false) {
        self.redactions = redactions
        self.isPrefilled = isPrefilled
    }

    /// Writes the store as it is at one moment.
    ///
    /// - Parameter line: takes each line, without its end. What it throws ends the export.
    /// - Throws: ``SluiceError`` of code `operationsPending` where a store with changes that wait is to be for others;
    ///   `invalidArgument` for a redaction of a table that is not there, or a store for others that was filled for two;
    ///   of the store.
    @discardableResult
    public func write(
        _ store: any LocalStore, to line: @Sendable (String) throws -> Void
    ) async throws -> Summary {
        try await store.read { reader in
            // What stays on a device is not for others.
            let staying = isPrefilled ? try LocalOnly(reader) : LocalOnly()
            let tables = try reader.tables().filter {
                Self.isKept($0.name, isPrefilled: isPrefilled) && !staying.tables.contains($0.name)
            }.sorted { $0.name < $1.name }
            for redaction in redactions where !tables.contains(where: { $0.name == redaction.table }) {
                throw SluiceError(
                    .invalidArgument, "the store has no such table, so nothing of it can be left out",
                    table: redaction.table)
            }
            if isPrefilled, try reader.count(matching: Query(TableOperation.schema.name)) > 0 {
                throw SluiceError(
                    .operationsPending,
                    "changes wait in the queue: push or discard them before the store is for others")
            }
            if isPrefilled { try Self.checkOwners(reader) }
            try line(StoreLines.head(tables, redactions).description)
            let redactor = StoreRedactor(redactions)
            var summary = Summary()
            for table in tables {
                try reader.forEachRecord(in: table.name) { row in
                    guard
                        let shown = redactor.shown(
                            isPrefilled ? Self.forOthers(row.without(staying.columns[table.name]), table.name) : row,
                            of: table.name)
                    else { return }
                    try line(StoreLines.row(shown, of: table.name).description)
                    summary.rows += 1
                    if table.name == TableOperation.schema.name { summary.operations += 1 }
                    if !table.name.hasPrefix(SyncTables.prefix) { summary.records[table.name, default: 0] += 1 }
                }
            }
            try line(StoreLines.end(rows: summary.rows).description)
            return summary
        }
    }

    /// Who holds the lease, and what is under way, is of this store alone.
    private static func isKept(_ table: String, isPrefilled: Bool) -> Bool {
        if table == LeaseRecord.schema.name { return false }
        return !isPrefilled || !table.hasPrefix(SyncTables.prefix)
            || [Cursor.schema, Membership.schema, MigrationNote.schema, LocalOnly.schema].contains { $0.name == table }
    }

    /// A prefilled store has one cursor for each query, whichever user pulled it here.
    private static func checkOwners(_ reader: any StoreReader) throws {
        var owners: Set<RecordID> = []
        for cursor in try reader.records(matching: Query(Cursor.schema.name)).compactMap(Cursor.init(record:)) {
            guard owners.insert(cursor.owner.ofNobody.id).inserted else {
                throw SluiceError(
                    .invalidArgument,
                    "the query \(cursor.owner.name) was pulled from two servers or for two users; a store for others "
                        + "is filled by one", table: cursor.owner.table)
            }
        }
    }

    private static func forOthers(_ row: JSON, _ table: String) -> JSON {
        guard table == Cursor.schema.name, var cursor = Cursor(record: row) else { return row }
        cursor.owner = cursor.owner.ofNobody
        return cursor.record
    }
}
