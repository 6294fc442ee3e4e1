extension SyncContext {
    /// Removes rows from the local store without telling the server, and forgets how far they were pulled, so that the
    /// next pull brings what belongs here.
    ///
    /// - Parameters:
    ///   - query: which rows of the table; its order, `top` and `skip` do not count.
    ///   - queryName: of those rows only the ones that the query of that name holds, and no other: it lets them go.
    ///   - force: also gives up the changes that wait, each noted in the audit. Only for a whole table.
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
        let (table, filter) = (query.table, query.filter)
        return try await exclusively { store in
            try await store.write(at: .membership, environment, from: .purge) { writer in
                let queue = QueueWriter(writer)
                let operations = try queue.reader.all(in: table)
                guard force || operations.isEmpty else {
                    throw SluiceError(
                        .operationsPending,
                        "\(operations.count) changes of this table wait in the queue; push them, discard them, or force",
                        table: table)
                }
                for operation in operations {
                    let local = try writer.record(operation.recordID, in: table)
                    if !planted(.purgeWithoutAudit) {
                        try queue.audit(operation, "purge", local: local, at: environment.now())
                    }
                    try queue.remove(operation)
                }
                let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
                _ = try writer.delete(matching: Query(RecordState.schema.name, filter: ofTable))
                _ = try writer.delete(matching: Query(QuarantinedRow.schema.name, filter: ofTable))
                if force {
                    // What is given up is not said to the server later, perhaps in another user's name.
                    _ = try writer.delete(matching: Query(SentTombstone.schema.name, filter: ofTable))
                }
                let cursors = try Cursor.all(of: table, in: writer)
                guard let queryName else {
                    return try Self.purge(Query(table, filter: filter), cursors, writer)
                }
                guard let cursor = cursors.first(where: { $0.owner.name == queryName }) else {
                    throw SluiceError(
                        .invalidArgument, "nothing was pulled under the name \(queryName)", table: table)
                }
                return try Self.purge(cursor, filter, writer)
            }
        }
    }

    /// Removes rows, whoever holds them. Queries that may have held some are pulled afresh; those of a whole table that
    /// is emptied are forgotten.
    private static func purge(_ rows: Query, _ cursors: [Cursor], _ writer: any StoreWriter) throws -> Int {
        for cursor in cursors {
            if rows.filter == nil {
                try Membership(of: cursor, in: writer).forgetAll()
                if !planted(.purgeKeepsCursor) { try writer.delete([cursor.owner.id], from: Cursor.schema.name) }
            } else {
                try restart(cursor, writer)
            }
        }
        return try writer.delete(matching: rows)
    }

    /// Has a query let its rows go, those that match, and removes the ones that no other query holds.
    private static func purge(
        _ cursor: Cursor, _ filter: QueryExpression?, _ writer: any StoreWriter
    ) throws -> Int {
        let membership = try Membership(of: cursor, in: writer)
        var removed = 0
        var last: String?
        while true {
            var page = Query(cursor.owner.table, filter: filter, order: [.init("id")], top: 500)
            if let last { page.restrict(.binary(.gt, .column("id"), .literal(.string(last)))) }
            let ids = try writer.records(matching: page).compactMap { $0["id"]?.string }
            guard let end = ids.last else { break }
            last = end
            let free = try membership.release(try membership.held(of: ids))
            try writer.delete(free, from: cursor.owner.table)
            removed += free.count
        }
        if filter == nil {
            try membership.forgetAll()
            try writer.delete([cursor.owner.id], from: Cursor.schema.name)
        } else {
            try restart(cursor, writer)
        }
        return removed
    }

    private static func restart(_ cursor: Cursor, _ writer: any StoreWriter) throws {
        var cursor = cursor
        cursor.position = nil
        try writer.put(cursor.record, in: Cursor.schema.name)
    }
}
