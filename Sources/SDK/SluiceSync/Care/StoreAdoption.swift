package import SluiceBase
internal import SluiceWire

/// The content of another SDK's local store, on its way into this store: records, waiting changes in their order, and how
/// far queries were pulled.
package struct StoreAdoption: Sendable {
    /// A waiting change. Its ``operation`` has its place in the queue only when it is stored.
    package struct Change: Sendable {
        package var operation: TableOperation
        /// The record after the change; nil for a delete.
        package var record: JSON?
        /// The server's record that the change was made on: its id and version, because no other store keeps more. Nil
        /// where it had none, and where not even the version is known.
        package var base: JSON?
        /// The newest record known from the server; nil if it had none.
        package var mirror: JSON?

        package init(operation: TableOperation, record: JSON?, base: JSON?, mirror: JSON?) {
            self.operation = operation
            (self.record, self.base, self.mirror) = (record, base, mirror)
        }
    }

    /// A query whose rows are stored up to a time.
    package struct Position: Sendable {
        package var query: TableQuery
        package var name: String
        /// The time up to which the server's changes are known, less the time by which commits may come late.
        package var time: Timestamp
        /// Records that the first pull reads once more, besides those with a change of a record that exists.
        package var recheck: [RecordID]

        package init(query: TableQuery, name: String, time: Timestamp, recheck: [RecordID]) {
            (self.query, self.name, self.time, self.recheck) = (query, name, time, recheck)
        }
    }

    /// The name under which the store notes the adoption, so that a second one changes nothing.
    package var name: String
    /// The tables with records or changes.
    package var tables: [String]
    /// The changes, in the order in which the queue has them.
    package var changes: [Change]
    package var positions: [Position]
    /// Calls its argument with each record, and may be called again.
    package var forEachRecord: @Sendable (_ body: (_ table: String, _ record: JSON) throws -> Void) throws -> Void

    package init(
        name: String, tables: [String], changes: [Change], positions: [Position],
        forEachRecord: @escaping @Sendable (_ body: (_ table: String, _ record: JSON) throws -> Void) throws -> Void
    ) {
        (self.name, self.tables, self.changes, self.positions) = (name, tables, changes, positions)
        self.forEachRecord = forEachRecord
    }
}

/// Writes an adoption, inside of one transaction.
struct AdoptionWriter {
    private let writer: any StoreWriter
    private let adoption: StoreAdoption
    private let dialect: Dialect
    private let user: String

    init(_ writer: any StoreWriter, _ adoption: StoreAdoption, _ dialect: Dialect, user: String) {
        (self.writer, self.adoption, self.dialect, self.user) = (writer, adoption, dialect, user)
    }

    func write() throws {
        let staying = try LocalOnly(writer).tables
        for table in adoption.tables { try checkUnused(table) }
        for change in adoption.changes where staying.contains(change.operation.table) {
            throw refusal(change, .operationRefused, "its table stays on this machine, and nothing of it is queued")
        }
        let changed = Set(adoption.changes.map { key($0.operation) })
        try adoption.forEachRecord { table, record in
            let id = try StoreRules.id(of: record, in: table)
            if !changed.contains(RecordState.id(table, id)) { try writer.put(record, in: table) }
        }
        try writeQueue()
        for position in adoption.positions { try put(position) }
        if let problem = try StoreConsistency.problems(in: writer).first {
            throw SluiceError(.invalidRecord, "the adopted content does not fit together: \(problem)")
        }
    }

    private func checkUnused(_ table: String) throws {
        guard try writer.count(matching: TableQuery(table)) == 0 else {
            throw SluiceError(
                .recordExists, "the table has records here already: an old store is adopted into a new one",
                table: table)
        }
        guard try QueueReader(writer).all(in: table).isEmpty else {
            throw SluiceError(.operationsPending, "changes of the table wait here already", table: table)
        }
    }

    private func writeQueue() throws {
        let queue = QueueWriter(writer)
        var next = try queue.reader.nextSequence()
        var known: [RecordID: TableOperation] = [:]
        for change in adoption.changes {
            var operation = change.operation
            try OperationDocument.validate(operation)
            guard try queue.reader.operation(operation.id) == nil else {
                throw refusal(change, .recordExists, "an operation of its id waits here already")
            }
            if var ahead = known[key(operation)] {
                ahead.state = .inFlight
                guard Collapse.decide(queued: ahead, new: operation.kind) == .append else {
                    throw refusal(change, .invalidRecord, "it cannot follow the \(ahead.kind.rawValue) before it")
                }
            } else if operation.kind != .insert || change.mirror != nil {
                try queue.put(
                    RecordState(
                        table: operation.table, recordID: operation.recordID, base: change.base, mirror: change.mirror))
            }
            operation.sequence = next
            next += 1
            operation.user = user
            if operation.isUncertain, operation.kind == .update, change.base == nil, let record = change.record {
                // Without a version the push compares the server's record, with the body that may have been sent.
                let body = RecordRules.withoutSystemColumns(record, dialect.pushColumns.system)
                operation.sent = [
                    SentBody(
                        revision: operation.revision, request: body, final: body, local: record,
                        firstSent: operation.createdAt)
                ]
                operation.doubt()
            }
            try queue.put(operation)
            try queue.setLocal(change.record, operation.recordID, in: operation.table)
            known[key(operation)] = operation
        }
    }

    /// Stores how far a query was pulled, as of nobody: the first user to pull goes on from there, as after a prefilled
    /// store. Records that an update or a delete waits for are read once more, since their content on the server is
    /// unknown.
    private func put(_ position: StoreAdoption.Position) throws {
        let (table, name) = (position.query.table, position.name)
        let owner = Cursor.Owner(endpoint: "", user: "", wire: dialect.name, table: table, name: name)
        var cursor = Cursor(
            owner: owner, query: Cursor.text(of: position.query, dialect.odata),
            position: CursorPosition(updatedAt: position.time.text(fractionDigits: 3)))
        if !cursor.isOfAll {
            cursor.key = try Cursor.nextKey(in: writer)
            // Which rows the query holds is not known, so a reconcile finds those that have left it.
            (cursor.heldAll, cursor.needsReconcile) = (true, true)
        }
        cursor.recheckLater(
            adoption.changes.map(\.operation).filter { $0.table == table && $0.kind != .insert }.map(\.recordID)
                + position.recheck)
        try writer.put(cursor.record, in: Cursor.schema.name)
    }

    private func key(_ operation: TableOperation) -> RecordID { RecordState.id(operation.table, operation.recordID) }

    private func refusal(_ change: StoreAdoption.Change, _ code: SluiceError.Code, _ reason: String) -> SluiceError {
        SluiceError(
            code, "nothing was adopted: \(reason)", table: change.operation.table, recordID: change.operation.recordID,
            operationID: change.operation.id)
    }
}
