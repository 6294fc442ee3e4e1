/// Writes all that a store holds as lines of JSON: records, the queue, what its changes were made on, cursors.
///
/// ```swift
/// let summary = try await StoreExport().write(store) { line in try file.write(line + "\n") }
/// ```
///
/// The first line says what follows, with the tables as they are declared; then comes a line for each row, the engine's
/// own tables too; the last line counts them, so that a file that was cut off is told from a whole one.
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
    ///   of the store.
    @discardableResult
    public func write(
        _ store: any LocalStore, to line: @Sendable (String) throws -> Void
    ) async throws -> Summary {
        try await store.read { reader in
            let tables = try reader.tables().filter { Self.isKept($0.name, isPrefilled: isPrefilled) }
                .sorted { $0.name < $1.name }
            if isPrefilled, try reader.count(matching: Query(TableOperation.schema.name)) > 0 {
                throw SluiceError(
                    .operationsPending,
                    "changes wait in the queue: push or discard them before the store is for others")
            }
            try line(StoreLines.head(tables, redactions).description)
            let redactor = StoreRedactor(redactions)
            var summary = Summary()
            for table in tables {
                try reader.forEachRecord(in: table.name) { row in
                    guard
                        let shown = redactor.shown(isPrefilled ? Self.forOthers(row, table.name) : row, of: table.name)
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
            || [Cursor.schema.name, Membership.schema.name].contains(table)
    }

    private static func forOthers(_ row: JSON, _ table: String) -> JSON {
        guard table == Cursor.schema.name, var cursor = Cursor(record: row) else { return row }
        cursor.owner = cursor.owner.ofNobody
        return cursor.record
    }
}
