internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// The operation's record by its id, from the list: the by-id route may hide a deleted one.
    func readBack(_ item: PushItem) async throws -> JSON? {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let version = client.dialect.pushColumns.version
        let query = Query(
            table, filter: .binary(.eq, .column(client.dialect.pushColumns.id), .literal(.id(id))), top: 1,
            includesDeleted: true)
        let page = try await list(query)
        if let index = page.rows.firstIndex(where: { $0.id == id }) {
            var record = page.record(at: index)
            // Some lists leave out the versions that records have.
            if record[version]?.string == nil, item.base?[version]?.string != nil {
                record = try await lookup(table, id) ?? record
            }
            record = record.without(options.localOnly.columns[table])
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

    private func list(_ query: Query) async throws -> RowPage {
        var request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        request.context.source = .push
        return try await client.dialect.page(in: client.send(request), for: request.context)
    }

    /// The record by the by-id route; nil where that does not show it.
    private func lookup(_ table: String, _ id: RecordID) async throws -> JSON? {
        var request = client.dialect.lookup(table: table, id: id, endpoint: client.endpoint)
        request.context.source = .push
        do {
            return try await client.dialect.record(in: client.send(request), for: request.context)
        } catch let error as SluiceError where error.code == .notFound {
            return nil
        }
    }
}
