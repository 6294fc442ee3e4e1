internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// Reads the operation's record by its id, from the list: the by-id route may hide a deleted one.
    ///
    /// - Returns: the record, nil if there is none, and the plugins that made or rewrote an answer.
    func readBack(_ item: PushItem) async throws -> (record: JSON?, answeredBy: [String]) {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let version = columns.version
        let query = TableQuery(
            table, filter: .binary(.eq, .column(columns.id), .literal(.id(id))), top: 1,
            includesDeleted: true)
        let requestedAt = options.environment.now()
        var (page, answeredBy) = try await list(query)
        func isInOtherCase(_ row: RowPage.Row) -> Bool { row.id.text.lowercased() == id.text.lowercased() }
        // A server that answers with another case compares ids without it: a delete means that record.
        let isDelete = item.operation.kind == .delete
        if let index = page.rows.firstIndex(where: { $0.id.isSame(as: id) || isDelete && isInOtherCase($0) }) {
            try await refuseOld(page.rows[index], of: item, requestedAt)
            var record = page.record(at: index)
            // Some lists omit the records' versions.
            if record[version]?.string == nil,
                item.base?[version]?.string != nil || partialLists.hasVersions(table) == true
            {
                let isUndelete = item.operation.kind == .undelete
                let found = try await lookup(table, id, includeDeleted: isUndelete)
                record = found.record ?? record
                answeredBy += found.answeredBy
            }
            record = record.without(options.localOnly.columns[table])
            guard StoreRules.isShallow(record, RecordRules.maximumDepth) else {
                throw SluiceError(
                    .brokenProtocol,
                    "the server's record nests deeper than \(RecordRules.maximumDepth) levels, and no operation could "
                        + "keep it", table: table, recordID: id)
            }
            return (record, answeredBy)
        }
        guard page.rows.isEmpty else {
            if let other = page.rows.first(where: isInOtherCase) {
                throw SluiceError(
                    .brokenProtocol,
                    "the server writes the record's id in another case, as \(other.id), and ids have to come back as "
                        + "they were sent", table: table, recordID: id)
            }
            throw SluiceError(
                .brokenProtocol, "the server ignores the filter on the id, so the record cannot be read back",
                table: table, recordID: id)
        }
        return (nil, answeredBy)
    }

    /// Throws if the server shows a version known to be replaced, so that the change waits: a lagging replica proves
    /// nothing about the current record.
    private func refuseOld(_ row: RowPage.Row, of item: PushItem, _ requestedAt: Timestamp) async throws {
        let (table, id) = (item.operation.table, item.operation.recordID)
        let server = client.endpoint.identity
        let replaced = try await store.read {
            try ReplacedVersions(of: id, in: table, on: server, at: requestedAt, in: $0)
        }
        guard replaced.contains(row) else { return }
        throw SluiceError(
            .serverFailure, "the server shows a version of the record that was replaced; a copy of its data may lag",
            table: table, recordID: id)
    }

    private func list(_ query: TableQuery) async throws -> (page: RowPage, answeredBy: [String]) {
        var request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        request.context.source = .push
        let response = try await client.send(request)
        return (try client.dialect.page(in: response, for: request.context), response.madeBy)
    }

    /// Returns the record from the by-id route; nil if not found there.
    func lookup(
        _ table: String, _ id: RecordID, includeDeleted: Bool = false
    ) async throws -> (record: JSON?, answeredBy: [String]) {
        var request = client.dialect.lookup(
            table: table, id: id, includeDeleted: includeDeleted, endpoint: client.endpoint)
        request.context.source = .push
        do {
            let response = try await client.send(request)
            return (try client.dialect.record(in: response, for: request.context), response.madeBy)
        } catch let error as SluiceError where error.code == .notFound {
            return (nil, error.exchange?.response.madeBy ?? [])
        }
    }
}
