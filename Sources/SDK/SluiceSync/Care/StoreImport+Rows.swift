internal import SluiceBase

extension StoreImport {
    /// Puts a row, if it is valid for its table.
    ///
    /// Rows of some of the engine's own tables are parsed first, because the engine depends on their content:
    /// operations, bases, cursors, unanswered sends, the quarantine and the audit. Of change stamps, members of
    /// queries, notes of migrations, local-only settings and schedule states only the numbers are checked. Values of
    /// plugins are left to the plugins.
    static func put(_ row: JSON, in table: String, _ writer: any StoreWriter) throws {
        let id = try StoreRules.id(of: row, in: table)
        let isNote = table == MigrationNote.schema.name || table == LocalOnly.schema.name
        guard try isNote || writer.record(id, in: table) == nil else {
            throw SluiceError(.invalidRecord, "a row of this id came before")
        }
        if own.contains(table) { try checkCounters(row) }
        switch table {
        case LeaseRecord.schema.name: throw SluiceError(.invalidRecord, "a lease is of one store alone")
        case TableOperation.schema.name: try writer.put(operation(row).row)
        default:
            try check(row, id, of: table)
            try writer.put(row, in: table)
        }
    }

    /// Reads an operation. One that was in flight may have arrived, or may still arrive, so it becomes uncertain.
    private static func operation(_ row: JSON) throws -> TableOperation {
        var operation = try TableOperation(record: row)
        try OperationDocument.validate(operation)
        operation = operation.landed
        if operation.state == .inFlight { operation.state = .pending }
        return operation
    }

    private static func check(_ row: JSON, _ id: RecordID, of table: String) throws {
        switch table {
        case RecordState.schema.name:
            let state = try RecordState(record: row)
            guard id == RecordState.id(state.table, state.recordID) else {
                throw SluiceError(.invalidRecord, "a base has another id than its record")
            }
        case Cursor.schema.name:
            guard Cursor(record: row) != nil else { throw SluiceError(.invalidRecord, "the cursor cannot be read") }
        case UnansweredSend.schema.name: try checkUnansweredSend(row, id)
        case QuarantinedRow.schema.name:
            guard QuarantinedRow(record: row) != nil else {
                throw SluiceError(.invalidRecord, "the row in the quarantine cannot be read")
            }
        case SyncTables.audit.name: _ = try AuditEntry(record: row)
        default: break
        }
    }

    /// Checks an unanswered send, because it makes the engine delete rows on the server that match one of its bodies.
    private static func checkUnansweredSend(_ row: JSON, _ id: RecordID) throws(SluiceError) {
        guard let send = UnansweredSend(record: row) else {
            throw SluiceError(.invalidRecord, "the unanswered send cannot be read")
        }
        guard id == RecordState.id(send.table, send.recordID) else {
            throw SluiceError(.invalidRecord, "an unanswered send has another id than its record")
        }
        // An empty body would match any row.
        guard send.bodies.allSatisfy({ $0.names.contains { $0 != "id" } }) else {
            throw SluiceError(.invalidRecord, "an unanswered send has a body that says nothing")
        }
    }

    /// Refuses counters that are so large that they would overflow later.
    private static func checkCounters(_ row: JSON) throws {
        for (name, value) in row.members ?? [] where value.number != nil {
            guard let number = value.int, (0...1 << 50).contains(number) else {
                throw SluiceError(.invalidRecord, "\(name) is no count")
            }
        }
        for name in ["revision", "attempts", "failedAttempts"] where (row[name]?.int ?? 0) > 1_000_000_000 {
            throw SluiceError(.invalidRecord, "\(name) is no count")
        }
    }
}
