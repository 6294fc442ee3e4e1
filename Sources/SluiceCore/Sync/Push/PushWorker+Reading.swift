extension PushWorker {
    /// The record by its id, from the list: the by-id route may hide a deleted one.
    func readBack(_ table: String, _ id: String) async throws -> JSON? {
        let query = Query(
            table, filter: .binary(.eq, .column(client.dialect.pushColumns.id), .literal(.string(id))), top: 1,
            includesDeleted: true)
        let page = try await list(query)
        if let index = page.rows.firstIndex(where: { ExactText($0.id) == ExactText(id) }) {
            let record = page.record(at: index).without(options.localOnly.columns[table])
            guard StoreRules.isShallow(record, RecordRules.maximumDepth) else {
                throw SluiceError(
                    .brokenProtocol,
                    "the server's record nests deeper than \(RecordRules.maximumDepth) levels, and no operation could "
                        + "keep it", table: table, recordID: id)
            }
            return record
        }
        guard page.rows.isEmpty else {
            throw SluiceError(
                .brokenProtocol, "the server ignores the filter on the id, so the record cannot be read back",
                table: table, recordID: id)
        }
        return nil
    }

    /// Whether the table answers at all.
    func probe(_ table: String) async throws -> Bool {
        do {
            _ = try await list(Query(table, top: 1))
            return true
        } catch let error as SluiceError where error.code == .notFound {
            return false
        }
    }

    private func list(_ query: Query) async throws -> RowPage {
        var request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        request.context.source = .push
        return try await client.dialect.page(in: client.send(request), for: request.context)
    }
}
