public import SluiceBase

extension SyncContext {
    /// Removes rows from the local store without telling the server, and forgets how far they were pulled, so that the
    /// next pull brings what belongs here.
    ///
    /// - Parameters:
    ///   - query: which rows of the table; its order, `top` and `skip` do not count.
    ///   - queryName: of those rows only the ones that the query of that name holds, and no other: it lets them go. The
    ///     query is the one of this context's server and user; without a client it is each of that name.
    ///   - force: also gives up the changes that wait, each noted in the audit, and with them all of their groups. Only
    ///     for a whole table.
    /// - Returns: how many rows were removed.
    /// - Throws: ``SluiceError`` of code `operationsPending` while changes wait, `invalidArgument` for a name that
    ///   nothing was pulled under or for `force` with a query, or of the store.
    @discardableResult
    public func purge(_ query: Query, named queryName: String? = nil, force: Bool = false) async throws -> Int {
        try SyncTables.validate(query.table)
        guard !force || (query.filter == nil && queryName == nil) else {
            throw SluiceError(
                .invalidArgument, "a forced purge is of the whole table: with a query it could orphan changes",
                table: query.table)
        }
        let environment = options.environment
        let columns = dialect.pushColumns
        let source = source
        let (table, filter) = (query.table, query.filter)
        return try await exclusively { store in
            try await store.write(at: .membership, environment, from: .purge) { writer in
                let queue = QueueWriter(writer)
                let operations = try queue.reader.all(in: table)
                guard force || operations.isEmpty else {
                    throw SluiceError(
                        .operationsPending,
                        "the queue has \(operations.count.counted("change")) of this table; push or discard first, or force",
                        table: table)
                }
                for operation in operations {
                    let local = try writer.record(operation.recordID, in: table)
                    try queue.audit(operation, "purge", local: local, at: environment.now())
                    try queue.remove(operation)
                }
                if force {
                    // The rest of a group that is not whole any more would be sent without what was given up.
                    try Discard(
                        columns: columns, environment: environment, store: writer, queue: queue, reason: "purge",
                        lateRowsStay: true
                    ).carryOut(groups: Set(operations.compactMap(\.group)))
                    // What is given up is not sent to the server later, perhaps in another user's name.
                    try Self.forget(UnansweredSend.schema, of: table, writer)
                }
                let cursors = try Cursor.all(of: table, in: writer)
                let rows = Query(table, filter: filter)
                guard let queryName else {
                    return try Self.purge(rows, cursors, writer)
                }
                let mine = cursors.filter {
                    $0.owner.name.hasSameBytes(as: queryName) && (source == nil || $0.owner.source == source)
                }
                guard !mine.isEmpty else {
                    throw SluiceError(
                        .invalidArgument, "nothing was pulled under the name \(queryName)", table: table)
                }
                return try Self.purge(mine, cursors.filter { !mine.contains($0) }, of: source, rows, writer)
            }
        }
    }

    /// Removes rows, whoever holds them. Queries that may have held some are pulled afresh; those of a whole table that
    /// is emptied are forgotten.
    private static func purge(_ rows: Query, _ cursors: [Cursor], _ writer: any StoreWriter) throws -> Int {
        guard rows.filter == nil else {
            for cursor in cursors { try restart(cursor, writer) }
            return try remove(rows, writer) { ids in
                try Membership.forget(ids, of: cursors, in: writer)
                return ids
            }
        }
        for cursor in cursors {
            try Membership(of: cursor, in: writer).forgetAll()
            try writer.delete([cursor.owner.id], from: Cursor.schema.name)
        }
        for schema in [RecordState.schema, QuarantinedRow.schema] { try forget(schema, of: rows.table, writer) }
        return try writer.delete(matching: rows)
    }

    /// Has queries let their rows go, those that match, and removes the ones that no other query holds: of the same
    /// server and user, where there is a client. Those of others, whose rows may have been among them, start afresh.
    private static func purge(
        _ mine: [Cursor], _ others: [Cursor], of source: RowSource?, _ rows: Query,
        _ writer: any StoreWriter
    ) throws -> Int {
        let holders = others.filter { source == nil || $0.owner.source == source }
        let removed = try remove(rows, writer) { ids in
            try Membership.release(ids, of: mine, besides: holders, in: writer)
        }
        for cursor in mine {
            if rows.filter == nil {
                try Membership(of: cursor, in: writer).forgetAll()
                try writer.delete([cursor.owner.id], from: Cursor.schema.name)
            } else {
                try restart(cursor, writer)
            }
        }
        if removed > 0, let source {
            try Cursor.restartOthers(than: source, of: rows.table, in: writer)
        }
        return removed
    }

    /// Removes those of the rows that `choose` takes, and what is known of them besides. What is known of others stays:
    /// that a hook keeps a record here alone spares it when a reconcile does not find it on the server.
    private static func remove(
        _ rows: Query, _ writer: any StoreWriter, _ choose: (_ ids: [RecordID]) throws -> [RecordID]
    ) throws -> Int {
        let table = rows.table
        var removed = 0
        var last: RecordID?
        while true {
            var page = Query(table, filter: rows.filter, order: [.init("id")], top: 500)
            if let last { page.restrict(.binary(.gt, .column("id"), .literal(.id(last)))) }
            let ids = try writer.records(matching: page).compactMap { $0["id"]?.textID }
            guard let end = ids.last else { return removed }
            last = end
            let chosen = try choose(ids)
            try writer.delete(chosen, from: table)
            try writer.delete(chosen.map { RecordState.id(table, $0) }, from: RecordState.schema.name)
            try writer.delete(chosen.map { QuarantinedRow.id(table, $0) }, from: QuarantinedRow.schema.name)
            removed += chosen.count
        }
    }

    private static func restart(_ cursor: Cursor, _ writer: any StoreWriter) throws {
        var cursor = cursor
        cursor.restart()
        try writer.put(cursor.record, in: Cursor.schema.name)
    }

    private static func forget(_ schema: TableSchema, of table: String, _ writer: any StoreWriter) throws {
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        _ = try writer.delete(matching: Query(schema.name, filter: ofTable))
    }
}
