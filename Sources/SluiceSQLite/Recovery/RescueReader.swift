internal import SluiceCore

/// What was rescued of a damaged store.
struct RescuedQueue: Sendable {
    var operations: [TableOperation] = []
    /// The tables that the new store declares.
    var schemas: [TableSchema] = SyncTables.all
    /// The records to put, each with its table.
    var records: [(table: String, record: JSON)] = []
    /// Whether all of the engine's tables could be read.
    var isWhole = false
}

/// Reads what a damaged file still holds of the queue: the operations, what each stands on, the local rows they are
/// about, and the audit.
struct RescueReader {
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// - Throws: ``SluiceError`` where not even the list of tables can be read.
    func queue() throws -> RescuedQueue {
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'sluice_operations'") > 0 else {
            throw SluiceError(.storeCorrupt, "the file \(connection.path) has no queue")
        }
        var rescued = RescuedQueue()
        rescued.isWhole = true
        do {
            try connection.catalog.refresh(connection)
        } catch {
            // The engine's own tables are known; what the application declared is not.
            rescued.isWhole = false
        }
        let own = Set(SyncTables.all.map(\.name))
        rescued.schemas += connection.catalog.schemas.filter { !own.contains($0.name) }
        let operations = read(TableOperation.schema, &rescued.isWhole).map { try? TableOperation(record: $0) }
        if operations.contains(where: { $0 == nil }) { rescued.isWhole = false }
        var states: [String: JSON] = [:]
        for state in read(RecordState.schema, &rescued.isWhole) { states[state["id"]?.string ?? ""] = state }
        for entry in read(SyncTables.audit, &rescued.isWhole) { rescued.records.append((SyncTables.audit.name, entry)) }
        let found = operations.compactMap(\.self).sorted { $0.sequence < $1.sequence }
        let rows = rows(of: Set(found.map(\.table)))
        for operation in found { rescue(operation, rows, states, into: &rescued) }
        return rescued
    }

    private func rescue(
        _ operation: TableOperation, _ rows: [String: [String: JSON]], _ states: [String: JSON],
        into rescued: inout RescuedQueue
    ) {
        var operation = operation
        let (table, id) = (operation.table, operation.recordID)
        let state = states[RecordState.id(table, id)]
        let row = rows[table]?[id] ?? operation.frozen ?? operation.sent.last?.local
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
        if let row, rows[table]?[id] != nil || operation.kind != .delete { rescued.records.append((table, row)) }
        if let state { rescued.records.append((RecordState.schema.name, state)) }
        rescued.records.append((TableOperation.schema.name, operation.record))
        rescued.operations.append(operation)
    }

    /// The sequence of the first operation on the record, which is the one that the base belongs to.
    private func first(_ id: String, _ table: String, _ rescued: RescuedQueue, _ operation: TableOperation) -> Int64 {
        rescued.operations.first { $0.recordID == id && $0.table == table }?.sequence ?? operation.sequence
    }

    /// The readable rows of the application's tables, by table and id.
    private func rows(of tables: Set<String>) -> [String: [String: JSON]] {
        var rows: [String: [String: JSON]] = [:]
        for name in tables {
            guard let table = connection.catalog.table(name) else { continue }
            var isWhole = true
            for record in read(table, &isWhole) { rows[name, default: [:]][record["id"]?.string ?? ""] = record }
        }
        return rows
    }

    private func read(_ schema: TableSchema, _ isWhole: inout Bool) -> [JSON] {
        read(connection.catalog.table(schema.name) ?? RecordTable(schema), &isWhole)
    }

    /// The table's records: from its first on until one cannot be read, and from its last back to there.
    private func read(_ table: RecordTable, _ isWhole: inout Bool) -> [JSON] {
        var found: [String: JSON] = [:]
        for order in ["ASC", "DESC"] {
            do {
                let statement = try connection.statement(table.selectSQL + " NOT INDEXED ORDER BY _rowid_ \(order)")
                defer { statement.reset() }
                while try statement.step() {
                    if let record = try? table.record(statement), let id = record["id"]?.string, !id.isEmpty {
                        found[id] = record
                    } else {
                        isWhole = false
                    }
                }
                return Array(found.values)
            } catch {
                isWhole = false
            }
        }
        return Array(found.values)
    }
}
