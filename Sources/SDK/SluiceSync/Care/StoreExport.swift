internal import SluiceBase

/// Writes a store's whole content as lines of JSON: records, the queue, the bases of its changes, cursors.
///
/// ```swift
/// let summary = try await StoreExport().write(store) { line in try output.write(line + "\n") }
/// ```
///
/// The first line is a head with the declared tables. A line for each row follows, the engine's own tables included.
/// The last line counts the rows, so that a truncated file is recognised.
///
/// The file has everything in plain text, even if the store is encrypted. It holds no credentials, because no store
/// does.
public struct StoreExport: Sendable {
    /// The content to leave out.
    public var redactions: [StoreExport.Redaction]
    /// Whether the export is a prefilled store for other devices: it has cursors without their user and server, and no
    /// history of this device. Such a store continues by delta from this one's position.
    public var isPrefilled: Bool

    /// The counts of an export.
    public struct Summary: Sendable, Hashable {
        /// The number of records of each of the application's tables.
        public var records: [String: Int] = [:]
        /// The number of operations of the queue.
        public var operations = 0
        /// The number of rows in all, the engine's own tables included.
        public var rows = 0
    }

    /// An export of everything.
    public init(redactions: [StoreExport.Redaction] = [], isPrefilled: Bool = false) {
        self.redactions = redactions
        self.isPrefilled = isPrefilled
    }

    /// Writes the store's state at one moment.
    ///
    /// - Parameter line: takes each line, without its end. An error from it ends the export.
    /// - Throws: ``SluiceError`` of code `operationsPending` for a prefilled export of a store with waiting changes;
    ///   `invalidArgument` for a redaction of a missing table, or a prefilled export of a store filled for two; of the
    ///   store.
    @discardableResult
    public func write(
        _ store: any LocalStore, to line: @Sendable (String) throws -> Void
    ) async throws -> Summary {
        try await store.read { reader in
            // Local-only data is not part of a prefilled store.
            let staying = isPrefilled ? try LocalOnly(reader) : LocalOnly()
            let tables = try reader.tables().filter {
                Self.isKept($0.name, isPrefilled: isPrefilled) && !staying.tables.contains($0.name)
            }.sorted { $0.name < $1.name }
            for redaction in redactions where !tables.contains(where: { $0.name == redaction.table }) {
                throw SluiceError(
                    .invalidArgument, "the store has no such table, so nothing of it can be left out",
                    table: redaction.table)
            }
            if isPrefilled, try reader.count(matching: TableQuery(TableOperation.schema.name)) > 0 {
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

    /// Whether a table is exported. The lease and the work in progress belong to this store alone.
    private static func isKept(_ table: String, isPrefilled: Bool) -> Bool {
        if table == LeaseRecord.schema.name { return false }
        return !isPrefilled || !table.hasPrefix(SyncTables.prefix)
            || [Cursor.schema, Membership.schema, MigrationNote.schema, LocalOnly.schema].contains { $0.name == table }
    }

    /// Checks that each query has one cursor, since a prefilled store keeps one, regardless of the user.
    private static func checkOwners(_ reader: any StoreReader) throws {
        var owners: Set<RecordID> = []
        for cursor in try reader.records(matching: TableQuery(Cursor.schema.name)).compactMap(Cursor.init(record:)) {
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
