internal import SluiceCore

/// The rescued content of a damaged store.
struct RescuedQueue: Sendable {
    var operations: [TableOperation] = []
    /// The tables that the new store declares.
    var schemas: [TableSchema] = SyncTables.all
    /// The records to put, each with its table.
    var records: [(table: String, record: JSON)] = []
    /// Whether all of the engine's tables could be read.
    var isWhole = false
}

/// Reads a damaged file's queue: the operations, their bases, their local rows, the audit, and records that exist
/// nowhere else.
struct RescueReader {
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// - Throws: ``SluiceError`` if not even the list of tables can be read, and if the disk fails.
    func queue() throws -> RescuedQueue {
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'sluice_operations'") > 0 else {
            throw SluiceError(.storeCorrupt, "the file \(connection.path) has no queue")
        }
        var rescued = RescuedQueue()
        rescued.isWhole = true
        do {
            rescued.isWhole = try connection.catalog.refreshReadable(connection)
        } catch let error as SluiceError where !error.isOfStorage {
            // The engine's own tables are known; the application's declarations are not.
            rescued.isWhole = false
        }
        let own = Set(SyncTables.all.map(\.name))
        rescued.schemas += connection.catalog.schemas.filter { !own.contains($0.name) }
        let operations = try read(TableOperation.schema, &rescued.isWhole).map { try? TableOperation(record: $0) }
        if operations.contains(where: { $0 == nil }) { rescued.isWhole = false }
        var states: [RecordID: JSON] = [:]
        for state in try read(RecordState.schema, &rescued.isWhole) {
            if (try? RecordState(record: state)) == nil {
                rescued.isWhole = false
            } else {
                states[state["id"]?.textID ?? ""] = state
            }
        }
        for entry in try read(SyncTables.audit, &rescued.isWhole) {
            rescued.records.append((SyncTables.audit.name, entry))
        }
        // A request that was sent may still arrive late.
        for tombstone in try readKept(UnansweredSend.schema, &rescued.isWhole) {
            rescued.records.append((UnansweredSend.schema.name, tombstone))
        }
        // Migrations of these records must not run again; local-only records exist nowhere else.
        for note in try readKept(MigrationNote.schema, &rescued.isWhole) {
            rescued.records.append((MigrationNote.schema.name, note))
        }
        for note in try readKept(LocalOnly.schema, &rescued.isWhole) {
            rescued.records.append((LocalOnly.schema.name, note))
            guard note["whole"]?.bool == true, let name = note["id"]?.string,
                let table = connection.catalog.table(name)
            else { continue }
            for row in try read(table, &rescued.isWhole) { rescued.records.append((name, row)) }
        }
        let found = operations.compactMap(\.self).sorted { $0.sequence < $1.sequence }
        let rows = try rows(of: Set(found.map { ExactName($0.table) }))
        let last = Dictionary(found.map { (Self.key($0), $0.kind) }, uniquingKeysWith: { _, last in last })
        for operation in found {
            let isDeleted = last[Self.key(operation)] == .delete
            rescue(operation, isDeleted: isDeleted, rows, states, into: &rescued)
        }
        return rescued
    }

    private static func key(_ operation: TableOperation) -> RecordID {
        RecordState.id(operation.table, operation.recordID)
    }

    /// - Parameter isDeleted: whether the last operation on the record is a delete.
    private func rescue(
        _ operation: TableOperation, isDeleted: Bool, _ rows: [ExactName: [RecordID: JSON]],
        _ states: [RecordID: JSON], into rescued: inout RescuedQueue
    ) {
        var operation = operation
        let (table, id) = (operation.table, operation.recordID)
        let state = states[Self.key(operation)]
        let stored = rows[ExactName(table)]?[id]
        // The content sent for an earlier revision is not the last write.
        let row = stored ?? operation.frozen ?? operation.sent.last { $0.revision == operation.revision }?.local
        var missing: String?
        if state == nil, operation.kind != .insert, operation.sequence == first(id, table, rescued, operation) {
            missing = "what the change was made on"
        }
        if row == nil, operation.kind == .insert || operation.kind == .update { missing = "the record" }
        if let missing {
            operation.state = .parked
            operation.failure = .init(
                code: SluiceError.Code.storeCorrupt.description,
                message:
                    "\(missing) could not be rescued from the damaged store; discard the change, or edit the record")
        }
        if let row, !isDeleted { rescued.records.append((table, row)) }
        if let state { rescued.records.append((RecordState.schema.name, state)) }
        rescued.records.append((TableOperation.schema.name, operation.record))
        rescued.operations.append(operation)
    }

    /// Returns the sequence of the first operation on the record, to which the base belongs.
    private func first(_ id: RecordID, _ table: String, _ rescued: RescuedQueue, _ operation: TableOperation) -> Int64 {
        rescued.operations.first {
            $0.recordID == id && ExactName($0.table) == ExactName(table)
        }?.sequence ?? operation.sequence
    }

    /// Returns the readable rows of the application's tables, by table and id.
    private func rows(of tables: Set<ExactName>) throws -> [ExactName: [RecordID: JSON]] {
        var rows: [ExactName: [RecordID: JSON]] = [:]
        for name in tables {
            guard let table = connection.catalog.table(name.text) else { continue }
            var isWhole = true
            for record in try read(table, &isWhole) {
                rows[name, default: [:]][record["id"]?.textID ?? ""] = record
            }
        }
        return rows
    }

    /// Reads as ``read(_:_:)``, for a table that older stores do not have.
    private func readKept(_ schema: TableSchema, _ isWhole: inout Bool) throws -> [JSON] {
        try connection.catalog.table(schema.name).map { try read($0, &isWhole) } ?? []
    }

    private func read(_ schema: TableSchema, _ isWhole: inout Bool) throws -> [JSON] {
        try read(connection.catalog.table(schema.name) ?? RecordTable(schema), &isWhole)
    }

    /// Reads the table's records: forward from its first until one cannot be read, backward from its last to there, and
    /// those in between one by one.
    private func read(_ table: RecordTable, _ isWhole: inout Bool) throws -> [JSON] {
        var scan = RescueScan(table, connection)
        let first = try scan.rows("ORDER BY _rowid_ ASC")
        if !first.reachedEnd {
            let last = try scan.rows("ORDER BY _rowid_ DESC").number ?? .max
            let start = max(0, first.number ?? 0)
            let end = min(last, start.addingReportingOverflow(Self.mostLookups).partialValue)
            for number in start..<max(start, end) where number > start {
                _ = try scan.rows("WHERE _rowid_ = ?", [.integer(number)])
            }
        }
        if !scan.isWhole { isWhole = false }
        return Array(scan.found.values)
    }

    /// The number of rows that are read one by one in a gap of a table.
    private static let mostLookups: Int64 = 100_000
}

