extension SyncContext {
    /// Removes rows from the local store without telling the server, and forgets how far the table was pulled, so that
    /// the next pull brings what belongs here.
    ///
    /// - Parameters:
    ///   - query: which rows of the table; its order, `top` and `skip` do not count.
    ///   - queryName: of those rows only the ones that the query brings which was last pulled under that name.
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
        let now = options.environment.now
        let (table, filter) = (query.table, query.filter)
        return try await exclusively { store in
            try await store.write { writer in
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
                    try queue.audit(operation, "purge", local: local, at: now())
                    try queue.remove(operation)
                }
                let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
                let cursors = Query(Cursor.schema.name, filter: ofTable)
                var rows = Query(table, filter: filter)
                if let queryName,
                    let named = try Self.filter(of: queryName, among: writer.records(matching: cursors), table)
                {
                    rows.filter = filter.map { .binary(.and, $0, named) } ?? named
                }
                _ = try writer.delete(matching: Query(RecordState.schema.name, filter: ofTable))
                _ = try writer.delete(matching: cursors)
                return try writer.delete(matching: rows)
            }
        }
    }

    private static func filter(of name: String, among records: [JSON], _ table: String) throws -> QueryExpression? {
        guard let cursor = records.compactMap(Cursor.init(record:)).first(where: { $0.owner.name == name }) else {
            throw SluiceError(.invalidArgument, "nothing was pulled under the name \(name)", table: table)
        }
        return cursor.query.isEmpty ? nil : try QueryExpression(odata: cursor.query)
    }
}
