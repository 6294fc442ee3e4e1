public import SluiceBase

extension SyncContext {
    /// Removes rows from the local store without telling the server. It also resets their queries' cursors, so that
    /// the next pull brings the server's rows again.
    ///
    /// - Parameters:
    ///   - query: the rows of the table; its order, `top` and `skip` do not count.
    ///   - queryName: restricts the purge to rows that only the query of that name holds; the query releases them. It
    ///     is the query of this context's server and user; without a client every query of that name.
    ///   - force: also gives up the waiting changes and their whole groups, each noted in the audit. Only for a whole
    ///     table.
    /// - Returns: the number of removed rows.
    /// - Throws: ``SluiceError`` of code `operationsPending` while changes wait, `invalidArgument` for a name that
    ///   nothing was pulled under or for `force` with a query, or of the store.
    @discardableResult
    public func purge(_ query: TableQuery, named queryName: String? = nil, force: Bool = false) async throws -> Int {
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
                    // The rest of an incomplete group would be sent without the operations that were given up.
                    try Discard(
                        columns: columns, environment: environment, store: writer, queue: queue, reason: "purge",
                        lateRowsStay: true
                    ).carryOut(groups: Set(operations.compactMap(\.group)))
                    // A change that was given up must not be sent later, perhaps in another user's name.
                    try Self.forget(UnansweredSend.schema, of: table, writer)
                }
                let cursors = try Cursor.all(of: table, in: writer)
                let rows = TableQuery(table, filter: filter)
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

    /// Removes rows, no matter which query holds them. Queries that may have held some are pulled from the beginning.
    /// Queries of a whole table that is emptied are forgotten.
    private static func purge(_ rows: TableQuery, _ cursors: [Cursor], _ writer: any StoreWriter) throws -> Int {
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

    /// Makes the given queries release their matching rows, and removes the rows that no other query holds. With a
    /// client only other queries of the same server and user count. Queries of other servers and users start from the
    /// beginning, because the removed rows may have been among theirs.
    private static func purge(
        _ mine: [Cursor], _ others: [Cursor], of source: RowSource?, _ rows: TableQuery,
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

    /// Removes the rows that `choose` picks, with their state and quarantine entries. The state of other rows stays: a
    /// hook's decision to keep a record here spares it when a reconcile does not find it on the server.
    private static func remove(
        _ rows: TableQuery, _ writer: any StoreWriter, _ choose: (_ ids: [RecordID]) throws -> [RecordID]
    ) throws -> Int {
        let table = rows.table
        var removed = 0
        var last: RecordID?
        while true {
            var page = TableQuery(table, filter: rows.filter, order: [.init("id")], top: 500)
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
        _ = try writer.delete(matching: TableQuery(schema.name, filter: ofTable))
    }
}