/// Reads rows of a table that may be damaged; a row may be read repeatedly.
private struct RescueScan {
    private let table: RecordTable
    private let connection: SQLiteConnection
    /// The rows read so far, by id.
    private(set) var found: [RecordID: JSON] = [:]
    /// Whether every row met so far was readable.
    private(set) var isWhole = true
    /// The statement of the last clause: a gap reuses the same one 100,000 times.
    private var last: (clause: String, statement: SQLiteStatement)?

    init(_ table: RecordTable, _ connection: SQLiteConnection) {
        self.table = table
        self.connection = connection
    }

    /// Reads the rows that the clause selects, until one is on an unreadable page.
    ///
    /// - Returns: the number of the last row read, and whether there were no more.
    /// - Throws: ``SluiceError`` if the disk fails.
    mutating func rows(_ clause: String, _ values: [SQLValue] = []) throws -> (number: Int64?, reachedEnd: Bool) {
        var number: Int64?
        do {
            try read(clause, values, &number)
            return (number, true)
        } catch let error as SluiceError where !error.isOfStorage {
            isWhole = false
            return (number, false)
        }
    }

    private mutating func read(_ clause: String, _ values: [SQLValue], _ number: inout Int64?) throws {
        let statement =
            if let last, last.clause == clause { last.statement } else {
                try connection.statement("\(table.numberedSelectSQL) NOT INDEXED \(clause)")
            }
        last = (clause, statement)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {
            number = statement.int(table.numberColumn)
            if let record = try? table.record(statement), let id = record["id"]?.textID, !id.isEmpty {
                found[id] = record
            } else {
                isWhole = false
            }
        }
    }
}

extension SluiceError {
    /// Whether the cause is the disk or another process, and not the content of a file.
    var isOfStorage: Bool { [.storeInputOutput, .storeFull, .storeBusy, .storeClosed].contains(code) }
}
